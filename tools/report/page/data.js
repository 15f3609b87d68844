// The facts of the set, and words for numbers.
const facts = JSON.parse(document.getElementById("data").textContent);

// What a call runs on: the codegen of its kernel's artifact. Steps of the
// executor have none.
function ownerOf(call) {
  if (call.step) return "executor";
  if (call.k === undefined) return "no code here";
  return facts.artifacts[facts.kernels[call.k].artifact].codegen;
}

const owners = [];
for (const graph of facts.graphs) {
  for (const call of graph.calls) {
    call.owner = ownerOf(call);
    if (!owners.includes(call.owner)) owners.push(call.owner);
  }
}
owners.sort((a, b) => (a === "executor") - (b === "executor") || a.localeCompare(b));

const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
const hues = isDark
  ? ["#3f6fb5", "#2f8a63", "#b0702f", "#8a5bb0", "#a84a5e", "#4f8b9c"]
  : ["#a9c8f5", "#a5dcc0", "#f5cf9f", "#d6bdf0", "#f2b3bf", "#a9dbe6"];
const grey = isDark ? "#4a525d" : "#d5d9de";

function colourOf(owner) {
  if (owner === "executor" || owner === "no code here") return grey;
  return hues[owners.indexOf(owner) % hues.length];
}

function bytesText(bytes) {
  if (bytes === undefined || bytes === null) return "";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (bytes >= 1023.5 && unit + 1 < units.length) {
    bytes /= 1024;
    ++unit;
  }
  return (unit === 0 ? bytes : bytes.toPrecision(bytes >= 100 ? 4 : 3)) + " " + units[unit];
}

function timeText(seconds) {
  if (seconds === undefined) return "";
  if (seconds < 1e-6) return (seconds * 1e9).toFixed(0) + " ns";
  if (seconds < 1e-3) return (seconds * 1e6).toPrecision(3) + " µs";
  if (seconds < 1) return (seconds * 1e3).toPrecision(3) + " ms";
  return seconds.toPrecision(3) + " s";
}

// The seconds that a call takes in a run, all turns of a loop together.
function timeOf(call) {
  return call.t === undefined ? undefined : call.t * call.n;
}

function rateText(call) {
  if (!call.t || call.b === undefined) return "";
  return (call.b / call.t / 1e9).toPrecision(3);
}

// The part of its time that a call would take at the limits of this machine's processor.
function limitShare(call) {
  if (!call.t || !facts.limits || call.b === undefined || call.d) return undefined;
  return Math.max((call.ops ?? 0) / facts.limits.ops, call.b / facts.limits.bytes) / call.t;
}

function operationRate(call) {
  return call.t && call.ops ? (call.ops / call.t / 1e9).toPrecision(3) : "";
}

function percentText(part, whole) {
  return whole > 0 ? (100 * part / whole).toFixed(1) + " %" : "";
}

// The tensor whose elements a view shows.
function baseOf(graph, tensor) {
  while (graph.tensors[tensor].v !== undefined) tensor = graph.tensors[tensor].v;
  return tensor;
}

const allCalls = facts.graphs.flatMap((graph, g) => graph.calls.map((call, c) => ({call, g, c})));
const isTimed = allCalls.some(({call}) => call.t !== undefined);
const totalTime = allCalls.reduce((sum, {call}) => sum + (timeOf(call) ?? 0), 0);
