#ifndef INGOT_RUNTIME_PLAN_CHECK_H_
#define INGOT_RUNTIME_PLAN_CHECK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/data_type.h"
#include "runtime/plan.pb.h"

namespace ingot {

// The plan version that this build reads and writes.
inline constexpr uint32_t kPlanVersion = 1;

// Checks all of a plan that can be checked without its functions, its constants
// and its symbols' values; a plan that passes can be walked without a further
// look at its indices. For whoever makes a plan as well as for who reads one.
//
//   - the version is kPlanVersion (else Unimplemented);
//   - symbols and tensors have names, each once; every symbol is by itself a
//     dimension of some input;
//   - every index is in range, every expression well formed, every type one
//     that a tensor can have;
//   - inputs[i] is a tensor whose place is input i; other tensors in the same
//     place are views of it. Only a tensor in storage has an offset, which is a
//     multiple of its element's size;
//   - a call has a function and writes to storage alone; what it reads, and
//   what
//     the plan outputs, is an input, a constant or in storage that an earlier
//     call wrote to.
//
// InvalidArgument names the tensor, the call or the field.
absl::Status CheckPlan(const Plan& plan);

// The data type of a plan's tensor. InvalidArgument for one that no tensor has.
absl::StatusOr<DataType> PlanDataType(const DataTypeProto& proto);

}  // namespace ingot

#endif  // INGOT_RUNTIME_PLAN_CHECK_H_
