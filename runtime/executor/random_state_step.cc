// Gives what random numbers are made from.
#include <cstdint>
#include <cstring>
#include <memory>

#include "runtime/executor/step.h"

namespace ingot {
namespace {

class RandomStateStep final : public Step {
 public:
  RandomStateStep(const DLTensor* result, const uint64_t* seed,
                  const int64_t* runs)
      : result_(result), seed_(seed), runs_(runs) {}

  absl::Status Run() override {
    const int64_t state[] = {static_cast<int64_t>(*seed_), *runs_ - 1};
    std::memcpy(result_->data, state, sizeof(state));
    return absl::OkStatus();
  }

 private:
  const DLTensor* const result_;
  const uint64_t* const seed_;
  const int64_t* const runs_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Step>> MakeRandomStateStep(
    const CallSite& site) {
  return std::make_unique<RandomStateStep>(site.bound->tensor(site.result(0)),
                                           &site.context->random_seed,
                                           site.runs);
}

}  // namespace ingot
