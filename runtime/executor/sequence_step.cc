// A step on sequences of tensors.
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
#include "runtime/tensor_sequence.h"

namespace ingot {
namespace {

absl::Status TooLarge(uint64_t limit) {
  return absl::ResourceExhaustedError(
      absl::StrCat("a sequence of more than ", limit, " bytes"));
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

class SequenceCall final : public Step {
 public:
  explicit SequenceCall(const CallSite& site)
      : bound_(site.bound),
        max_bytes_(site.context->max_storage_bytes),
        target_(site.result(0)),
        gives_sequence_(bound_->is_sequence(target_)),
        rank_(bound_->tensor(target_)->ndim),
        results_(site),
        tensors_(site.num_reads()),
        operands_(site.num_reads()) {
    const PlanSequenceStep& sequence = site.call().sequence();
    step_.op = FindSequenceOp(sequence.op())->op;
    step_.axis = sequence.axis();
    step_.flag = sequence.flag();
    step_.dtype = bound_->dtype(
        operands_.empty() || gives_sequence_ ? target_ : site.arg(0));
    for (int i = 0; i < site.num_reads(); ++i) {
      const uint32_t t = site.arg(i);
      if (bound_->is_sequence(t)) {
        sequences_.push_back(bound_->sequence(t));
        operands_[i].sequence = &sequences_.back()->sequence;
        if (IsUpdatedInPlace(site.call(), i)) {
          operands_[i].own = &sequences_.back()->sequence;
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
    // A sequence is made of copies: one tensor may be many of its elements.
    INGOT_RETURN_IF_ERROR(CountBytes(tensors_, max_bytes_).status());
    uint64_t bytes = sequences_.empty() ? 0 : sequences_[0]->bytes;
    if (step_.op == SequenceOp::kInsert) {
      const uint64_t inserted = tensors_[1].bytes();
      if (inserted > max_bytes_ - std::min(max_bytes_, bytes)) {
        return TooLarge(max_bytes_);
      }
      bytes += inserted;
    }
    INGOT_ASSIGN_OR_RETURN(TensorOrSequence result,
                           RunSequenceStep(step_, operands_));
    if (auto* sequence = std::get_if<TensorSequence>(&result)) {
      return TakeSequence(std::move(*sequence), bytes);
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
  // `bytes` are those of a sequence that came from another, known without
  // looking at each tensor: one that grows in a loop would be counted at each
  // of its sizes.
  absl::Status TakeSequence(TensorSequence sequence, uint64_t bytes) {
    const bool known = step_.op == SequenceOp::kInsert ||
                       step_.op == SequenceOp::kCopy ||
                       step_.op == SequenceOp::kGet;
    if (!known) {
      INGOT_ASSIGN_OR_RETURN(uint64_t counted,
                             CountBytes(sequence.tensors, max_bytes_));
      bytes = counted;
    }
    PlanSequence* result = bound_->sequence(target_);
    result->sequence = std::move(sequence);
    result->bytes = bytes;
    return absl::OkStatus();
  }

  BoundPlan* const bound_;
  const uint64_t max_bytes_;
  const uint32_t target_;
  const bool gives_sequence_;
  const int rank_;
  StepResults results_;
  SequenceStep step_;
  std::vector<std::pair<int, const DLTensor*>> sources_;  // of tensors_
  std::vector<Tensor> tensors_;           // parallel to operands_
  std::vector<PlanSequence*> sequences_;  // among the operands, in their order
  std::vector<SequenceOperand> operands_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Step>> MakeSequenceStep(const CallSite& site) {
  return std::make_unique<SequenceCall>(site);
}

}  // namespace ingot
