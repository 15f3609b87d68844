// Runs a body again and again.
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "runtime/executor/body.h"
#include "runtime/executor/carried.h"
#include "runtime/executor/elements.h"
#include "runtime/executor/results.h"
#include "runtime/executor/stacked.h"
#include "runtime/executor/step.h"

namespace ingot {
namespace {

class LoopStep final : public Step {
 public:
  LoopStep(const CallSite& site, int first, std::unique_ptr<Frame> body,
           CarriedValues carried)
      : context_(site.context),
        body_(std::move(body)),
        number_(*body_->bound().tensor(body_->bound().plan().inputs(0))),
        goes_on_(body_->bound().tensor(body_->bound().plan().outputs(0))),
        carried_(std::move(carried)),
        results_(site) {
    const PlanLoop& loop = site.call().loop();
    if (loop.has_max_iterations()) {
      max_iterations_ = site.bound->tensor(site.arg(0));
    }
    if (loop.has_condition()) {
      condition_ = site.bound->tensor(site.arg(first - 1));
    }
    const int count = static_cast<int>(loop.carried());
    for (int i = first + count; i < site.num_reads(); ++i) {
      staying_.emplace_back(site, i, body_.get(), 1 + i - first);
    }
    const Plan& plan = body_->bound().plan();
    for (int i = count; i < static_cast<int>(site.call().num_outputs()); ++i) {
      stacked_.emplace_back(site, i,
                            body_->bound().tensor(plan.outputs(1 + i)));
    }
    number_.data = &iteration_;
    number_.byte_offset = 0;
  }

  absl::Status Run() override {
    for (const PassInput& input : staying_) input.Pass();
    carried_.Start();
    for (StackedValues& stacked : stacked_) stacked.Clear();
    const int64_t most = max_iterations_ == nullptr
                             ? std::numeric_limits<int64_t>::max()
                             : ElementOf(*max_iterations_, 0);
    bool goes_on = condition_ == nullptr || IsTrue(*condition_);
    for (iteration_ = 0; goes_on && iteration_ < most; ++iteration_) {
      INGOT_RETURN_IF_ERROR(RunIteration());
      goes_on = IsTrue(*goes_on_);
      for (StackedValues& stacked : stacked_) {
        INGOT_RETURN_IF_ERROR(stacked.Add(iteration_));
      }
      // The body's memory is used again from here on.
      INGOT_RETURN_IF_ERROR(carried_.Take());
    }
    values_.clear();
    carried_.Finish(&values_);
    for (StackedValues& stacked : stacked_) {
      values_.push_back(stacked.Whole(iteration_));
    }
    return results_.Take(values_);
  }

  size_t storage_bytes() const override {
    return body_->storage_bytes() + carried_.storage_bytes();
  }

 private:
  absl::Status RunIteration() {
    if (++context_->iterations > context_->max_iterations) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "iteration ", iteration_, ": the loops of this run go on after ",
          context_->max_iterations, " iterations, the limit"));
    }
    body_->bound().SetInputView(0, number_);
    carried_.Pass();
    absl::Status status = body_->Run();
    if (status.ok()) return status;
    return Annotate(status, absl::StrCat("iteration ", iteration_));
  }

  FrameContext* const context_;
  const std::unique_ptr<Frame> body_;
  const DLTensor* max_iterations_ = nullptr;  // null: no limit
  const DLTensor* condition_ = nullptr;       // null: true
  DLTensor number_;                           // of the iteration
  int64_t iteration_ = 0;
  const DLTensor* const goes_on_;
  CarriedValues carried_;
  std::vector<PassInput> staying_;
  std::vector<StackedValues> stacked_;
  StepResults results_;
  std::vector<DLTensor> values_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Step>> MakeLoopStep(const CallSite& site) {
  const PlanLoop& loop = site.call().loop();
  const int first =
      (loop.has_max_iterations() ? 1 : 0) + (loop.has_condition() ? 1 : 0);
  INGOT_ASSIGN_OR_RETURN(std::unique_ptr<Frame> body,
                         MakeBody(site, loop.body()));
  INGOT_ASSIGN_OR_RETURN(CarriedValues carried,
                         CarriedValues::Make(site, first, body.get()));
  return std::make_unique<LoopStep>(site, first, std::move(body),
                                    std::move(carried));
}

}  // namespace ingot
