// Continues a text with a language model that `ingot compile --state` made:
//
//   generate MODEL.so PROMPT [TOKENS [TEMPERATURE [TOP_K [SEED [THREADS]]]]]
//
// The model's words are bytes: of a larger vocabulary the first 256 are taken.
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
#include "loaders/load.h"
#include "runtime/executor/executor.h"

namespace {

using ingot::Tensor;

constexpr size_t kWords = 256;

struct Sampling {
  double temperature = 0.8;
  size_t top_k = 40;
  std::mt19937 random;
};

// Draws one of the words by their scores; the best one at temperature 0.
int64_t Sample(absl::Span<const float> scores, Sampling* sampling) {
  std::vector<size_t> words(std::min(scores.size(), kWords));
  std::iota(words.begin(), words.end(), 0);
  const size_t k = std::clamp<size_t>(sampling->top_k, 1, words.size());
  std::partial_sort(words.begin(), words.begin() + k, words.end(),
                    [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  if (sampling->temperature <= 0) return static_cast<int64_t>(words[0]);
  std::vector<double> weights;
  for (size_t i = 0; i < k; ++i) {
    weights.push_back(std::exp((scores[words[i]] - scores[words[0]]) /
                               sampling->temperature));
  }
  std::discrete_distribution<size_t> pick(weights.begin(), weights.end());
  return static_cast<int64_t>(words[pick(sampling->random)]);
}

// A model, and how many words it has seen.
class Decoder {
 public:
  explicit Decoder(std::unique_ptr<ingot::GraphExecutor> executor)
      : executor_(std::move(executor)) {}

  // Reads some words; the scores of the next one, until the next call.
  absl::StatusOr<absl::Span<const float>> Read(std::vector<int64_t> words) {
    const auto count = static_cast<int64_t>(words.size());
    std::vector<int64_t> places(count);
    std::iota(places.begin(), places.end(), past_);
    const std::vector<int64_t> mask(past_ + count, 1);
    for (const ingot::TensorInfo& input : executor_->inputs()) {
      absl::Status s = absl::InvalidArgumentError(
          "unknown input " + input.name + "; compile the model with --state");
      if (input.name == "input_ids") s = Set(input.name, words);
      if (input.name == "position_ids") s = Set(input.name, places);
      if (input.name == "attention_mask") s = Set(input.name, mask);
      if (input.name == "past_sequence_length") {
        s = Set(input.name, {past_}, /*batches=*/false);
      }
      if (!s.ok()) return s;
    }
    if (absl::Status s = executor_->Run(); !s.ok()) return s;
    past_ += count;
    absl::StatusOr<Tensor> scores = executor_->GetOutput(0);
    if (!scores.ok()) return scores.status();
    const auto all = scores->values<float>();
    return all.subspan(all.size() - scores->shape()[2]);
  }

 private:
  absl::Status Set(const std::string& name, const std::vector<int64_t>& values,
                   bool batches = true) {
    std::vector<int64_t> shape(batches ? 2 : 1, 1);
    shape.back() = static_cast<int64_t>(values.size());
    absl::StatusOr<Tensor> tensor =
        Tensor::Empty(ingot::DataType::Int(64), shape);
    if (!tensor.ok()) return tensor.status();
    std::copy(values.begin(), values.end(), tensor->mutable_data<int64_t>());
    return executor_->SetInput(name, *std::move(tensor));
  }

  std::unique_ptr<ingot::GraphExecutor> executor_;
  int64_t past_ = 0;
};

absl::Status Run(const std::string& path, const std::string& prompt, int tokens,
                 int threads, Sampling sampling) {
  ingot::LoaderRegistry loaders;
  if (absl::Status s = ingot::RegisterCoreLoaders(&loaders); !s.ok()) return s;
  absl::StatusOr<ingot::LoadedModel> model = ingot::LoadPath(path, loaders);
  if (!model.ok()) return model.status();
  ingot::ExecutorOptions options;
  options.threads = threads;
  auto executor = ingot::CreateExecutor(*model, options);
  if (!executor.ok()) return executor.status();
  Decoder decoder(*std::move(executor));
  const std::vector<uint8_t> bytes(prompt.begin(), prompt.end());
  absl::Time start = absl::Now();
  auto scores = decoder.Read({bytes.begin(), bytes.end()});
  if (!scores.ok()) return scores.status();
  const double prefill = absl::ToDoubleSeconds(absl::Now() - start);
  start = absl::Now();
  for (int i = 0; i < tokens; ++i) {
    const int64_t word = Sample(*scores, &sampling);
    putchar(static_cast<int>(word));
    fflush(stdout);
    scores = decoder.Read({word});
    if (!scores.ok()) return scores.status();
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
  Sampling sampling;
  sampling.temperature = number(4, sampling.temperature);
  sampling.top_k = static_cast<size_t>(std::max(1.0, number(5, 40)));
  sampling.random.seed(static_cast<unsigned>(number(6, 1)));
  const absl::Status status =
      Run(argv[1], argv[2], static_cast<int>(number(3, 64)),
          static_cast<int>(number(7, 1)), std::move(sampling));
  if (status.ok()) return 0;
  fprintf(stderr, "generate: %s\n", std::string(status.message()).c_str());
  return 1;
}
