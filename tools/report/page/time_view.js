// Kernels by time, or by bytes where nobody measured.
function timeView() {
  const rows = allCalls.filter(({call}) => isTimed ? call.t !== undefined : call.b !== undefined);
  const size = isTimed ? ({call}) => timeOf(call) : ({call}) => call.b;
  const whole = rows.reduce((sum, row) => sum + size(row), 0);
  const largest = rows.reduce((most, row) => Math.max(most, size(row)), 0);
  const columns = [
    isTimed
      ? {title: "Time", number: true, value: size, cell: row => timeText(size(row))}
      : {title: "Bytes", number: true, value: size, cell: ({call}) => bytesText(call.b)},
    {title: "Share", number: true, cell: row => percentText(size(row), whole)},
    {title: "", cell: row => make("div", {class: "bar", style: {width: `${160 * size(row) / largest}px`}})},
    ...(isTimed ? [{title: "Turns", number: true, value: ({call}) => call.n,
                    cell: ({call}) => String(Number(call.n.toPrecision(4)))},
                   {title: "GB/s", number: true, value: ({call}) => Number(rateText(call)) || undefined,
                    cell: ({call}) => rateText(call)},
                   {title: "GFLOP/s", number: true, value: ({call}) => Number(operationRate(call)) || undefined,
                    cell: ({call}) => operationRate(call)},
                   {title: "Of limit", number: true, value: ({call}) => limitShare(call),
                    cell: ({call}) => limitShare(call) ? percentText(limitShare(call), 1) : ""}] : []),
    {title: "Function", value: ({call}) => call.f,
     cell: ({call}) => make("span", {class: "mono"}, chip(call.owner), call.f)},
    {title: "Nodes of the model", value: ({call}) => call.s, cell: ({call}) => call.s},
  ];
  const shares = owners.map(owner => [owner, rows.filter(({call}) => call.owner === owner)
    .reduce((sum, row) => sum + size(row), 0)]).filter(([, sum]) => sum > 0);
  return make("div", {class: "page"},
    make("p", {}, isTimed ? facts.timed
      : "Nobody measured: what each call reads and writes says roughly where the time goes. "
        + "ingot report --time runs the model and has the times."),
    make("div", {class: "share"}, ...shares.map(([owner, sum]) =>
      make("div", {title: `${owner}: ${percentText(sum, whole)}`,
                   style: {width: `${100 * sum / whole}%`, background: colourOf(owner)}}))),
    make("p", {}, ...shares.map(([owner, sum]) =>
      make("span", {style: {marginRight: "18px"}}, chip(owner), `${owner} ${percentText(sum, whole)}`))),
    isTimed ? make("p", {class: "faint"}, "Of limit: what the call would take if it did its operations at "
      + `${(facts.limits.ops / 1e9).toFixed(0)} GFLOP/s or moved its bytes at ${(facts.limits.bytes / 1e9).toFixed(1)} GB/s, `
      + "whichever is longer; both were measured on this machine. Above 100 % the bytes were in a cache.") : "",
    makeTable(columns, rows, {by: 0, onclick: ({g, c}) => { location.hash = `node=${g}.${c}`; }}));
}
