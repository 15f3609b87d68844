// Binds symbols to the elements of a tensor.
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/executor/elements.h"
#include "runtime/executor/step.h"

namespace ingot {
namespace {

class BindDimsStep final : public Step {
 public:
  BindDimsStep(BoundPlan* bound, int phase, const DLTensor* from,
               std::vector<uint32_t> elements)
      : bound_(bound),
        phase_(phase),
        from_(from),
        elements_(std::move(elements)),
        values_(elements_.size()) {}

  absl::Status Run() override {
    for (size_t i = 0; i < values_.size(); ++i) {
      values_[i] = ElementOf(*from_, elements_[i]);
    }
    return bound_->BindPhase(phase_, values_);
  }

 private:
  BoundPlan* const bound_;
  const int phase_;
  const DLTensor* const from_;
  const std::vector<uint32_t> elements_;
  std::vector<int64_t> values_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Step>> MakeBindDimsStep(const CallSite& site) {
  std::vector<uint32_t> elements;
  for (const PlanBind& bind : site.call().binds()) {
    elements.push_back(bind.index());
  }
  return std::make_unique<BindDimsStep>(site.bound, site.next_phase,
                                        site.bound->tensor(site.arg(0)),
                                        std::move(elements));
}

}  // namespace ingot
