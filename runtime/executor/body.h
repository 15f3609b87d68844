#ifndef INGOT_RUNTIME_EXECUTOR_BODY_H_
#define INGOT_RUNTIME_EXECUTOR_BODY_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/executor/frame.h"
#include "runtime/executor/step.h"

namespace ingot {

// A frame for body `body` of the call's plan.
absl::StatusOr<std::unique_ptr<Frame>> MakeBody(const CallSite& site,
                                                uint32_t body);

// Passes the value of an operand to a body, without copying elements.
class PassInput {
 public:
  // Operand `operand` of the call becomes input `input` of `body`.
  PassInput(const CallSite& site, int operand, Frame* body, int input);

  // A sequence whose place a result takes moves there.
  void Pass() const;

 private:
  BoundPlan* const from_;
  const uint32_t tensor_;
  BoundPlan* const body_;
  const int input_;
  const bool is_sequence_;
  const bool moves_;
};

// Whether output `output` of a body is a sequence that the body does not need
// any more, so that it can be moved out: no other output is the same sequence,
// and no input from `staying` on, which is passed once for several runs.
bool CanMoveOutput(const Plan& body, int output, int staying);

// Whether a result takes the place of this operand.
bool IsUpdatedInPlace(const PlanCall& call, int operand);

}  // namespace ingot

#endif  // INGOT_RUNTIME_EXECUTOR_BODY_H_
