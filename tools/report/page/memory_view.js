// Who lies where, from call to call.
class MemoryView {
  constructor() {
    this.places = facts.graphs.flatMap((graph, g) => graph.storage.map((bytes, st) => ({
      g, st, bytes,
      tensors: graph.tensors.filter(t => t.st === st && t.b !== undefined && t.first >= 0),
    }))).filter(place => place.bytes > 0 && place.tensors.length > 0);
    this.places.sort((a, b) => b.bytes - a.bytes);
    if (this.places.length === 0) {
      this.element = make("div", {class: "page"}, make("p", {}, facts.graphs.length === 0
        ? "The set has no plan." : "Inputs decide how large everything is: there is nothing to draw before a run."));
      return;
    }
    this.place = this.places[0];
    this.about = make("p", {class: "faint"});
    this.canvas = makeCanvas((context, width, height) => this.draw(context, width, height));
    this.canvas.addEventListener("pointermove", event => this.point(event.offsetX, event.offsetY));
    const stage = make("div", {class: "stage", style: {minHeight: "300px"}}, this.canvas);
    this.element = make("div", {class: "page", style: {display: "flex", flexDirection: "column"}},
      this.heading(), this.about, stage);
    this.tell();
  }

  heading() {
    if (this.places.length === 1) return make("h2", {}, `One arena of ${bytesText(this.place.bytes)}`);
    const select = make("select", {"aria-label": "storage", onchange: () => {
      this.place = this.places[select.value];
      this.tell();
      this.canvas.redraw();
    }}, ...this.places.map((place, i) => make("option", {value: i},
      `${facts.graphs[place.g].name || "model"}, storage ${place.st}: ${bytesText(place.bytes)}`)));
    return make("h2", {}, select);
  }

  calls() { return facts.graphs[this.place.g].calls.length; }

  // Without a tensor: the moment at which most is in use.
  tell(tensor) {
    if (tensor) {
      const last = tensor.last >= this.calls() ? "the end" : `call ${tensor.last}`;
      this.about.textContent = `${tensor.n}: ${tensor.y}, ${bytesText(tensor.b)} from byte ${tensor.off}, `
        + `from call ${tensor.first} to ${last}`;
      return;
    }
    const use = facts.graphs[this.place.g].use;
    const most = use.reduce((a, b) => Math.max(a, b));
    this.about.textContent = `${this.place.tensors.length} tensors share it; at most ${bytesText(most)} are in use `
      + `at once${this.places.length > 1 ? " in all storage" : ""}, at call ${use.indexOf(most)}. Each box is a tensor: from left to right the calls, from bottom to top the bytes.`;
  }

  box(t) {
    const {left, top, width, height} = this.frame, calls = this.calls() + 1;
    return {
      x: left + width * t.first / calls, w: Math.max(1, width * (t.last + 1 - t.first) / calls),
      y: top + height * (1 - (t.off + t.b) / this.place.bytes), h: Math.max(1, height * t.b / this.place.bytes),
    };
  }

  point(x, y) {
    const at = this.place.tensors.find(t => {
      const box = this.box(t);
      return x >= box.x && x <= box.x + box.w && y >= box.y && y <= box.y + box.h;
    });
    if (at === this.at) return;
    this.at = at;
    this.tell(at);
    this.canvas.redraw();
  }

  draw(context, width, height) {
    this.frame = {left: 74, top: 10, width: width - 90, height: height - 44};
    const {left, top, width: w, height: h} = this.frame, graph = facts.graphs[this.place.g];
    context.clearRect(0, 0, width, height);
    context.font = "11px system-ui, sans-serif";
    context.fillStyle = cssColour("--faint");
    context.strokeStyle = cssColour("--line");
    context.lineWidth = 1;
    for (let i = 0; i <= 4; ++i) {
      const y = top + h * (1 - i / 4);
      context.textAlign = "right";
      context.fillText(bytesText(Math.round(this.place.bytes * i / 4)), left - 8, y + 4);
      context.beginPath();
      context.moveTo(left, y);
      context.lineTo(left + w, y);
      context.stroke();
      context.textAlign = "center";
      context.fillText(String(Math.round(this.calls() * i / 4)), left + w * i / 4, top + h + 18);
    }
    context.fillText("call", left + w / 2, top + h + 33);
    const writer = new Map();
    graph.calls.forEach(call => call.r.forEach(t => writer.set(baseOf(graph, t), call)));
    for (const t of this.place.tensors) {
      const {x, y, w: wide, h: high} = this.box(t);
      const call = writer.get(graph.tensors.indexOf(t));
      context.fillStyle = call ? colourOf(call.owner) : grey;
      context.fillRect(x, y, wide, high);
      context.strokeStyle = t === this.at ? cssColour("--accent") : cssColour("--back");
      context.lineWidth = t === this.at ? 3 : 1;
      if (wide > 2 && high > 2) context.strokeRect(x + 0.5, y + 0.5, wide - 1, high - 1);
      if (wide < 40 || high < 14) continue;
      context.fillStyle = cssColour("--text");
      context.textAlign = "left";
      context.fillText(shorten(context, t.n, wide - 10, true), x + 5, y + high / 2 + 4);
    }
  }
}
