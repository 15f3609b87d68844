// Computes references.json from cases.json with ONNX Runtime:
//
//   npm install onnxruntime-node
//   node make_references.mjs cases.json references.json MODEL=PATH...
//
// Inputs are made by a formula that the test repeats. Of each output the shape,
// the mean of the magnitudes and a few elements are kept.
import {createRequire} from 'module';
import fs from 'fs';
import path from 'path';

const require = createRequire(path.join(process.cwd(), '/'));
const ort = require('onnxruntime-node');
const kSamples = 24;

// Element i of an input, in [-scale, scale), the same bits in every language.
function element(i, scale) {
  const hash = Math.imul(i + 1, 2654435761) >>> 0;
  return Math.fround(Math.fround((hash >>> 8) / 8388608 - 1) * Math.fround(scale));
}

// Of an image: dark strokes in two lines on a bright page, for what finds text.
function stroke(i, shape) {
  const [height, width] = shape.slice(-2);
  const x = i % width, y = Math.floor(i / width) % height;
  const line = y % 40 >= 12 && y % 40 < 28 && x >= 16 && x < width - 16;
  return line && (x % 10 < 3 || (y % 8 < 2 && x % 10 < 7)) ? -1 : 1;
}

function makeInput({type, shape, scale = 1, value, strokes}) {
  const count = shape.reduce((a, b) => a * b, 1);
  if (type === 'i64') {
    return new ort.Tensor('int64', BigInt64Array.from({length: count}, () => BigInt(value)), shape);
  }
  return new ort.Tensor('float32', Float32Array.from({length: count}, (_, i) => strokes ? stroke(i, shape) : element(i, scale)), shape);
}

const [casesFile, outputFile, ...models] = process.argv.slice(2);
const paths = Object.fromEntries(models.map((m) => m.split('=')));
const references = [];
for (const c of JSON.parse(fs.readFileSync(casesFile))) {
  const session = await ort.InferenceSession.create(paths[c.model], {graphOptimizationLevel: 'disabled', logSeverityLevel: 3});
  const feeds = Object.fromEntries(c.inputs.map((input) => [input.name, makeInput(input)]));
  const results = await session.run(feeds);
  const outputs = session.outputNames.map((name) => {
    const {dims, data} = results[name];
    const samples = {};
    for (let k = 0; k < Math.min(kSamples, data.length); ++k) {
      const i = data.length <= kSamples ? k : (k * 7919 + (data.length >> 1)) % data.length;
      samples[i] = Number(data[i]);
    }
    const mean = data.reduce((sum, x) => sum + Math.abs(Number(x)), 0) / data.length;
    const max = data.reduce((a, x) => Math.max(a, Math.abs(Number(x))), 0);
    return {name, shape: dims.map(Number), mean_magnitude: mean, max_magnitude: max, samples};
  });
  references.push({...c, outputs});
}
fs.writeFileSync(outputFile, '[\n' + references.map((r) => JSON.stringify(r)).join(',\n') + '\n]\n');
