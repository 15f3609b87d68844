// Runs a model that `ingot export --format=wasm` made:
//
//   node run_model.mjs [-o PREFIX] MODEL.mjs INPUT.npy...
//
// The files are the inputs in their order; those of fixed shapes that are left
// out are zero. With -o, output k is written to PREFIX<k>.npy.
import fs from 'node:fs';
import path from 'node:path';
import {pathToFileURL} from 'node:url';
import {formatNpy, makeZeros, parseNpy} from './npy.mjs';

function readInput(file) {
  try {
    return parseNpy(fs.readFileSync(file));
  } catch (error) {
    throw new Error(`${file} ${error.message}`);
  }
}

function zeros({name, type, shape}) {
  const open = shape.find((dim) => !Number.isInteger(dim));
  if (open !== undefined) throw new Error(`the input '${name}' must be given: its dimension ${open} is open`);
  return makeZeros(type, shape);
}

const words = process.argv.slice(2);
const prefix = words[0] === '-o' ? words.splice(0, 2)[1] : null;
if (words.length === 0) {
  console.error('usage: node run_model.mjs [-o PREFIX] MODEL.mjs INPUT.npy...');
  process.exit(2);
}
const {inputs, load} = await import(pathToFileURL(path.resolve(words[0])));
const files = words.slice(1);
if (files.length > inputs.length) throw new Error(`there are ${files.length} files, more than the model has inputs`);

const model = await load();
const values = Object.fromEntries(inputs.map((input, i) => [input.name, i < files.length ? readInput(files[i]) : zeros(input)]));
Object.entries(model.run(values)).forEach(([name, output], k) => {
  const {shape, data} = output;
  const first = Array.from(data.subarray(0, 4)).join(' ');
  console.log(`${name}: ${shape.length === 0 ? '' : shape.join('x') + ': '}${first}${data.length > 4 ? ' ...' : ''}`);
  if (prefix !== null) fs.writeFileSync(`${prefix}${k}.npy`, formatNpy(output));
});
