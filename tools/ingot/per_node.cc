#include "tools/ingot/per_node.h"

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "compiler/relay/interpreter/evaluate.h"
#include "runtime/data_type.h"

namespace ingot {
namespace {

std::string Describe(const PlanCall& call, int index) {
  return absl::StrCat("call ", index, ", ", OneLine(call.function()),
                      call.source().empty() ? "" : ", for ",
                      OneLine(call.source()));
}

// A view of a call's argument.
absl::StatusOr<Tensor> ViewOf(const DLTensor& arg) {
  DataType type;
  type.code = arg.dtype.code;
  type.bits = arg.dtype.bits;
  return Tensor::FromBorrowedReadOnly(
      static_cast<const char*>(arg.data) + arg.byte_offset, type,
      absl::MakeConstSpan(arg.shape, arg.ndim));
}

}  // namespace

absl::Status PerNodeCheck::Observe(const PlanCall& call,
                                   absl::Span<const DLTensor* const> args) {
  const int index = calls_++;
  progress_->Update(absl::StrCat("checking ", Describe(call, index)), 0);
  auto found = functions_.find(call.function());
  if (found == functions_.end()) {
    return absl::InternalError(absl::StrCat(
        Describe(call, index), ": the compiler did not tell its function"));
  }
  const relay::Function& function = *module_->Find(found->second);
  const size_t num_inputs = function.inputs.size();
  std::vector<Tensor> inputs;
  for (const DLTensor* arg : args.first(num_inputs)) {
    INGOT_ASSIGN_OR_RETURN(Tensor view, ViewOf(*arg));
    inputs.push_back(std::move(view));
  }
  absl::StatusOr<std::vector<Tensor>> expected =
      relay::EvaluateFunction(*module_, function, inputs);
  if (!expected.ok()) {
    return Annotate(expected.status(),
                    absl::StrCat(Describe(call, index), ": interpreting"));
  }
  // Between the function's inputs and its results may be weights that its
  // target made; after them are workspaces.
  const size_t first_result = args.size() - call.num_outputs();
  for (size_t i = 0; i < expected->size(); ++i) {
    INGOT_ASSIGN_OR_RETURN(Tensor got, ViewOf(*args[first_result + i]));
    INGOT_ASSIGN_OR_RETURN(Comparison c,
                           Compare(got, (*expected)[i], tolerance_));
    if (!c.ok()) {
      return absl::DataLossError(absl::StrCat(
          Describe(call, index), ": result ", i, " is wrong: ", c.problem, " (",
          c.mismatches, " of ", c.elements, ")"));
    }
    if (c.max_abs_err > worst_) {
      worst_ = c.max_abs_err;
      worst_call_ = Describe(call, index);
    }
  }
  return absl::OkStatus();
}

}  // namespace ingot
