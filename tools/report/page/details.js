// What stands beside the graph: one call, or what there is in all.
function showOverview(side, graph) {
  side.append(make("h2", {}, graph.name || facts.title),
    make("p", {class: "faint"}, "Click a node to see its code. Drag to move, turn the wheel to zoom."));
  const rows = owners.map(owner => [owner, graph.calls.filter(call => call.owner === owner)])
    .filter(([, calls]) => calls.length > 0);
  side.append(make("h3", {}, "Calls by code generator"), make("dl", {}, ...rows.flatMap(([owner, calls]) => [
    make("dt", {}, chip(owner), owner),
    make("dd", {}, `${calls.length}` + (isTimed
      ? `, ${timeText(calls.reduce((sum, call) => sum + (timeOf(call) ?? 0), 0))}` : "")),
  ])));
  const ends = (title, tensors) => side.append(make("h3", {}, title), make("dl", {}, ...tensors.flatMap(tensor => [
    make("dt", {}, graph.tensors[tensor].n), make("dd", {class: "mono"}, graph.tensors[tensor].y)])));
  ends("Inputs", graph.inputs);
  ends("Outputs", graph.outputs);
}

function showCall(side, g, c) {
  const graph = facts.graphs[g], call = graph.calls[c];
  const kernel = call.k === undefined ? null : facts.kernels[call.k];
  const lines = [["Call", String(c)], ["Runs on", call.owner + (call.d ? ` (device of ${call.d})` : "")]];
  if (kernel) lines.push(["Artifact", facts.artifacts[kernel.artifact].path]);
  if (kernel?.bytes) lines.push(["Code", bytesText(kernel.bytes)]);
  if (call.t !== undefined) {
    lines.push(["Time", `${timeText(timeOf(call))} (${percentText(timeOf(call), totalTime)} of a run)`]);
    if (call.n !== 1) lines.push(["Turns in a run", `${Number(call.n.toPrecision(4))}, each ${timeText(call.t)}`]);
  }
  if (call.b !== undefined) lines.push(["Reads and writes", bytesText(call.b)]);
  if (call.ops) lines.push(["Operations", (call.ops / 1e6).toPrecision(3) + " million"]);
  const rates = [rateText(call) && `${rateText(call)} GB/s`, operationRate(call) && `${operationRate(call)} GFLOP/s`];
  if (rates[0]) lines.push(["Rate", rates.filter(Boolean).join(", ")]);
  if (limitShare(call)) lines.push(["Of the limit", percentText(limitShare(call), 1)]);
  side.append(make("h2", {}, chip(call.owner), call.f),
    make("dl", {}, ...lines.flatMap(([what, value]) => [make("dt", {}, what), make("dd", {}, value)])));
  for (const body of call.bodies ?? []) {
    side.append(make("p", {}, make("a", {href: `#graph=${body}`}, `Open its body ${facts.graphs[body].name}`)));
  }
  if (call.s) {
    side.append(make("h3", {}, "Nodes of the model"),
      make("ul", {}, ...call.s.split(", ").map(node => make("li", {}, node))));
  }
  const values = (title, tensors) => {
    if (tensors.length === 0) return;
    side.append(make("h3", {}, title), make("dl", {}, ...tensors.flatMap(tensor => {
      const {n, y, c: constant} = graph.tensors[tensor];
      return [make("dt", {class: "mono"}, y), make("dd", {}, n, constant !== undefined ? " (constant)" : "")];
    })));
  };
  values("Reads", call.i);
  values("Writes", call.r);
  if (kernel) {
    side.append(make("h3", {}, "Code"), make("pre", {id: "code"}, kernel.text));
  } else if (!call.step) {
    side.append(make("p", {class: "faint"}, "The set has no text of this function's code."));
  }
}
