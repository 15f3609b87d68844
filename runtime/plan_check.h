#ifndef INGOT_RUNTIME_PLAN_CHECK_H_
#define INGOT_RUNTIME_PLAN_CHECK_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/data_type.h"
#include "runtime/plan.pb.h"

namespace ingot {

// The plan version that this build reads and writes.
inline constexpr uint32_t kPlanVersion = 3;

// Checks all of a plan that can be checked without its functions, its constants
// and its symbols' values; a plan that passes can be walked without a further
// look at its indices. For whoever makes a plan as well as for who reads one.
//
//   - the version is kPlanVersion (else Unimplemented);
//   - symbols and tensors have names, each once; every symbol is by itself a
//     dimension of some input, or is bound by one call;
//   - every index is in range, every expression well formed, every type one
//     that a tensor can have;
//   - inputs[i] is a tensor whose place is input i; other tensors in the same
//     place are views of it. Only a tensor in storage has an offset, which is a
//     multiple of its element's size. A tensor that must have as many bytes as
//     another comes after it;
//   - a call writes to storage alone; what it reads, and what the plan outputs,
//     is an input, a constant or in storage that an earlier call wrote to; the
//     symbols in the shapes and sizes of both are bound by then, except that
//     what a branch, a loop or a step on lists writes may need those that it
//     binds itself;
//   - a list has no shape and no place, unless that is an input; only steps on
//     lists, branches, loops and bodies have one where they take or give one;
//   - the bodies of branches and loops are sound plans, not too deep, and take
//     and give what the call has, up to dimensions.
//
// InvalidArgument names the tensor, the call or the field.
absl::Status CheckPlan(const Plan& plan);

// When things are known. Phase 0: when the inputs' shapes are; phase p: when
// the p-th of the calls that bind symbols has been made.
struct PlanPhases {
  int count = 1;
  std::vector<int> symbols, storages;
  // The phase of each tensor: that of its shape and place, and of the tensors
  // that it must be as large as.
  std::vector<int> tensors;
  std::vector<int> requirements;
  std::vector<int> calls;  // the phase that begins behind the call, or 0
};

// The phases of a plan all of whose indices are in range.
PlanPhases FindPhases(const Plan& plan);

// The data type of a plan's tensor. InvalidArgument for one that no tensor has.
absl::StatusOr<DataType> PlanDataType(const DataTypeProto& proto);

}  // namespace ingot

#endif  // INGOT_RUNTIME_PLAN_CHECK_H_
