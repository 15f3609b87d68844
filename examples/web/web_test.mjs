// The modules that `ingot export --format=wasm` writes: what they compute, what
// they say of themselves, and what they refuse.
import assert from 'node:assert/strict';
import {execFileSync, spawnSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import * as angles from './angles.mjs';
import * as conv2d from './conv2d.mjs';
import * as lengths from './lengths.mjs';
import * as quantized from './quantized.mjs';
import {formatNpy, parseNpy} from './npy.mjs';

const here = path.dirname(process.argv[1]);

// Nothing is imported but functions of C's library, and only by who calls them.
async function checkImports() {
  const importsOf = async (name) => WebAssembly.Module.imports(await WebAssembly.compile(fs.readFileSync(path.join(here, name)))).map((i) => i.name).sort();
  assert.deepEqual(await importsOf('conv2d.wasm'), []);
  assert.deepEqual(await importsOf('lengths.wasm'), []);
  assert.deepEqual(await importsOf('angles.wasm'), ['atan', 'exp', 'pow']);
}

async function checkOpenDimensions() {
  assert.deepEqual(lengths.inputs, [{name: 'x', type: 'f32', shape: ['n']}]);
  const model = await lengths.load();
  for (const n of [3, 0, 100000, 1]) {
    const data = Float32Array.from({length: n}, (_, i) => i + 1);
    const {second, twice} = model.run({x: {data, shape: [n]}});
    assert.deepEqual(second.shape, [Math.ceil(n / 2)]);
    assert.deepEqual(Array.from(second.data), Array.from({length: Math.ceil(n / 2)}, (_, i) => -(2 * i + 1)));
    assert.deepEqual(twice, {type: 'f32', shape: [2 * n], data: Float32Array.from({length: 2 * n}, (_, i) => data[i % n])});
  }
  assert.throws(() => model.run({}), /the input 'x' must be a Float32Array/);
  assert.throws(() => model.run({x: new Float64Array(3)}), /must be a Float32Array/);
  assert.throws(() => model.run({x: new Float32Array(3)}), /must be \{data, shape\}/);
  assert.throws(() => model.run({x: {data: new Float32Array(3), shape: [4]}}), /the shape \[4\], which are 4 elements/);
  assert.throws(() => model.run({x: {data: new Float32Array(3), shape: [3, 1]}}), /must have the shape \[3\]/);
}

async function checkFixedShapes() {
  const model = await conv2d.load();
  const [{name, shape}] = conv2d.inputs;
  const count = shape.reduce((a, b) => a * b, 1);
  const zero = model.run({[name]: new Float32Array(count)});
  const output = zero[conv2d.outputs[0].name];
  assert.deepEqual(output.shape, conv2d.outputs[0].shape);
  // Its result stays as it is when the model runs again.
  const before = output.data.slice();
  const other = model.run({[name]: new Float32Array(count).fill(1)})[conv2d.outputs[0].name];
  assert.deepEqual(output.data, before);
  assert.notDeepEqual(other.data, before);
  assert.throws(() => model.run({[name]: new Float32Array(count + 1)}), /must have the shape/);
}

async function checkLibrary() {
  const model = await angles.load({wasm: fs.readFileSync(path.join(here, 'angles.wasm'))});
  const x = Float64Array.of(-3, 0, 0.5, 1e9), z = Float32Array.of(1, -2e7, 3e30);
  const {p, s} = model.run({x: {data: x, shape: [4]}, z: {data: z, shape: [3]}});
  x.forEach((value, i) => assert(Math.abs(p.data[i] - Math.exp(Math.atan(value) ** 2)) < 1e-12 * p.data[i]));
  z.forEach((value, i) => assert(Math.abs(s.data[i] - Math.sin(value)) < 1e-6));
}

// Products of bytes, which WebAssembly multiplies in pairs of 16 bits, beside
// this machine's code.
async function checkBytes(ingot, onnx) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'web_test_'));
  const file = path.join(folder, 'sound.npy');
  const [{name, shape}] = quantized.inputs;
  const data = Int8Array.from({length: shape.reduce((a, b) => a * b, 1)}, (_, i) => 127 * Math.sin(i));
  fs.writeFileSync(file, formatNpy({type: 'i8', shape, data}));
  execFileSync(ingot, ['run', onnx, '--target=llvm', `--input=${name}:${file}`, `--output-dir=${folder}`, '--quiet'], {env: {...process.env, XDG_CACHE_HOME: folder}});
  const expected = parseNpy(fs.readFileSync(path.join(folder, 'scores.npy')));
  const {scores} = (await quantized.load()).run({[name]: data});
  assert.deepEqual(scores.shape, expected.shape);
  assert(new Set(expected.data).size > 3);
  assert.deepEqual(scores.data, expected.data);
  fs.rmSync(folder, {recursive: true});
}

// The program that reads and writes files.
function checkProgram() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'web_test_'));
  const file = path.join(folder, 'x.npy');
  fs.writeFileSync(file, formatNpy({type: 'f32', shape: [3], data: Float32Array.of(1, 2, 4)}));
  const program = path.join(here, 'run_model.mjs');
  const said = execFileSync('node', [program, '-o', `${folder}/`, path.join(here, 'lengths.mjs'), file], {encoding: 'utf8'});
  assert.equal(said, 'second: 2: -1 -4\ntwice: 6: 1 2 4 1 ...\n');
  assert.deepEqual(parseNpy(fs.readFileSync(`${folder}/0.npy`)), {shape: [2], data: Float32Array.of(-1, -4)});
  assert.match(execFileSync('node', [program, path.join(here, 'conv2d.mjs')], {encoding: 'utf8'}), /^3: 2x/);
  const error = (...words) => spawnSync('node', [program, ...words], {encoding: 'utf8'}).stderr;
  assert.match(error(path.join(here, 'lengths.mjs')), /its dimension n is open/);
  assert.match(error(path.join(here, 'lengths.mjs'), file, file), /more than the model has inputs/);
  fs.truncateSync(file, 130);
  assert.match(error(path.join(here, 'lengths.mjs'), file), /x\.npy is cut off/);
  assert.match(error(path.join(here, 'lengths.mjs'), program), /is no \.npy file/);
  fs.rmSync(folder, {recursive: true});
}

await checkImports();
await checkOpenDimensions();
await checkFixedShapes();
await checkLibrary();
await checkBytes(...process.argv.slice(2));
checkProgram();
