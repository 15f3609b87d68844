#include "runtime/executor/body.h"

#include <utility>

#include "base/status_macros.h"

namespace ingot {

absl::StatusOr<std::unique_ptr<Frame>> MakeBody(const CallSite& site,
                                                uint32_t body) {
  auto frame = std::make_unique<Frame>(site.context, /*keeps_outputs=*/false);
  INGOT_RETURN_IF_ERROR(frame->Init(site.plan.bodies(static_cast<int>(body))));
  return frame;
}

PassInput::PassInput(const CallSite& site, int operand, Frame* body, int input)
    : from_(site.bound),
      tensor_(site.arg(operand)),
      body_(&body->bound()),
      input_(input),
      is_sequence_(from_->is_sequence(tensor_)),
      moves_(IsUpdatedInPlace(site.call(), operand)) {}

void PassInput::Pass() const {
  if (!is_sequence_) {
    body_->SetInputView(input_, *from_->tensor(tensor_));
  } else if (moves_) {
    body_->SetInputSequence(input_, std::move(*from_->sequence(tensor_)));
  } else {
    body_->SetInputSequence(input_, *from_->sequence(tensor_));
  }
}

bool CanMoveOutput(const Plan& body, int output, int staying) {
  const uint32_t t = body.outputs(output);
  for (int i = 0; i < body.outputs_size(); ++i) {
    if (i != output && body.outputs(i) == t) return false;
  }
  const PlanTensor& tensor = body.tensors(static_cast<int>(t));
  return !tensor.has_input() || tensor.input() < static_cast<uint32_t>(staying);
}

bool IsUpdatedInPlace(const PlanCall& call, int operand) {
  for (const PlanInPlace& pair : call.in_place()) {
    if (pair.operand() == static_cast<uint32_t>(operand)) return true;
  }
  return false;
}

}  // namespace ingot
