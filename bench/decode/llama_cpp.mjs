// How fast llama.cpp reads a text and goes on with it, through npm's
// node-llama-cpp: a peer of examples/generate.
//
//   node llama_cpp.mjs MODEL.gguf PROMPT_LENGTH TOKENS THREADS
import {getLlama, LlamaLogLevel} from 'node-llama-cpp';

const [path, length, tokens, threads] =
    [process.argv[2], ...process.argv.slice(3).map(Number)];
const llama = await getLlama({
  gpu: false, build: 'never', logLevel: LlamaLogLevel.error, maxThreads: threads
});
const model = await llama.loadModel({modelPath: path, gpuLayers: 0});
const context = await model.createContext({
  contextSize: 1024, batchSize: 512, threads: {ideal: threads, min: threads}
});
const sequence = context.getSequence();
const prompt =
    Array.from({length}, (_, i) => 300 + i * 7919 % 30000);
// The first turn maps the weights.
for (let turn = 0; turn < 3; ++turn) {
  await sequence.clearHistory();
  let start = performance.now();
  await sequence.evaluateWithoutGeneratingNewTokens(prompt);
  const prefill = performance.now() - start;
  let made = 0;
  start = performance.now();
  for await (const _ of sequence.evaluate([1234],
                                          {temperature: 0, yieldEogToken: true})) {
    if (++made === tokens) break;
  }
  const decode = performance.now() - start;
  console.log(`prefill: ${(length / prefill * 1000).toFixed(1)} tokens/s, ` +
              `decode: ${(made / decode * 1000).toFixed(1)} tokens/s`);
}
await llama.dispose();
