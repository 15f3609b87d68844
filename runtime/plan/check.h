#ifndef INGOT_RUNTIME_PLAN_CHECK_H_
#define INGOT_RUNTIME_PLAN_CHECK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/data_type.h"
#include "runtime/plan/plan.pb.h"

namespace ingot {

// The plan version that this build reads and writes.
inline constexpr uint32_t kPlanVersion = 7;

// The kind of a plan's first device.
inline constexpr char kCpuDeviceKind[] = "cpu";

// Checks all of a plan that can be checked without its functions, its constants
// and its symbols' values; a plan that passes can be walked without a further
// look at its indices. For whoever makes a plan as well as for who reads one.
//
//   - the version is kPlanVersion (else Unimplemented) and the devices are as
//     CheckDevices says;
//   - symbols and tensors have names, each once, and symbols bounds that are
//     not negative;
//   - every index is in range, every expression well formed, every type one
//     that a tensor can have;
//   - phases are as CheckPhases (check_phases.h) says: every symbol is bound in
//     one of them, and nothing is said to be known before its symbols are;
//   - inputs[i] is a tensor whose place is input i, and no other's is; the same
//     for states, whose shapes have no symbols. Only a
//     tensor in storage or a part has an offset, which is a multiple of its
//     element's size. A view comes after what it is a view of, and a part after
//     its whole;
//   - a call writes to storage alone, and one of a function to parts of what is
//     there and to states that it does not read as well; what it reads, and
//     what the plan outputs, is an input, a constant, a state or in storage
//     that an earlier call wrote to, and no other value has taken its place
//     (PlanInPlace); the shapes of both are known by then, except that what a
//     branch, a loop or a step on sequences writes may need the symbols that it
//     binds itself;
//   - a sequence has no shape and no place, unless that is an input; only steps
//   on
//     sequences, branches, loops and bodies have one where they take or give
//     one;
//   - a function's arguments are on the device that it runs on, what a copy
//     reads and writes on the CPU and on the copy's device, and everything else
//     on the CPU;
//   - the bodies of branches and loops are sound plans, not too deep, and take
//     and give what the call has, up to dimensions.
//
// InvalidArgument names the tensor, the call or the field.
absl::Status CheckPlan(const Plan& plan);

// The part of it about the list of devices: the first is a CPU, and each other
// one serves a target key of its own. InvalidArgument otherwise.
absl::Status CheckDevices(const Plan& plan);

// The data type of a plan's tensor. InvalidArgument for one that no tensor has.
absl::StatusOr<DataType> PlanDataType(const DataTypeProto& proto);
// The same of a plan that passed CheckPlan.
DataType CheckedDataType(const DataTypeProto& proto);

}  // namespace ingot

#endif  // INGOT_RUNTIME_PLAN_CHECK_H_
