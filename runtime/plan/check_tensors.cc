#include "runtime/plan/check_tensors.h"

#include <algorithm>
#include <cstdint>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/status_macros.h"
#include "runtime/data_type.h"
#include "runtime/plan/check.h"
#include "runtime/plan/dim_expr.h"
#include "runtime/plan/types.h"

namespace ingot {
namespace {

// More dimensions than any model has.
constexpr int kMaxRank = 64;

template <typename... Parts>
absl::Status Bad(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

absl::Status CheckInputIndex(const Plan& plan, const PlanTensor& tensor) {
  if (tensor.input() < static_cast<uint32_t>(plan.inputs_size())) {
    return absl::OkStatus();
  }
  return Bad("it is input ", tensor.input(), " of ", plan.inputs_size());
}

absl::Status CheckList(const Plan& plan, const PlanTensor& sequence) {
  if (PlanTypeOf(plan, sequence).shape_size() > 0 || sequence.offset() != 0) {
    return Bad("it is a sequence, which has no shape");
  }
  switch (sequence.place_case()) {
    case PlanTensor::kInput:
      return CheckInputIndex(plan, sequence);
    case PlanTensor::PLACE_NOT_SET:
      return absl::OkStatus();
    default:
      return Bad("it is a sequence, which has no place");
  }
}

// A view has the elements of a tensor before it, so that each size follows,
// view by view, from one that its place confirms.
absl::Status CheckView(const Plan& plan, int index) {
  const PlanTensor& view = plan.tensors(index);
  if (view.view_of() >= static_cast<uint32_t>(index)) {
    return Bad("it is a view of tensor ", view.view_of(),
               ", which does not come before it");
  }
  const PlanTensor& viewed = plan.tensors(static_cast<int>(view.view_of()));
  if (viewed.is_sequence()) return Bad("it is a view of a sequence");
  const DataType from = CheckedDataType(PlanTypeOf(plan, viewed).dtype());
  const DataType to = CheckedDataType(PlanTypeOf(plan, view).dtype());
  // Code may rely on bools being 0 or 1.
  if (from == to ||
      (from.bits == to.bits && from.lanes == to.lanes && !to.is_bool())) {
    return absl::OkStatus();
  }
  return Bad("it is a view of '", viewed.name(), "', which has another type");
}

// A place confirms that it fits when its size is known.
absl::Status CheckPart(const Plan& plan, int index) {
  const PlanTensor& part = plan.tensors(index);
  if (part.part_of() >= static_cast<uint32_t>(index)) {
    return Bad("it is a part of tensor ", part.part_of(),
               ", which does not come before it");
  }
  const PlanTensor& whole = plan.tensors(static_cast<int>(part.part_of()));
  if (whole.is_sequence()) return Bad("it is a part of a sequence");
  if (CheckedDataType(PlanTypeOf(plan, part).dtype()) ==
      CheckedDataType(PlanTypeOf(plan, whole).dtype())) {
    return absl::OkStatus();
  }
  return Bad("it is a part of '", whole.name(), "', which has another type");
}

bool HasSymbolicShape(const PlanType& type) {
  return std::any_of(type.shape().begin(), type.shape().end(), HasSymbols);
}

absl::Status CheckConstant(const Plan& plan, const PlanTensor& tensor) {
  if (tensor.constant().empty()) return Bad("its constant has no key");
  if (HasSymbolicShape(PlanTypeOf(plan, tensor))) {
    return Bad("it is a constant with a symbolic dimension");
  }
  return absl::OkStatus();
}

absl::Status CheckState(const Plan& plan, const PlanTensor& tensor) {
  if (HasSymbolicShape(PlanTypeOf(plan, tensor))) {
    return Bad("it is a state with a symbolic dimension");
  }
  if (tensor.state() < static_cast<uint32_t>(plan.states_size())) {
    return absl::OkStatus();
  }
  return Bad("it is state ", tensor.state(), " of ", plan.states_size());
}

// Checks the offset of a tensor in storage or of a part.
absl::Status CheckOffset(const Plan& plan, const PlanTensor& tensor) {
  if (tensor.offset() %
          CheckedDataType(PlanTypeOf(plan, tensor).dtype()).bytes() ==
      0) {
    return absl::OkStatus();
  }
  return Bad("its offset ", tensor.offset(),
             " is not a multiple of its element's size");
}

absl::Status CheckPlace(const Plan& plan, int index) {
  const PlanTensor& tensor = plan.tensors(index);
  absl::Status status;
  switch (tensor.place_case()) {
    case PlanTensor::kInput:
      status = CheckInputIndex(plan, tensor);
      break;
    case PlanTensor::kConstant:
      status = CheckConstant(plan, tensor);
      break;
    case PlanTensor::kStorage:
      if (tensor.storage() >= static_cast<uint32_t>(plan.storage_size())) {
        return Bad("it is in storage ", tensor.storage(), " of ",
                   plan.storage_size());
      }
      return CheckOffset(plan, tensor);
    case PlanTensor::kPartOf:
      status = CheckPart(plan, index);
      return status.ok() ? CheckOffset(plan, tensor) : status;
    case PlanTensor::kViewOf:
      status = CheckView(plan, index);
      break;
    case PlanTensor::kState:
      status = CheckState(plan, tensor);
      break;
    case PlanTensor::PLACE_NOT_SET:
      return Bad("it is nowhere");
  }
  if (status.ok() && tensor.offset() != 0) {
    return Bad("it has an offset, but is neither in storage nor a part");
  }
  return status;
}

absl::Status CheckType(const Plan& plan, const PlanType& type) {
  INGOT_RETURN_IF_ERROR(PlanDataType(type.dtype()).status());
  if (type.shape_size() > kMaxRank) {
    return Bad("it has ", type.shape_size(), " dimensions");
  }
  for (const DimExpr& dim : type.shape()) {
    INGOT_RETURN_IF_ERROR(CheckDimExpr(dim, plan.symbols_size()));
  }
  return absl::OkStatus();
}

absl::Status CheckTensor(const Plan& plan, int index) {
  const PlanTensor& tensor = plan.tensors(index);
  if (tensor.type() >= static_cast<uint32_t>(plan.types_size())) {
    return Bad("it is of type ", tensor.type(), " of ", plan.types_size());
  }
  if (tensor.is_sequence()) return CheckList(plan, tensor);
  return CheckPlace(plan, index);
}

}  // namespace

absl::Status CheckTensors(const Plan& plan) {
  for (int i = 0; i < plan.types_size(); ++i) {
    const absl::Status status = CheckType(plan, plan.types(i));
    if (!status.ok()) return Bad("plan: type ", i, ": ", status.message());
  }
  absl::flat_hash_set<absl::string_view> names;
  names.reserve(plan.tensors_size());
  for (int i = 0; i < plan.tensors_size(); ++i) {
    const std::string& name = plan.tensors(i).name();
    if (name.empty()) return Bad("plan: tensor ", i, " has no name");
    if (!names.insert(name).second) {
      return Bad("plan: two tensors are named '", name, "'");
    }
    absl::Status status = CheckTensor(plan, i);
    if (!status.ok()) {
      return Bad("plan: tensor '", name, "': ", status.message());
    }
  }
  return absl::OkStatus();
}

}  // namespace ingot
