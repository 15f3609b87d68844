// Measures models as WebAssembly beside ONNX Runtime Web, in Node.js, with one
// thread each. compare.sh starts it.
//
//   node compare.mjs INGOT [--rounds=N] [--seconds=S] [--target=TARGET] FOLDER...
//
// A FOLDER holds model.onnx and test_data_set_0. Both engines run by turns, in
// processes of their own; a latency is the least median of all turns.
import {spawnSync} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';

const {values: flags, positionals: [ingot, ...folders]} = parseArgs({
  allowPositionals: true,
  options: {
    rounds: {type: 'string', default: '3'},
    seconds: {type: 'string', default: '0.5'},
    target: {type: 'string', default: 'llvm -mtriple=wasm32 -mattr=+simd128'},
  },
});

function start(program, words) {
  const result = spawnSync(program, words, {encoding: 'utf8', maxBuffer: 1 << 26});
  if (result.status === 0) return result.stdout;
  const lines = `${result.error ?? ''}${result.stderr}`.trim().split('\n');
  throw new Error(lines.find((line) => line.includes('rror')) ?? lines[0]);
}

function measure(folder, work) {
  const model = path.join(folder, 'model.onnx');
  const set = path.join(work, 'model.ingot');
  start(ingot, ['compile', model, `--target=${flags.target}`, '--symbol-prefix=model', '-o', set, '--quiet']);
  start(ingot, ['export', set, '--format=wasm', '--weights=beside', '-o', work, '--quiet']);
  const code = fs.statSync(path.join(work, 'model.wasm')).size;
  const files = {ingot: path.join(work, 'model.mjs'), onnxruntime: model};
  const best = {};
  const peer = path.join(path.dirname(fileURLToPath(import.meta.url)), 'peer.mjs');
  for (let round = 0; round < Number(flags.rounds); ++round) {
    for (const [engine, file] of Object.entries(files)) {
      const words = ['--preserve-symlinks', '--preserve-symlinks-main', peer, engine, file, path.join(folder, 'test_data_set_0'), flags.seconds];
      const result = JSON.parse(start(process.execPath, words));
      if (best[engine] === undefined || result.median < best[engine].median) best[engine] = result;
    }
  }
  return {code, ...best};
}

const milliseconds = (seconds) => `${(seconds * 1e3).toPrecision(3)} ms`;
const row = (...cells) => console.log([cells[0].padEnd(26), ...cells.slice(1).map((cell) => cell.padStart(13))].join(''));

let speedUps = 0, compared = 0, slower = 0;
row('MODEL', 'INGOT', 'ORT WEB', 'SPEED-UP', 'LOAD', 'THEIRS', 'CODE', 'DIFFERENCE', 'THEIRS');
for (const folder of folders) {
  const name = path.basename(path.resolve(folder));
  const work = fs.mkdtempSync(path.join(os.tmpdir(), 'ingot_web_'));
  try {
    const {code, ingot: ours, onnxruntime: theirs} = measure(folder, work);
    const speedUp = theirs.median / ours.median;
    row(name, milliseconds(ours.median), milliseconds(theirs.median), speedUp.toFixed(2), milliseconds(ours.load), milliseconds(theirs.load),
        `${Math.round(code / 1000)} KB`, ours.difference.toExponential(1), theirs.difference.toExponential(1));
    speedUps += Math.log(speedUp);
    ++compared;
    if (speedUp < 1) ++slower;
  } catch (error) {
    row(name, error.message);
  } finally {
    fs.rmSync(work, {recursive: true});
  }
}
if (compared > 0) console.log(`${compared} models: ${Math.exp(speedUps / compared).toFixed(2)} times as fast (geometric mean), ${slower} slower`);
