#include "tests/onnxruntime/decoder_steps.h"

#include "compiler/frontends/onnx/testing/run_operator.h"

namespace ingot {

using onnx_frontend::Longs;

std::vector<Words> DecoderSteps() {
  std::vector<Words> steps = {{{72, 101, 108, 108, 111}, 0}};
  int64_t word = 44;
  for (int64_t past = 5; past < 12; ++past) {
    steps.push_back({{word}, past});
    word = (word * 37 + 11) % kVocabulary;
  }
  steps.push_back({{1, 2, 3}, 12});
  steps.push_back({{4}, 15});
  return steps;
}

std::vector<Tensor> InputsOf(absl::Span<const std::string> names,
                             const Words& words,
                             absl::Span<const Tensor> cache) {
  const auto count = static_cast<int64_t>(words.ids.size());
  std::vector<int64_t> places(count);
  for (int64_t i = 0; i < count; ++i) places[i] = words.past + i;
  std::vector<Tensor> inputs;
  size_t next = 0;
  for (const std::string& name : names) {
    if (name == "input_ids") {
      inputs.push_back(Longs({1, count}, words.ids));
    } else if (name == "position_ids") {
      inputs.push_back(Longs({1, count}, places));
    } else if (name == "attention_mask") {
      inputs.push_back(Longs({1, words.past + count},
                             std::vector<int64_t>(words.past + count, 1)));
    } else if (name == "past_sequence_length") {
      inputs.push_back(Longs({1}, {words.past}));
    } else {
      inputs.push_back(cache[next++]);
    }
  }
  return inputs;
}

std::vector<Tensor> NothingKept(const std::string& model, size_t count) {
  const int64_t heads = model == "gpt2_tiny" ? 3 : 2;
  const Tensor nothing = *Tensor::Empty(DataType::Float(32), {1, heads, 0, 16});
  return std::vector<Tensor>(count, nothing);
}

}  // namespace ingot
