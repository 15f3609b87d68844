// ONNX's TensorProto, as far as test data has it.
import fs from 'node:fs';

// By TensorProto.DataType: ONNX Runtime's name of the type, and the array.
const TYPES = {
  1: ['float32', Float32Array], 2: ['uint8', Uint8Array], 3: ['int8', Int8Array], 4: ['uint16', Uint16Array],
  5: ['int16', Int16Array], 6: ['int32', Int32Array], 7: ['int64', BigInt64Array], 9: ['bool', Uint8Array],
  10: ['float16', Uint16Array], 11: ['float64', Float64Array], 12: ['uint32', Uint32Array], 13: ['uint64', BigUint64Array],
};

// The fields of a protobuf message: [number, a number or the bytes].
function* fields(bytes) {
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return BigInt.asIntN(64, value);
    }
  };
  while (at < bytes.length) {
    const key = Number(varint());
    const type = key & 7;
    if (type === 0) {
      yield [key >> 3, varint()];
    } else {
      const size = type === 1 ? 8 : type === 5 ? 4 : Number(varint());
      yield [key >> 3, bytes.subarray(at, at += size)];
    }
  }
}

function* varints(bytes) {
  // Each as the one field of a message.
  for (let at = 0; at < bytes.length;) {
    let end = at;
    while (bytes[end] >= 128) ++end;
    const [[, value]] = fields(Buffer.concat([Buffer.of(8), bytes.subarray(at, end + 1)]));
    yield value;
    at = end + 1;
  }
}

/** Returns the `{type, shape, data}` in a file. */
export function readTensor(file) {
  const shape = [], numbers = [];
  let kind = 0, raw = null;
  for (const [number, value] of fields(fs.readFileSync(file))) {
    const integers = typeof value === 'bigint' ? [value] : varints(value);
    if (number === 1) shape.push(...Array.from(integers, Number));
    if (number === 2) kind = Number(value);
    if (number === 5 || number === 7) numbers.push(...integers);
    if (number === 4 || number === 9 || number === 10) raw = raw === null ? value : Buffer.concat([raw, value]);
  }
  if (!(kind in TYPES)) throw new Error(`${file}: elements of ONNX's type ${kind}`);
  const [type, array] = TYPES[kind];
  if (raw !== null) return {type, shape, data: new array(Uint8Array.from(raw).buffer)};
  return {type, shape, data: array.from(numbers, kind === 7 || kind === 13 ? BigInt : Number)};
}
