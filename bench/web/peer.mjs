// One model in one engine, in a process of its own:
//
//   node peer.mjs ingot|onnxruntime MODEL DATA SECONDS
//
// Runs it on DATA/input_<k>.pb, warmed up, for so long, and prints as JSON how
// many seconds loading and the median of the runs took, and how far outputs are
// from DATA/output_<k>.pb, as a part of their largest element.
import fs from 'node:fs';
import path from 'node:path';
import {pathToFileURL} from 'node:url';
import {readTensor} from './tensor_proto.mjs';

function readTensors(folder, start) {
  const tensors = [];
  for (let k = 0; fs.existsSync(path.join(folder, `${start}_${k}.pb`)); ++k) tensors.push(readTensor(path.join(folder, `${start}_${k}.pb`)));
  return tensors;
}

// Each gives a function that runs once and gives the outputs' data.
const engines = {
  async ingot(file, given) {
    const {inputs, load} = await import(pathToFileURL(file));
    const model = await load();
    const values = Object.fromEntries(inputs.map(({name}, i) => [name, given[i]]));
    return async () => Object.values(model.run(values)).map(({data}) => data);
  },

  async onnxruntime(file, given) {
    const ort = await import('onnxruntime-web');
    ort.env.wasm.numThreads = 1;
    ort.env.logLevel = 'error';
    const session = await ort.InferenceSession.create(fs.readFileSync(file), {executionProviders: ['wasm'], logSeverityLevel: 3});
    const feeds = Object.fromEntries(session.inputNames.map((name, i) => [name, new ort.Tensor(given[i].type, given[i].data, given[i].shape)]));
    return async () => {
      const results = await session.run(feeds);
      return session.outputNames.map((name) => results[name].data);
    };
  },
};

function difference(outputs, expected) {
  let worst = 0;
  outputs.forEach((output, k) => {
    const wanted = expected[k].data;
    if (output.length !== wanted.length) throw new Error(`output ${k} has ${output.length} elements instead of ${wanted.length}`);
    let largest = 1e-30, distance = 0;
    for (let i = 0; i < wanted.length; ++i) {
      largest = Math.max(largest, Math.abs(Number(wanted[i])));
      distance = Math.max(distance, Math.abs(Number(output[i]) - Number(wanted[i])));
    }
    worst = Math.max(worst, distance / largest);
  });
  return worst;
}

const [engine, file, folder, seconds] = process.argv.slice(2);
const given = readTensors(folder, 'input');
const start = performance.now();
const run = await engines[engine](path.resolve(file), given);
const load = performance.now() - start;

// Long enough for an engine's best compiler to be done.
const outputs = await run();
for (const end = performance.now() + 1500; performance.now() < end;) await run();
const times = [];
for (const end = performance.now() + 1000 * Number(seconds); performance.now() < end || times.length < 5;) {
  const before = performance.now();
  await run();
  times.push(performance.now() - before);
}
times.sort((a, b) => a - b);
console.log(JSON.stringify({load: load / 1000, median: times[times.length >> 1] / 1000, difference: difference(outputs, readTensors(folder, 'output'))}));
