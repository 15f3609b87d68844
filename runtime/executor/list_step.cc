// A step on lists of tensors.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "runtime/executor/body.h"
#include "runtime/executor/elements.h"
#include "runtime/executor/results.h"
#include "runtime/executor/step.h"
#include "runtime/tensor_list.h"

namespace ingot {
namespace {

absl::Status TooLarge(uint64_t limit) {
  return absl::ResourceExhaustedError(
      absl::StrCat("a list of more than ", limit, " bytes"));
}

// The bytes of all tensors, each counted as often as it is there.
absl::StatusOr<uint64_t> CountBytes(absl::Span<const Tensor> tensors,
                                    uint64_t limit) {
  uint64_t bytes = 0;
  for (const Tensor& tensor : tensors) {
    if (!tensor.defined()) continue;
    if (tensor.bytes() > limit - bytes) return TooLarge(limit);
    bytes += tensor.bytes();
  }
  return bytes;
}

class ListCall final : public Step {
 public:
  explicit ListCall(const CallSite& site)
      : bound_(site.bound),
        max_bytes_(site.context->max_storage_bytes),
        target_(site.result(0)),
        gives_list_(bound_->is_list(target_)),
        rank_(bound_->tensor(target_)->ndim),
        results_(site),
        tensors_(site.num_reads()),
        operands_(site.num_reads()) {
    const PlanListStep& list = site.call().list();
    step_.op = FindListOp(list.op())->op;
    step_.axis = list.axis();
    step_.flag = list.flag();
    step_.dtype =
        bound_->dtype(operands_.empty() || gives_list_ ? target_ : site.arg(0));
    for (int i = 0; i < site.num_reads(); ++i) {
      const uint32_t t = site.arg(i);
      if (bound_->is_list(t)) {
        lists_.push_back(bound_->list(t));
        operands_[i].list = &lists_.back()->list;
        if (IsUpdatedInPlace(site.call(), i)) {
          operands_[i].own = &lists_.back()->list;
        }
      } else {
        sources_.emplace_back(i, bound_->tensor(t));
        operands_[i].tensor = &tensors_[i];
      }
    }
  }

  absl::Status Run() override {
    for (const auto& [i, source] : sources_) {
      INGOT_ASSIGN_OR_RETURN(
          Tensor tensor,
          Tensor::FromBorrowedReadOnly(DataOf(*source), TypeOf(*source),
                                       ShapeOf(*source)));
      tensors_[i] = std::move(tensor);
    }
    // A list is made of copies: one tensor may be many of its elements.
    INGOT_RETURN_IF_ERROR(CountBytes(tensors_, max_bytes_).status());
    uint64_t bytes = lists_.empty() ? 0 : lists_[0]->bytes;
    if (step_.op == ListOp::kInsert) {
      const uint64_t inserted = tensors_[1].bytes();
      if (inserted > max_bytes_ - std::min(max_bytes_, bytes)) {
        return TooLarge(max_bytes_);
      }
      bytes += inserted;
    }
    INGOT_ASSIGN_OR_RETURN(TensorOrList result, RunListStep(step_, operands_));
    if (auto* list = std::get_if<TensorList>(&result)) {
      return TakeList(std::move(*list), bytes);
    }
    const Tensor& tensor = std::get<Tensor>(result);
    // Its dimensions may be what symbols are bound to.
    if (static_cast<int>(tensor.shape().size()) != rank_) {
      return absl::InvalidArgumentError(
          absl::StrCat("the result is ", tensor.TypeString(),
                       ", expected one of ", rank_, " dimensions"));
    }
    return results_.Take({*tensor.dl()});
  }

 private:
  // `bytes` are those of a list that came from another, known without looking
  // at each tensor: one that grows in a loop would be counted at each of its
  // sizes.
  absl::Status TakeList(TensorList list, uint64_t bytes) {
    const bool known = step_.op == ListOp::kInsert ||
                       step_.op == ListOp::kCopy || step_.op == ListOp::kGet;
    if (!known) {
      INGOT_ASSIGN_OR_RETURN(uint64_t counted,
                             CountBytes(list.tensors, max_bytes_));
      bytes = counted;
    }
    PlanList* result = bound_->list(target_);
    result->list = std::move(list);
    result->bytes = bytes;
    return absl::OkStatus();
  }

  BoundPlan* const bound_;
  const uint64_t max_bytes_;
  const uint32_t target_;
  const bool gives_list_;
  const int rank_;
  StepResults results_;
  ListStep step_;
  std::vector<std::pair<int, const DLTensor*>> sources_;  // of tensors_
  std::vector<Tensor> tensors_;   // parallel to operands_
  std::vector<PlanList*> lists_;  // among the operands, in their order
  std::vector<ListOperand> operands_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Step>> MakeListStep(const CallSite& site) {
  return std::make_unique<ListCall>(site);
}

}  // namespace ingot
