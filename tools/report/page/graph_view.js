// The graph on a canvas: drag to move, turn the wheel to zoom, click a node.
class GraphView {
  constructor(g, call) {
    this.g = g;
    this.graph = facts.graphs[g];
    this.layout = this.graph.layout ??= layoutOf(this.graph);
    this.selected = null;
    this.scale = 1;
    this.x = this.y = 0;  // of the middle of the stage, in the graph
    this.canvas = makeCanvas((context, width, height) => this.draw(context, width, height));
    this.listen();
    this.side = make("aside", {class: "side"});
    const stage = make("div", {class: "stage"}, this.canvas, this.tools(), legend());
    this.element = make("div", {style: {display: "flex", flex: "1", minWidth: "0"}}, stage, this.side);
    this.start(call);
  }

  // Shows a call, or the whole width of the beginning.
  start(call) {
    const item = call === undefined ? undefined : this.layout.items.find(({node}) => node.c === call);
    if (item) {
      this.select(item);
      this.goTo(item);
      return;
    }
    const first = this.layout.items.reduce((a, b) => (b.y < a.y ? b : a), this.layout.items[0] ?? {x: 0, y: 0});
    this.x = first.x;
    this.atTop = true;  // until something moves it
    this.scale = 0.9;
    showOverview(this.side, this.graph);
  }

  goTo(item) {
    this.atTop = false;
    this.x = item.x;
    this.y = item.y;
    this.scale = Math.max(this.scale, 0.9);
  }

  tools() {
    const search = make("input", {type: "search", placeholder: "Find a node or function", "aria-label": "find"});
    search.addEventListener("keydown", event => {
      if (event.key === "Enter") this.find(search.value.toLowerCase());
    });
    const graphs = make("select", {"aria-label": "graph", onchange: () => {
      location.hash = "graph=" + graphs.value;
    }}, ...facts.graphs.map((graph, g) => make("option", {value: g, selected: g === this.g},
      g === 0 ? "whole model" : `body: ${graph.name}`)));
    return make("div", {class: "tools"}, search, facts.graphs.length > 1 ? graphs : "",
      make("button", {onclick: () => this.fitAll()}, "Whole graph"));
  }

  find(words) {
    const items = this.layout.items;
    const start = this.selected ? items.indexOf(this.selected) + 1 : 0;
    for (let i = 0; i < items.length; ++i) {
      const item = items[(start + i) % items.length];
      const {call, title} = item.node;
      if (!(call ? call.f + " " + call.s : title).toLowerCase().includes(words)) continue;
      this.select(item);
      this.goTo(item);
      this.canvas.redraw();
      return;
    }
  }

  fitAll() {
    const box = {left: 0, right: 0, bottom: 0};
    for (const {x, y, width} of this.layout.items) {
      box.left = Math.min(box.left, x - width / 2);
      box.right = Math.max(box.right, x + width / 2);
      box.bottom = Math.max(box.bottom, y + nodeHeight);
    }
    const {clientWidth, clientHeight} = this.canvas;
    this.atTop = false;
    this.scale = Math.min(1, clientWidth / (box.right - box.left + 60), clientHeight / (box.bottom + 120));
    this.x = (box.left + box.right) / 2;
    this.y = box.bottom / 2;
    this.canvas.redraw();
  }

  listen() {
    const canvas = this.canvas;
    let last = null, moved = false;
    canvas.addEventListener("pointerdown", event => {
      last = event;
      moved = false;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", event => {
      if (!last) return;
      moved ||= Math.hypot(event.x - last.x, event.y - last.y) > 3;
      if (!moved) return;
      this.atTop = false;
      this.x -= (event.x - last.x) / this.scale;
      this.y -= (event.y - last.y) / this.scale;
      last = event;
      canvas.redraw();
    });
    canvas.addEventListener("pointerup", event => {
      last = null;
      if (!moved) this.select(this.itemAt(event.offsetX, event.offsetY));
    });
    canvas.addEventListener("wheel", event => {
      event.preventDefault();
      const factor = Math.exp(-event.deltaY * 0.0015);
      const scale = Math.min(3, Math.max(0.01, this.scale * factor));
      this.atTop = false;
      // What is under the pointer stays there.
      const dx = event.offsetX - canvas.clientWidth / 2, dy = event.offsetY - canvas.clientHeight / 2;
      this.x += dx / this.scale - dx / scale;
      this.y += dy / this.scale - dy / scale;
      this.scale = scale;
      canvas.redraw();
    }, {passive: false});
  }

