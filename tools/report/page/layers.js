// Places the nodes of a graph in layers, from inputs at the top to outputs at
// the bottom (K. Sugiyama, S. Tagawa, M. Toda, Methods for visual understanding
// of hierarchical system structures, 1981): longest paths give the layers,
// barycenters the order, and edges over several layers bend around what is
// between.
const nodeHeight = 38, layerGap = 36, nodeGap = 18, bendWidth = 10;
// With more bends than this, long edges are straight.
const mostBends = 60000;

function nodesOf(graph) {
  const nodes = graph.calls.map((call, c) => ({call, c, title: call.op, owner: call.owner}));
  const producers = new Map();
  const edges = [];
  const end = (tensor, title, kind) => {
    const {n, y} = graph.tensors[tensor];
    nodes.push({title: n, subtitle: y, kind, tensor});
    return nodes.length - 1;
  };
  for (const tensor of graph.inputs) {
    const base = baseOf(graph, tensor);
    if (!producers.has(base)) producers.set(base, end(tensor, "input", "input"));
  }
  graph.calls.forEach((call, c) => {
    const from = new Set(call.i.map(tensor => producers.get(baseOf(graph, tensor))));
    for (const node of from) {
      if (node !== undefined && node !== c) edges.push([node, c]);
    }
    for (const tensor of call.r) producers.set(baseOf(graph, tensor), c);
    const result = graph.tensors[call.r[0]];
    nodes[c].subtitle = result ? result.y : "";
  });
  graph.outputs.forEach(tensor => {
    const from = producers.get(baseOf(graph, tensor));
    const node = end(tensor, "output", "output");
    if (from !== undefined) edges.push([from, node]);
  });
  return {nodes, edges};
}

// The length of the longest path to each node; inputs come right above the
// first node that reads them.
function layersOf(nodes, edges) {
  const layer = new Array(nodes.length).fill(0);
  const order = [...nodes.keys()].sort((a, b) => rank(nodes[a]) - rank(nodes[b]));
  const out = nodes.map(() => []);
  for (const [from, to] of edges) out[from].push(to);
  for (const node of order) {
    for (const next of out[node]) layer[next] = Math.max(layer[next], layer[node] + 1);
  }
  nodes.forEach((node, i) => {
    if (node.kind === "input" && out[i].length > 0) {
      layer[i] = Math.min(...out[i].map(next => layer[next])) - 1;
    }
  });
  return layer;
}

// Calls are in an order in which they can run.
function rank(node) {
  return node.kind === "input" ? -1 : node.kind === "output" ? Infinity : node.c;
}

function layoutOf(graph) {
  const {nodes, edges} = nodesOf(graph);
  const layer = layersOf(nodes, edges);
  const items = nodes.map((node, i) => ({
    node, layer: layer[i], above: [], below: [],
    width: Math.min(250, Math.max(96, 7 * Math.max(node.title.length, 0.86 * node.subtitle.length) + 22)),
  }));
  let bends = edges.reduce((sum, [from, to]) => sum + layer[to] - layer[from] - 1, 0);
  const links = [];
  const chains = new Map();  // "from layer" -> item: edges of one node share bends
  for (const [from, to] of edges) {
    let last = from;
    for (let l = layer[from] + 1; l < layer[to] && bends <= mostBends; ++l) {
      const key = from + " " + l;
      if (!chains.has(key)) {
        chains.set(key, items.length);
        items.push({layer: l, above: [], below: [], width: bendWidth, target: to});
        links.push([last, items.length - 1]);
      }
      last = chains.get(key);
    }
    links.push([last, to]);
  }
  for (const [from, to] of links) {
    items[from].below.push(items[to]);
    items[to].above.push(items[from]);
  }
  const rows = [];
  for (const item of items) (rows[item.layer] ??= []).push(item);
  for (let l = 0; l < rows.length; ++l) rows[l] ??= [];
  orderRows(rows);
  placeRows(rows);
  return {items: items.filter(item => item.node), rows, links: links.map(([a, b]) => [items[a], items[b]])};
}

function meanOf(items, key) {
  return items.reduce((sum, item) => sum + item[key], 0) / items.length;
}

function orderRows(rows) {
  const number = row => row.forEach((item, i) => { item.order = i; });
  rows.forEach(number);
  for (let sweep = 0; sweep < 8; ++sweep) {
    const down = sweep % 2 === 0;
    const side = down ? "above" : "below";
    for (const row of down ? rows : [...rows].reverse()) {
      for (const item of row) item.wish = item[side].length ? meanOf(item[side], "order") : item.order;
      row.sort((a, b) => a.wish - b.wish || a.order - b.order);
      number(row);
    }
  }
}

function placeRows(rows) {
  for (const row of rows) {
    let x = 0;
    for (const item of row) {
      item.x = x + item.width / 2;
      x += item.width + nodeGap;
    }
    for (const item of row) item.x -= (x - nodeGap) / 2;
  }
  for (let sweep = 0; sweep < 10; ++sweep) {
    const down = sweep % 2 === 0;
    for (const row of down ? rows : [...rows].reverse()) pullRow(row, down ? "above" : "below");
  }
  rows.forEach((row, l) => {
    for (const item of row) item.y = l * (nodeHeight + layerGap);
  });
}

// Moves a row's items towards the mean of their neighbours: as far as those to
// the left let them, as far as those to the right do, and in between.
function pullRow(row, side) {
  const wish = row.map(item => item[side].length ? meanOf(item[side], "x") : item.x);
  const space = i => (row[i - 1].width + row[i].width) / 2 + nodeGap;
  const left = [], right = [];
  for (let i = 0; i < row.length; ++i) {
    left[i] = i === 0 ? wish[i] : Math.max(wish[i], left[i - 1] + space(i));
  }
  for (let i = row.length - 1; i >= 0; --i) {
    right[i] = i === row.length - 1 ? wish[i] : Math.min(wish[i], right[i + 1] - space(i + 1));
  }
  row.forEach((item, i) => { item.x = (left[i] + right[i]) / 2; });
}
