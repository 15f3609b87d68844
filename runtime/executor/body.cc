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
      is_list_(from_->is_list(tensor_)),
      moves_(IsUpdatedInPlace(site.call(), operand)) {}

void PassInput::Pass() const {
  if (!is_list_) {
    body_->SetInputView(input_, *from_->tensor(tensor_));
  } else if (moves_) {
    body_->SetInputList(input_, std::move(*from_->list(tensor_)));
  } else {
    body_->SetInputList(input_, *from_->list(tensor_));
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
