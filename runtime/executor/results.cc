#include "runtime/executor/results.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "runtime/executor/elements.h"
#include "runtime/tensor.h"

namespace ingot {

StepResults::StepResults(const CallSite& site)
    : bound_(site.bound), phase_(site.next_phase) {
  for (const PlanBind& bind : site.call().binds()) {
    binds_.push_back({bind.output(), bind.index()});
  }
  bound_values_.resize(binds_.size());
  for (uint32_t i = 0; i < site.call().num_outputs(); ++i) {
    const uint32_t t = site.result(static_cast<int>(i));
    results_.push_back(bound_->is_sequence(t) ? nullptr : bound_->tensor(t));
  }
}

absl::Status StepResults::Take(absl::Span<const DLTensor> values) {
  if (!binds_.empty()) {
    for (size_t i = 0; i < binds_.size(); ++i) {
      bound_values_[i] = values[binds_[i].output].shape[binds_[i].dim];
    }
    INGOT_RETURN_IF_ERROR(bound_->BindPhase(phase_, bound_values_));
  }
  for (size_t i = 0; i < results_.size(); ++i) {
    if (results_[i] == nullptr) continue;
    const DLTensor& to = *results_[i];
    const DLTensor& from = values[i];
    if (ShapeOf(to) != ShapeOf(from)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "result ", i, " is ", TypeString(TypeOf(from), ShapeOf(from)),
          ", expected ", TypeString(TypeOf(to), ShapeOf(to))));
    }
    const size_t bytes = BytesOf(from);
    // A value that a loop did not change may be in the result's place already.
    if (bytes == 0 || to.data == DataOf(from)) continue;
    std::memcpy(to.data, DataOf(from), bytes);
  }
  return absl::OkStatus();
}

}  // namespace ingot
