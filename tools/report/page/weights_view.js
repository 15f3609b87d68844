// Weights by size, with the distribution of their values.
function histogramOf(weight) {
  if (!weight.hist) return weight.odd ? `${weight.odd} are no numbers` : "";
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("class", "histogram");
  svg.setAttribute("viewBox", `0 0 ${weight.hist.length} 10`);
  svg.setAttribute("preserveAspectRatio", "none");
  const most = Math.max(...weight.hist);
  weight.hist.forEach((count, i) => {
    if (count === 0) return;
    const bar = document.createElementNS(space, "rect");
    const height = Math.max(0.4, 10 * count / most);
    for (const [name, value] of [["x", i + 0.05], ["y", 10 - height], ["width", 0.9], ["height", height]]) {
      bar.setAttribute(name, value);
    }
    svg.append(bar);
  });
  return svg;
}

function weightsView() {
  const whole = facts.weights.reduce((sum, weight) => sum + weight.b, 0);
  const largest = facts.weights.reduce((most, weight) => Math.max(most, weight.b), 0);
  const number = key => ({number: true, value: weight => weight[key],
    cell: weight => weight[key] === undefined ? "" : String(Number(weight[key].toPrecision(4)))});
  const elements = weight => weight.hist ? weight.hist.reduce((sum, count) => sum + count, 0) : 0;
  const columns = [
    {title: "Size", number: true, value: weight => weight.b, cell: weight => bytesText(weight.b)},
    {title: "Share", number: true, cell: weight => percentText(weight.b, whole)},
    {title: "", cell: weight => make("div", {class: "bar", style: {width: `${100 * weight.b / largest}px`}})},
    {title: "Name", value: weight => weight.n, cell: weight => weight.n},
    {title: "Type", value: weight => weight.y, cell: weight => make("span", {class: "mono"}, weight.y)},
    {title: "Min", ...number("min")},
    {title: "Mean", ...number("mean")},
    {title: "Max", ...number("max")},
    {title: "Zeros", number: true, value: weight => weight.zeros / elements(weight),
     cell: weight => weight.zeros ? percentText(weight.zeros, elements(weight)) : ""},
    {title: "Values", cell: histogramOf},
  ];
  return make("div", {class: "page"},
    make("p", {}, `${facts.weights.length} weights, ${bytesText(whole)} together, as the kernels read them: `
      + "packed, padded or transposed where that is faster."),
    makeTable(columns, facts.weights, {by: 0}));
}
