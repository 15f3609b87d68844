// Inputs that tests of small language models give them, run by run.
#ifndef INGOT_TESTS_ONNXRUNTIME_DECODER_STEPS_H_
#define INGOT_TESTS_ONNXRUNTIME_DECODER_STEPS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "runtime/tensor.h"

namespace ingot {

inline constexpr int64_t kVocabulary = 256;

// The words of one run, after `past` others.
struct Words {
  std::vector<int64_t> ids;
  int64_t past;
};

// A prompt of five words, single ones, and three at once.
std::vector<Words> DecoderSteps();

// The values of the inputs of these names; `cache` are those that hold what was
// kept of the words before, in the order of the outputs.
std::vector<Tensor> InputsOf(absl::Span<const std::string> names,
                             const Words& words,
                             absl::Span<const Tensor> cache);

// The tensors kept of no words, by a model of examples/generate whose layers
// keep `count` tensors in all.
std::vector<Tensor> NothingKept(const std::string& model, size_t count);

}  // namespace ingot

#endif  // INGOT_TESTS_ONNXRUNTIME_DECODER_STEPS_H_
