// Gives what random numbers are made from.
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <random>

#include "runtime/executor/step.h"

namespace ingot {
namespace {

uint64_t AnySeed() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

class RandomStateStep final : public Step {
 public:
  RandomStateStep(const DLTensor* result, uint64_t seed, const int64_t* runs)
      : result_(result), seed_(seed), runs_(runs) {}

  absl::Status Run() override {
    const int64_t state[] = {static_cast<int64_t>(seed_), *runs_ - 1};
    std::memcpy(result_->data, state, sizeof(state));
    return absl::OkStatus();
  }

 private:
  const DLTensor* const result_;
  const uint64_t seed_;
  const int64_t* const runs_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Step>> MakeRandomStateStep(
    const CallSite& site) {
  // All steps of an executor have the same one.
  std::optional<uint64_t>& seed = site.context->random_seed;
  if (!seed.has_value()) seed = AnySeed();
  return std::make_unique<RandomStateStep>(site.bound->tensor(site.result(0)),
                                           *seed, site.runs);
}

}  // namespace ingot
