#ifndef INGOT_RUNTIME_EXECUTOR_CARRIED_H_
#define INGOT_RUNTIME_EXECUTOR_CARRIED_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "runtime/c_abi.h"
#include "runtime/executor/frame.h"
#include "runtime/executor/step.h"
#include "runtime/plan/arena.h"

namespace ingot {

// The values that a loop carries from iteration to iteration.
//
// The body reads them where the iteration before left them. What its calls
// write has two buffers, so that an iteration never writes where it reads, and
// nothing is copied. What the body only passes on stays where it is; it is
// copied only when it was a carried value in another position, or the number of
// the iteration, whose memory the next iteration uses again. Sequences move.
class CarriedValues {
 public:
  // The values of the loop at `site`, whose operands begin at `first`; `body`
  // outlives this.
  static absl::StatusOr<CarriedValues> Make(const CallSite& site, int first,
                                            Frame* body);

  // Takes the operands' values, with which the loop begins.
  void Start();
  // Makes them inputs of the body.
  void Pass();
  // Takes the body's outputs.
  absl::Status Take();
  // Gives tensors in `values`, sequences to the call's results.
  void Finish(std::vector<DLTensor>* values);

  size_t storage_bytes() const;

 private:
  struct Value {
    uint32_t operand, result;  // tensors of the plan around the loop
    uint32_t output;           // of the body
    bool is_sequence = false;
    bool moves_operand = false, moves_output = false;  // sequences
    bool is_copied = false;

    DLTensor now = {};
    PlanSequence sequence;
    Arena copies[2];
    int current = 0;
  };

  CarriedValues(BoundPlan* outer, BoundPlan* body)
      : outer_(outer), body_(body) {}

  BoundPlan* outer_;
  BoundPlan* body_;
  std::vector<Value> values_;
  std::vector<int> switched_;  // two buffers of the body's, each once
};

}  // namespace ingot

#endif  // INGOT_RUNTIME_EXECUTOR_CARRIED_H_
