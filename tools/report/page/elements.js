// Elements of the page. Text is always text: nothing here reads markup.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(element.style, value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter(child => child !== undefined && child !== ""));
  return element;
}

function chip(owner) {
  return make("span", {class: "chip", style: {background: colourOf(owner)}});
}

// A table whose rows are made when they are shown, 400 at first. A column is
// {title, number, value(row), cell(row)}; what `value` gives is sorted by.
function makeTable(columns, rows, options = {}) {
  const body = make("tbody");
  const more = make("div", {class: "more"});
  let sorted = rows, by = options.by ?? -1, down = true, shown = 400;
  const heads = columns.map((column, i) => make("th", {
    class: (column.value ? "sortable " : "") + (column.number ? "number" : ""),
    onclick: () => {
      if (!column.value) return;
      down = by === i ? !down : Boolean(column.number);
      by = i;
      sort();
    },
  }));

  function sort() {
    if (by >= 0) {
      const value = columns[by].value;
      const known = row => value(row) ?? (columns[by].number ? -Infinity : "");
      sorted = [...rows].sort((a, b) => {
        const left = known(a), right = known(b);
        return (left < right ? -1 : left > right ? 1 : 0) * (down ? -1 : 1);
      });
    }
    heads.forEach((head, i) => {
      head.textContent = columns[i].title + (i === by ? (down ? " ▾" : " ▴") : "");
    });
    fill();
  }

  function fill() {
    body.replaceChildren(...sorted.slice(0, shown).map(row => make("tr", {
      class: options.onclick && "link",
      onclick: options.onclick && (() => options.onclick(row)),
    }, ...columns.map(column => make("td", {class: column.number && "number"}, column.cell(row))))));
    more.replaceChildren();
    if (shown >= rows.length) return;
    more.append(make("button", {class: "plain", onclick: () => {
      shown = rows.length;
      fill();
    }}, `Show all ${rows.length} rows`));
  }

  sort();
  return make("div", {}, make("table", {}, make("thead", {}, make("tr", {}, ...heads)), body), more);
}

// A canvas as sharp as the screen, drawn again when its size changes.
function makeCanvas(draw) {
  const canvas = make("canvas");
  const fit = () => {
    const ratio = devicePixelRatio || 1;
    canvas.width = canvas.clientWidth * ratio;
    canvas.height = canvas.clientHeight * ratio;
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw(context, canvas.clientWidth, canvas.clientHeight);
  };
  new ResizeObserver(fit).observe(canvas);
  canvas.redraw = fit;
  return canvas;
}

function cssColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
