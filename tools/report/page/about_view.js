// What the set was made of, and its artifacts.
function aboutView() {
  const columns = [
    {title: "Artifact", value: artifact => artifact.path,
     cell: artifact => artifact.path + (artifact.edited ? " (edited)" : "")},
    {title: "Code generator", value: artifact => artifact.codegen, cell: artifact => artifact.codegen},
    {title: "Loader", value: artifact => artifact.loader, cell: artifact => artifact.loader},
    {title: "Size", number: true, value: artifact => artifact.size, cell: artifact => bytesText(artifact.size)},
    {title: "SHA-256", cell: artifact => make("span", {class: "mono"}, artifact.sha256)},
  ];
  return make("div", {class: "page"},
    make("dl", {}, ...facts.about.flatMap(([what, value]) => [make("dt", {}, what), make("dd", {}, value)])),
    make("h3", {}, "Artifacts"), makeTable(columns, facts.artifacts));
}
