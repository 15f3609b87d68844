// One view at a time; the address says which: #graph=0, #node=0.12, #time, ...
const views = {
  graph: ["Graph", (g, call) => facts.graphs.length === 0
    ? make("div", {class: "page"}, make("p", {}, "The set has no plan, so there is no graph."))
    : new GraphView(g, call).element],
  time: ["Time", timeView],
  memory: ["Memory", () => new MemoryView().element],
  weights: ["Weights", weightsView],
  about: ["Provenance", aboutView],
};

function show() {
  const [name, value = ""] = location.hash.slice(1).split("=");
  const isNode = name === "node" || name === "graph";
  const key = isNode || !(name in views) ? "graph" : name;
  for (const tab of document.querySelectorAll("#tabs button")) {
    tab.setAttribute("aria-selected", String(tab.dataset.view === key));
  }
  const [g, call] = value.split(".").map(Number);
  const graph = isNode && facts.graphs[g] ? g : 0;
  const isCall = name === "node" && facts.graphs[graph].calls[call] !== undefined;
  const view = document.getElementById("view");
  view.replaceChildren(views[key][1](graph, isCall ? call : undefined));
  // At once, not when the browser gets to its next frame.
  for (const canvas of view.querySelectorAll("canvas")) canvas.redraw();
}

document.title = `${facts.title} – Ingot report`;
document.getElementById("title").textContent = facts.title;
document.getElementById("tabs").append(...Object.entries(views).map(([name, [title]]) =>
  make("button", {role: "tab", "data-view": name, onclick: () => { location.hash = name; }}, title)));
const weightBytes = facts.weights.reduce((sum, weight) => sum + weight.b, 0);
document.getElementById("summary").textContent = [
  `${allCalls.length} calls`, `${bytesText(weightBytes)} of weights`,
  isTimed ? `${timeText(totalTime)} a run` : ""].filter(Boolean).join(" · ");
addEventListener("hashchange", show);
show();