  itemAt(left, top) {
    const x = this.x + (left - this.canvas.clientWidth / 2) / this.scale;
    const y = this.y + (top - this.canvas.clientHeight / 2) / this.scale;
    return this.layout.items.find(item =>
      Math.abs(item.x - x) <= item.width / 2 && Math.abs(item.y - y) <= nodeHeight / 2);
  }

  select(item) {
    this.selected = item ?? null;
    this.side.replaceChildren();
    if (!item) {
      showOverview(this.side, this.graph);
    } else if (item.node.call) {
      history.replaceState(null, "", `#node=${this.g}.${item.node.c}`);
      showCall(this.side, this.g, item.node.c);
    } else {
      this.side.append(make("h2", {}, item.node.title), make("p", {}, `${item.node.kind}: ${item.node.subtitle}`));
    }
    this.canvas.redraw();
  }

  draw(context, width, height) {
    if (this.atTop) this.y = (height / 2 - 90) / this.scale;
    context.clearRect(0, 0, width, height);
    context.save();
    context.translate(width / 2, height / 2);
    context.scale(this.scale, this.scale);
    context.translate(-this.x, -this.y);
    const seen = {
      left: this.x - width / 2 / this.scale, right: this.x + width / 2 / this.scale,
      top: this.y - height / 2 / this.scale, bottom: this.y + height / 2 / this.scale,
    };
    this.drawLinks(context, seen);
    const font = size => `${size}px system-ui, sans-serif`;
    const text = cssColour("--text"), faint = cssColour("--faint"), accent = cssColour("--accent");
    const slowest = this.graph.calls.reduce((most, call) => Math.max(most, timeOf(call) ?? 0), 0);
    let drawn = 0;
    for (const item of this.layout.items) {
      if (item.y + nodeHeight < seen.top || item.y - nodeHeight > seen.bottom) continue;
      if (item.x + item.width < seen.left || item.x - item.width > seen.right) continue;
      ++drawn;
      const left = item.x - item.width / 2, top = item.y - nodeHeight / 2, {node} = item;
      context.beginPath();
      context.roundRect(left, top, item.width, nodeHeight, node.kind ? nodeHeight / 2 : 6);
      context.fillStyle = node.kind ? cssColour("--panel") : colourOf(node.owner);
      context.fill();
      context.lineWidth = item === this.selected ? 3 : 1;
      context.strokeStyle = item === this.selected ? accent : cssColour("--line");
      context.stroke();
      if (node.call?.t) {
        // How much of the slowest call's time it takes.
        context.fillStyle = accent;
        context.fillRect(left + 6, top + nodeHeight - 4, (item.width - 12) * timeOf(node.call) / slowest, 2.5);
      }
      if (this.scale < 0.3) continue;
      context.textAlign = "center";
      context.fillStyle = text;
      context.font = font(12.5);
      context.fillText(shorten(context, node.title, item.width - 14), item.x, item.y - 3);
      context.fillStyle = node.kind ? faint : text;
      context.font = font(10.5);
      context.fillText(shorten(context, node.subtitle, item.width - 14), item.x, item.y + 12);
    }
    context.restore();
    this.canvas.dataset.drawn = drawn;
  }

  drawLinks(context, seen) {
    context.beginPath();
    for (const [from, to] of this.layout.links) {
      if (to.y < seen.top - layerGap || from.y > seen.bottom + layerGap) continue;
      if (Math.max(from.x, to.x) < seen.left || Math.min(from.x, to.x) > seen.right) continue;
      const top = from.node ? from.y + nodeHeight / 2 : from.y;
      const bottom = to.node ? to.y - nodeHeight / 2 : to.y;
      const middle = (top + bottom) / 2;
      context.moveTo(from.x, top);
      context.bezierCurveTo(from.x, middle, to.x, middle, to.x, bottom);
      if (!to.node || this.scale < 0.3) continue;
      context.moveTo(to.x - 4, bottom - 6);
      context.lineTo(to.x, bottom);
      context.lineTo(to.x + 4, bottom - 6);
    }
    context.lineWidth = Math.max(1, 0.6 / this.scale);
    context.strokeStyle = isDark ? "#667180" : "#9aa4b0";
    context.stroke();
  }
}

function legend() {
  return make("div", {class: "legend"}, ...owners.map(owner => make("span", {}, chip(owner), owner)));
}

// The text, or as much of its beginning, or of its end, as fits.
function shorten(context, text, width, keepEnd = false) {
  if (context.measureText(text).width <= width) return text;
  const part = length => keepEnd ? "…" + text.slice(text.length - length) : text.slice(0, length) + "…";
  let length = Math.min(text.length, Math.ceil(width / 3));
  while (length > 1 && context.measureText(part(length)).width > width) --length;
  return part(length);
}
