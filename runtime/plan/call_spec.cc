#include "runtime/plan/call_spec.h"

#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "runtime/any.h"
#include "runtime/plan/check.h"
#include "runtime/plan/types.h"
#include "runtime/tensor.h"

namespace ingot {
namespace {

bool IsDense(const DLTensor& dl) {
  if (dl.strides == nullptr) return true;
  const auto shape = absl::MakeConstSpan(dl.shape, dl.ndim);
  // No element lies anywhere, and the other extents may be of any size.
  if (absl::c_linear_search(shape, 0)) return true;
  int64_t stride = 1;
  for (int d = dl.ndim; d-- > 0;) {
    if (shape[d] != 1 && dl.strides[d] != stride) return false;
    stride *= shape[d];
  }
  return true;
}

bool Fits(const DLTensor& dl, const TensorSpec& spec, Device device) {
  const bool scalar = dl.ndim == 0 && spec.shape == std::vector<int64_t>{1};
  return Device{dl.device.device_type, dl.device.device_id} == device &&
         dl.dtype.code == spec.dtype.code && dl.dtype.bits == spec.dtype.bits &&
         dl.dtype.lanes == spec.dtype.lanes &&
         (scalar || absl::MakeConstSpan(dl.shape, dl.ndim) ==
                        absl::MakeConstSpan(spec.shape)) &&
         IsDense(dl);
}

DimExpr Constant(int64_t value) {
  DimExpr dim;
  dim.set_value(value);
  return dim;
}

}  // namespace

absl::StatusOr<std::vector<void*>> CheckCall(absl::string_view name,
                                             const CallSpec& spec,
                                             absl::Span<const TVMFFIAny> args,
                                             Device device) {
  const size_t count = spec.inputs.size() + spec.outputs.size();
  if (args.size() != count) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " takes ", count, " arguments, not ", args.size()));
  }
  std::vector<void*> elements;
  for (size_t i = 0; i < count; ++i) {
    const TensorSpec& type = i < spec.inputs.size()
                                 ? spec.inputs[i]
                                 : spec.outputs[i - spec.inputs.size()];
    absl::StatusOr<DLTensor*> tensor = AnyToTensor(args[i]);
    if (!tensor.ok() || !Fits(**tensor, type, device)) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, ": argument ", i, " must be a dense ",
                       device.is_cpu() ? "CPU" : device.ToString(), " tensor ",
                       TypeString(type.dtype, type.shape)));
    }
    elements.push_back(static_cast<char*>((*tensor)->data) +
                       (*tensor)->byte_offset);
  }
  return elements;
}

Plan PlanOfCall(absl::string_view name, const CallSpec& spec) {
  Plan plan;
  plan.set_version(kPlanVersion);
  plan.set_entry(std::string(name));
  plan.add_devices()->set_kind(kCpuDeviceKind);
  plan.add_phases();
  PlanCall* call = plan.add_calls();
  call->set_function(std::string(name));
  call->set_num_outputs(static_cast<uint32_t>(spec.outputs.size()));
  PlanTypeList types(&plan);
  const auto add = [&](const TensorSpec& type, const std::string& tensor_name) {
    call->add_args(static_cast<uint32_t>(plan.tensors_size()));
    PlanType plan_type;
    plan_type.mutable_dtype()->set_code(type.dtype.code);
    plan_type.mutable_dtype()->set_bits(type.dtype.bits);
    for (int64_t dim : type.shape) *plan_type.add_shape() = Constant(dim);
    PlanTensor* tensor = plan.add_tensors();
    tensor->set_name(tensor_name);
    tensor->set_type(types.Add(plan_type));
    return tensor;
  };
  for (const TensorSpec& type : spec.inputs) {
    const uint32_t index = static_cast<uint32_t>(plan.inputs_size());
    plan.add_inputs(static_cast<uint32_t>(plan.tensors_size()));
    add(type, absl::StrCat("input", index))->set_input(index);
  }
  for (const TensorSpec& type : spec.outputs) {
    const uint32_t index = static_cast<uint32_t>(plan.outputs_size());
    plan.add_outputs(static_cast<uint32_t>(plan.tensors_size()));
    add(type, absl::StrCat("output", index))->set_storage(index);
    // A size that does not fit into an int64 is refused when the plan is
    // checked.
    const absl::StatusOr<size_t> bytes = CountBytes(type.dtype, type.shape);
    *plan.add_storage()->add_bytes() =
        Constant(bytes.ok() ? static_cast<int64_t>(*bytes) : -1);
  }
  return plan;
}

}  // namespace ingot
