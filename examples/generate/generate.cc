// Continues a text with a language model that `ingot compile --state` made,
// whose words are bytes: of a larger vocabulary the first 256 are taken.
//
//   generate MODEL.so PROMPT [TOKENS [TEMPERATURE [TOP_K [SEED [THREADS]]]]]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "loaders/load.h"
#include "runtime/executor/executor.h"

namespace {

constexpr size_t kWords = 256;

struct Sampling {
  double temperature;
  int top_k;
  std::mt19937 random;
};

// Draws one of the words by their scores; the best one at temperature 0.
int64_t Sample(absl::Span<const float> scores, Sampling* sampling) {
  std::vector<size_t> words(std::min(scores.size(), kWords));
  std::iota(words.begin(), words.end(), 0);
  const size_t k = std::clamp<int>(sampling->top_k, 1, words.size());
  std::partial_sort(words.begin(), words.begin() + k, words.end(),
                    [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  const double t = sampling->temperature;
  if (t <= 0) return static_cast<int64_t>(words[0]);
  std::vector<double> weights(k);
  for (size_t i = 0; i < k; ++i) {
    weights[i] = std::exp((scores[words[i]] - scores[words[0]]) / t);
  }
  std::discrete_distribution<size_t> pick(weights.begin(), weights.end());
  return static_cast<int64_t>(words[pick(sampling->random)]);
}

// A model, and how many words it has seen.
class Decoder {
 public:
  explicit Decoder(std::unique_ptr<ingot::GraphExecutor> executor)
      : executor_(std::move(executor)) {}

  // Takes the memory that reading a word after so many others needs.
  absl::Status Reserve(int64_t past) {
    INGOT_RETURN_IF_ERROR(SetInputs({0}, past));
    return executor_->Prepare();
  }

  // Reads some words; the scores of the next one, until the next call.
  absl::StatusOr<absl::Span<const float>> Read(std::vector<int64_t> words) {
    INGOT_RETURN_IF_ERROR(SetInputs(words, past_));
    INGOT_RETURN_IF_ERROR(executor_->Run());
    past_ += static_cast<int64_t>(words.size());
    INGOT_ASSIGN_OR_RETURN(const auto scores, executor_->GetOutput(0));
    const auto all = scores.values<float>();
    return all.subspan(all.size() - scores.shape()[2]);
  }

 private:
  // Words that come after `past` others.
  absl::Status SetInputs(const std::vector<int64_t>& words, int64_t past) {
    const auto count = static_cast<int64_t>(words.size());
    std::vector<int64_t> places(count);
    std::iota(places.begin(), places.end(), past);
    const std::vector<int64_t> mask(past + count, 1);
    for (const ingot::TensorInfo& input : executor_->inputs()) {
      absl::Status s = absl::InvalidArgumentError(
          "unknown input " + input.name + "; compile the model with --state");
      const std::string& name = input.name;
      if (name == "input_ids") s = Set(name, words, {1, count});
      if (name == "position_ids") s = Set(name, places, {1, count});
      if (name == "attention_mask") s = Set(name, mask, {1, past + count});
      if (name == "past_sequence_length") s = Set(name, {past}, {1});
      INGOT_RETURN_IF_ERROR(s);
    }
    return absl::OkStatus();
  }

  absl::Status Set(const std::string& name, const std::vector<int64_t>& values,
                   const std::vector<int64_t>& shape) {
    INGOT_ASSIGN_OR_RETURN(
        auto tensor, ingot::Tensor::Empty(ingot::DataType::Int(64), shape));
    std::copy(values.begin(), values.end(), tensor.mutable_data<int64_t>());
    return executor_->SetInput(name, std::move(tensor));
  }

  std::unique_ptr<ingot::GraphExecutor> executor_;
  int64_t past_ = 0;
};

absl::Status Run(const std::string& path, const std::string& prompt, int tokens,
                 int threads, Sampling sampling) {
  ingot::LoaderRegistry loaders;
  INGOT_RETURN_IF_ERROR(ingot::RegisterCoreLoaders(&loaders));
  INGOT_ASSIGN_OR_RETURN(const auto model, ingot::LoadPath(path, loaders));
  INGOT_ASSIGN_OR_RETURN(auto executor,
                         ingot::CreateExecutor(model, {threads}));
  Decoder decoder(std::move(executor));
  const std::vector<uint8_t> bytes(prompt.begin(), prompt.end());
  INGOT_RETURN_IF_ERROR(decoder.Reserve(bytes.size() + tokens - 1));
  absl::Time start = absl::Now();
  INGOT_ASSIGN_OR_RETURN(auto scores,
                         decoder.Read({bytes.begin(), bytes.end()}));
  const double prefill = absl::ToDoubleSeconds(absl::Now() - start);
  start = absl::Now();
  for (int i = 0; i < tokens; ++i) {
    const int64_t word = Sample(scores, &sampling);
    putchar(static_cast<int>(word));
    fflush(stdout);
    INGOT_ASSIGN_OR_RETURN(scores, decoder.Read({word}));
  }
  putchar('\n');
  fprintf(stderr, "prefill: %.1f tokens/s, decode: %.1f tokens/s\n",
          static_cast<double>(prompt.size()) / prefill,
          tokens / absl::ToDoubleSeconds(absl::Now() - start));
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argv[2][0] == '\0') {
    fprintf(stderr, "usage: generate MODEL.so PROMPT [TOKENS ...]\n");
    return 2;
  }
  const auto number = [&](int i, double otherwise) {
    return i < argc ? std::atof(argv[i]) : otherwise;
  };
  Sampling sampling{number(4, 0.8), static_cast<int>(number(5, 40)),
                    std::mt19937(static_cast<unsigned>(number(6, 1)))};
  const absl::Status status =
      Run(argv[1], argv[2], static_cast<int>(number(3, 64)),
          static_cast<int>(number(7, 1)), std::move(sampling));
  if (status.ok()) return 0;
  fprintf(stderr, "generate: %s\n", std::string(status.message()).c_str());
  return 1;
}
