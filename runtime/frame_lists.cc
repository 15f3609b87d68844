// Steps on lists.
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/frame.h"
#include "runtime/tensor_list.h"

namespace ingot {
namespace {

// What a tensor of the plan holds now, without a copy.
absl::StatusOr<Tensor> Borrow(const DLTensor& tensor) {
  DataType dtype;
  dtype.code = tensor.dtype.code;
  dtype.bits = tensor.dtype.bits;
  return Tensor::FromBorrowedReadOnly(
      static_cast<const char*>(tensor.data) + tensor.byte_offset, dtype,
      absl::MakeConstSpan(tensor.shape, tensor.ndim));
}

absl::Status CheckBytes(const std::vector<Tensor>& tensors, uint64_t limit) {
  uint64_t left = limit;
  for (const Tensor& tensor : tensors) {
    if (!tensor.defined()) continue;
    if (tensor.bytes() > left) {
      return absl::ResourceExhaustedError(
          absl::StrCat("a list of more than ", limit, " bytes"));
    }
    left -= tensor.bytes();
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Frame::RunList(int index) {
  const PlanCall& call = bound_.plan().calls(index);
  const int reads = call.args_size() - 1;
  const uint32_t target = call.args(reads);
  std::vector<Tensor> tensors(reads);
  std::vector<ListOperand> operands(reads);
  for (int i = 0; i < reads; ++i) {
    if (bound_.is_list(call.args(i))) {
      operands[i].list = &bound_.list(call.args(i));
      continue;
    }
    absl::StatusOr<Tensor> tensor = Borrow(*arg(call, i));
    if (!tensor.ok()) return tensor.status();
    tensors[i] = *std::move(tensor);
    operands[i].tensor = &tensors[i];
  }
  ListStep step;
  step.op = FindListOp(call.list().op())->op;
  step.dtype = bound_.dtype(
      operands.empty() || bound_.is_list(target) ? target : call.args(0));
  step.axis = call.list().axis();
  step.flag = call.list().flag();
  // A list is made of copies: one tensor may be many of its elements.
  absl::Status fits = CheckBytes(tensors, context_->max_storage_bytes);
  if (!fits.ok()) return fits;
  absl::StatusOr<TensorOrList> result = RunListStep(step, operands);
  if (!result.ok()) return result.status();
  if (auto* list = std::get_if<TensorList>(&*result)) {
    absl::Status status =
        CheckBytes(list->tensors, context_->max_storage_bytes);
    if (status.ok()) bound_.SetList(target, std::move(*list));
    return status;
  }
  const Tensor& tensor = std::get<Tensor>(*result);
  // Its dimensions may be what symbols are bound to.
  const int rank = arg(call, reads)->ndim;
  if (static_cast<int>(tensor.shape().size()) != rank) {
    return absl::InvalidArgumentError(
        absl::StrCat("the result is ", tensor.TypeString(),
                     ", expected one of ", rank, " dimensions"));
  }
  return TakeResults(index, {*tensor.dl()});
}

}  // namespace ingot
