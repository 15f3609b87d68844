// Functions that take tensors of known types: what a loader of graphs says of
// each, checks on each call and, for a graph that stands alone, plans.
#ifndef INGOT_RUNTIME_PLAN_CALL_SPEC_H_
#define INGOT_RUNTIME_PLAN_CALL_SPEC_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/c_abi.h"
#include "runtime/data_type.h"
#include "runtime/device.h"
#include "runtime/plan/plan.pb.h"

namespace ingot {

struct TensorSpec {
  DataType dtype;
  std::vector<int64_t> shape;
};

// The arguments of a call: what it reads, then what it writes.
struct CallSpec {
  std::vector<TensorSpec> inputs, outputs;
};

// The elements of each argument. InvalidArgument, with `name` in front, unless
// they are as many tensors as `spec` says, dense, on the device and of its
// types; a tensor without dimensions will also do where one of shape [1] is
// meant.
absl::StatusOr<std::vector<void*>> CheckCall(absl::string_view name,
                                             const CallSpec& spec,
                                             absl::Span<const TVMFFIAny> args,
                                             Device device = Device::Cpu());

// A plan that calls the function `name` once. The model's inputs and outputs,
// called input0, output0 and so on, are those of the call.
Plan PlanOfCall(absl::string_view name, const CallSpec& spec);

}  // namespace ingot

#endif  // INGOT_RUNTIME_PLAN_CALL_SPEC_H_
