// NumPy's .npy files, for the types that models have.

const ARRAYS = {
  '|b1': Uint8Array, '|i1': Int8Array, '|u1': Uint8Array, '<i2': Int16Array, '<u2': Uint16Array, '<i4': Int32Array,
  '<u4': Uint32Array, '<i8': BigInt64Array, '<u8': BigUint64Array, '<f2': Uint16Array, '<f4': Float32Array, '<f8': Float64Array,
};
const DESCRIPTIONS = {
  bool: '|b1', i8: '|i1', u8: '|u1', i16: '<i2', u16: '<u2', i32: '<i4', u32: '<u4', i64: '<i8', u64: '<u8', f16: '<f2',
  bf16: '<u2', f32: '<f4', f64: '<f8',
};

/** Returns a `{data, shape}` without any number but 0. */
export function makeZeros(type, shape) {
  return {shape, data: new ARRAYS[DESCRIPTIONS[type]](shape.reduce((a, b) => a * b, 1))};
}

/** Returns the `{data, shape}` in the bytes of a file. */
export function parseNpy(bytes) {
  const start = '\x93NUMPY\x01\x00';
  if (bytes.subarray(0, start.length).toString('latin1') !== start) throw new Error('is no .npy file of version 1.0');
  const end = 10 + bytes.readUInt16LE(8);
  const header = bytes.subarray(10, end).toString('latin1');
  const [, description] = /'descr': '([^']+)'/.exec(header) ?? [];
  const [, dims] = /'shape': \(([^)]*)\)/.exec(header) ?? [];
  if (!(description in ARRAYS) || dims === undefined || !header.includes("'fortran_order': False")) {
    throw new Error(`has a header that this program does not know: ${header.trim()}`);
  }
  const shape = dims.split(',').filter((dim) => dim.trim() !== '').map(Number);
  const count = shape.reduce((a, b) => a * b, 1);
  const array = ARRAYS[description];
  if (bytes.length - end < count * array.BYTES_PER_ELEMENT) throw new Error('is cut off');
  // A copy, which begins where the elements' type wants it to.
  return {shape, data: new array(Uint8Array.from(bytes.subarray(end)).buffer, 0, count)};
}

/** Returns the bytes of a file with a `{type, shape, data}`. */
export function formatNpy({type, shape, data}) {
  const dims = shape.length === 1 ? `${shape[0]},` : shape.join(', ');
  const dict = `{'descr': '${DESCRIPTIONS[type]}', 'fortran_order': False, 'shape': (${dims}), }`;
  const header = dict.padEnd(Math.ceil((dict.length + 11) / 64) * 64 - 11) + '\n';
  const start = Buffer.from('\x93NUMPY\x01\x00\0\0', 'latin1');
  start.writeUInt16LE(header.length, 8);
  return Buffer.concat([start, Buffer.from(header, 'latin1'), Buffer.from(data.buffer, data.byteOffset, data.byteLength)]);
}
