// The rest of this module is the same for every model.

const ARRAYS = {
  bool: Uint8Array, i8: Int8Array, u8: Uint8Array, i16: Int16Array, u16: Uint16Array, i32: Int32Array, u32: Uint32Array,
  i64: BigInt64Array, u64: BigUint64Array, f16: Uint16Array, bf16: Uint16Array, f32: Float32Array, f64: Float64Array,
};

// Some models call these functions of C's library, in double and in single precision.
const C_LIBRARY = {};
for (const name of ['acos', 'acosh', 'asin', 'asinh', 'atan', 'atanh', 'cos', 'cosh', 'exp', 'log', 'sin', 'sinh', 'tan', 'tanh']) {
  C_LIBRARY[name] = C_LIBRARY[name + 'f'] = Math[name];
}
C_LIBRARY.fmod = C_LIBRARY.fmodf = (x, y) => x % y;
// C's differs from JavaScript's where y is no number or not finite.
C_LIBRARY.pow = C_LIBRARY.powf = (x, y) => x === 1 || (x === -1 && Math.abs(y) === Infinity) ? 1 : x ** y;

async function read(file) {
  const url = new URL(file, import.meta.url);
  if (url.protocol === 'file:') {
    return (await import('node:fs/promises')).readFile(url);
  }
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
  return response.arrayBuffer();
}

/**
 * Makes the model ready to run. Each has memory of its own.
 * @param {{wasm?: BufferSource|WebAssembly.Module, weights?: ArrayBuffer|ArrayBufferView}} sources what is not to be
 *     read from the files beside this module.
 * @returns {Promise<Model>}
 */
export async function load(sources = {}) {
  const wasm = sources.wasm ?? await read(`./${PREFIX}.wasm`);
  const module = wasm instanceof WebAssembly.Module ? wasm : await WebAssembly.compile(wasm);
  const {exports} = await WebAssembly.instantiate(module, {env: C_LIBRARY});
  if (WEIGHTS !== null) {
    const given = sources.weights ?? await read(`./${PREFIX}.weights`);
    const bytes = ArrayBuffer.isView(given) ? new Uint8Array(given.buffer, given.byteOffset, given.byteLength) : new Uint8Array(given);
    if (bytes.length !== WEIGHTS.bytes) {
      throw new RangeError(`the weights have ${bytes.length} bytes instead of ${WEIGHTS.bytes}`);
    }
    new Uint8Array(exports.memory.buffer, exports[WEIGHTS.symbol].value >>> 0, bytes.length).set(bytes);
  }
  return new Model(exports);
}

class Model {
  #exports;

  constructor(exports) {
    this.#exports = exports;
  }

  /**
   * Runs the model once.
   * @param {Object} values for each input's name a typed array of its type or, where the model's dimensions are open,
   *     `{data, shape}`.
   * @returns {Object} for each output's name `{type, shape, data}`, which is the caller's.
   */
  run(values) {
    const given = inputs.map((input) => checkType(input, values[input.name]));
    const dims = BINDINGS.map(([input, axis]) => given[input].shape?.[axis]);
    if (dims.some((dim) => !Number.isSafeInteger(dim) || dim < 0)) {
      throw new TypeError('inputs with open dimensions must be {data, shape}');
    }
    const shapes = SHAPES(...dims);
    given.forEach((tensor, i) => checkShape(inputs[i], tensor, shapes[i]));
    const sizes = [...inputs, ...outputs].map(({type}, i) => elements(shapes[i]) * ARRAYS[type].BYTES_PER_ELEMENT);
    const bigDims = dims.map(BigInt);
    const places = this.#place([...sizes, Number(this.#exports[`${PREFIX}_arena_bytes`](...bigDims))]);
    const arena = places.pop();

    const {buffer} = this.#exports.memory;
    given.forEach(({data}, i) => new data.constructor(buffer, places[i], data.length).set(data));
    if (this.#exports[`${PREFIX}_run`](...places, ...bigDims, arena) !== 0) throw new Error(this.#lastError());
    return Object.fromEntries(outputs.map(({name, type}, k) => {
      const i = inputs.length + k;
      return [name, {type, shape: shapes[i], data: new ARRAYS[type](buffer, places[i], elements(shapes[i])).slice()}];
    }));
  }

  // Returns where pieces of these sizes lie, after what the module needs for itself.
  #place(sizes) {
    const {memory, __heap_base: base} = this.#exports;
    let end = base.value >>> 0;
    const places = sizes.map((size) => {
      const place = Math.ceil(end / ALIGNMENT) * ALIGNMENT;
      end = place + size;
      return place;
    });
    const missing = end - memory.buffer.byteLength;
    if (missing > 0) memory.grow(Math.ceil(missing / 65536));
    return places;
  }

  #lastError() {
    const place = this.#exports[`${PREFIX}_last_error`]() >>> 0;
    const bytes = new Uint8Array(this.#exports.memory.buffer, place);
    return new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)));
  }
}

function elements(shape) {
  return shape.reduce((product, dim) => product * dim, 1);
}

function checkType({name, type}, value) {
  const tensor = ArrayBuffer.isView(value) ? {data: value} : value;
  if (!(tensor?.data instanceof ARRAYS[type])) {
    throw new TypeError(`the input '${name}' must be a ${ARRAYS[type].name}, or have one as its data`);
  }
  return tensor;
}

function checkShape({name}, {data, shape = null}, expected) {
  const same = shape === null || (shape.length === expected.length && expected.every((dim, i) => dim === shape[i]));
  if (!same || data.length !== elements(expected)) {
    throw new RangeError(`the input '${name}' must have the shape [${expected.join(', ')}], which are ${elements(expected)} elements`);
  }
}
