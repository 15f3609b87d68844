// Runs one of two bodies, as a condition says.
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "runtime/executor/body.h"
#include "runtime/executor/elements.h"
#include "runtime/executor/results.h"
#include "runtime/executor/step.h"

namespace ingot {
namespace {

// One of the two, and how values go in and out.
struct Side {
  struct SequenceOutput {
    uint32_t from, to;  // tensors of the body and of the plan around it
    bool moves;
  };

  std::unique_ptr<Frame> body;  // null where it is left out
  std::vector<PassInput> inputs;
  std::vector<const DLTensor*> outputs;
  std::vector<SequenceOutput> sequences;
};

class BranchStep final : public Step {
 public:
  explicit BranchStep(const CallSite& site)
      : bound_(site.bound),
        condition_(site.bound->tensor(site.arg(0))),
        results_(site),
        values_(site.call().num_outputs()) {}

  Side* then_side() { return &sides_[1]; }
  Side* else_side() { return &sides_[0]; }

  absl::Status Run() override {
    const bool condition = IsTrue(*condition_);
    Side& side = sides_[condition ? 1 : 0];
    if (side.body == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("the condition is ", condition ? "true" : "false",
                       ", which is not supported for these shapes"));
    }
    for (const PassInput& input : side.inputs) input.Pass();
    INGOT_RETURN_IF_ERROR(side.body->Run());
    for (size_t i = 0; i < values_.size(); ++i) values_[i] = *side.outputs[i];
    INGOT_RETURN_IF_ERROR(results_.Take(values_));
    for (const Side::SequenceOutput& sequence : side.sequences) {
      PlanSequence* from = side.body->bound().sequence(sequence.from);
      if (sequence.moves) {
        *bound_->sequence(sequence.to) = std::move(*from);
      } else {
        *bound_->sequence(sequence.to) = *from;
      }
    }
    return absl::OkStatus();
  }

  size_t storage_bytes() const override {
    size_t bytes = 0;
    for (const Side& side : sides_) {
      if (side.body != nullptr) bytes += side.body->storage_bytes();
    }
    return bytes;
  }

 private:
  BoundPlan* const bound_;
  const DLTensor* const condition_;
  Side sides_[2];  // else, then
  StepResults results_;
  std::vector<DLTensor> values_;
};

absl::Status Prepare(const CallSite& site, uint32_t body, Side* side) {
  INGOT_ASSIGN_OR_RETURN(std::unique_ptr<Frame> frame, MakeBody(site, body));
  side->body = std::move(frame);
  BoundPlan& inner = side->body->bound();
  const Plan& plan = inner.plan();
  for (int i = 0; i < plan.inputs_size(); ++i) {
    side->inputs.emplace_back(site, 1 + i, side->body.get(), i);
  }
  for (int i = 0; i < plan.outputs_size(); ++i) {
    const uint32_t t = plan.outputs(i);
    side->outputs.push_back(inner.tensor(t));
    if (!inner.is_sequence(t)) continue;
    side->sequences.push_back(
        {t, site.result(i), CanMoveOutput(plan, i, plan.inputs_size())});
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Step>> MakeBranchStep(const CallSite& site) {
  auto step = std::make_unique<BranchStep>(site);
  const PlanBranch& branch = site.call().branch();
  if (branch.has_then_body()) {
    INGOT_RETURN_IF_ERROR(Prepare(site, branch.then_body(), step->then_side()));
  }
  if (branch.has_else_body()) {
    INGOT_RETURN_IF_ERROR(Prepare(site, branch.else_body(), step->else_side()));
  }
  return step;
}

}  // namespace ingot
