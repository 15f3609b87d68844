#include "runtime/executor/stacked.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "runtime/executor/elements.h"
#include "runtime/plan/types.h"
#include "runtime/tensor.h"

namespace ingot {

StackedValues::StackedValues(const CallSite& site, int result,
                             const DLTensor* value)
    : bound_(site.bound),
      result_(result),
      tensor_(site.result(result)),
      next_phase_(site.next_phase),
      max_bytes_(site.context->max_storage_bytes),
      value_(value) {}

void StackedValues::Clear() {
  dims_.clear();
  elements_.clear();
}

absl::Status StackedValues::Add(int64_t iteration) {
  const auto shape = ShapeOf(*value_);
  if (dims_.empty()) {
    dims_.push_back(0);
    dims_.insert(dims_.end(), shape.begin(), shape.end());
  }
  const auto known = absl::MakeConstSpan(dims_).subspan(1);
  if (known != shape) {
    return absl::InvalidArgumentError(absl::StrCat(
        "iteration ", iteration, " gives ", TypeString(TypeOf(*value_), shape),
        ", those before gave ", TypeString(TypeOf(*value_), known)));
  }
  const size_t bytes = BytesOf(*value_);
  if (bytes > max_bytes_ - elements_.size()) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "result ", result_, " has more than ", max_bytes_, " bytes"));
  }
  const auto* data = static_cast<const char*>(DataOf(*value_));
  elements_.insert(elements_.end(), data, data + bytes);
  return absl::OkStatus();
}

DLTensor StackedValues::Whole(int64_t iterations) {
  if (iterations == 0) {
    dims_.clear();
    for (const DimExpr& dim : PlanTypeOf(bound_->plan(), tensor_).shape()) {
      dims_.push_back(bound_->DimBefore(next_phase_, dim));
    }
  }
  dims_[0] = iterations;
  DLTensor whole = *value_;
  whole.ndim = static_cast<int32_t>(dims_.size());
  whole.shape = dims_.data();
  whole.strides = nullptr;
  whole.byte_offset = 0;
  whole.data = elements_.data();
  return whole;
}

}  // namespace ingot
