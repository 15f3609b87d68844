#include "tools/ingot/call_reference.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "compiler/relay/interpreter/evaluate.h"
#include "compiler/relay/states.h"
#include "runtime/data_type.h"

namespace ingot {
namespace {

// A view of a call's argument.
absl::StatusOr<Tensor> ViewOf(const DLTensor& arg) {
  DataType type;
  type.code = arg.dtype.code;
  type.bits = arg.dtype.bits;
  return Tensor::FromBorrowedReadOnly(
      static_cast<const char*>(arg.data) + arg.byte_offset, type,
      absl::MakeConstSpan(arg.shape, arg.ndim));
}

absl::StatusOr<std::vector<Tensor>> ViewsOf(
    absl::Span<const DLTensor* const> args) {
  std::vector<Tensor> views;
  for (const DLTensor* arg : args) {
    INGOT_ASSIGN_OR_RETURN(Tensor view, ViewOf(*arg));
    views.push_back(std::move(view));
  }
  return views;
}

}  // namespace

absl::StatusOr<ReferredCall> CallReference::Refer(
    const PlanCall& call, absl::Span<const DLTensor* const> args) const {
  const auto found = functions_.find(call.function());
  if (found == functions_.end()) {
    return absl::InternalError("the compiler did not tell its function");
  }
  ReferredCall referred;
  referred.function = module_->Find(found->second);
  // Between the function's inputs and its results may be weights that its
  // target made; after them are workspaces.
  const size_t first_result = args.size() - call.num_outputs();
  INGOT_ASSIGN_OR_RETURN(referred.operands, ViewsOf(args.first(first_result)));
  // A value that a call changed in place is an operand that is told as the
  // result: it is as it was but for what the call, and again the interpreter,
  // writes.
  const int updated = relay::UpdatedInput(*referred.function);
  if (updated >= 0) {
    INGOT_ASSIGN_OR_RETURN(Tensor whole, ViewOf(*args[first_result]));
    referred.operands.insert(referred.operands.begin() + updated,
                             std::move(whole));
  }
  absl::StatusOr<std::vector<Tensor>> expected =
      relay::EvaluateFunction(*module_, *referred.function,
                              absl::MakeConstSpan(referred.operands)
                                  .first(referred.function->inputs.size()));
  if (!expected.ok()) return Annotate(expected.status(), "interpreting");
  referred.expected = *std::move(expected);
  INGOT_ASSIGN_OR_RETURN(
      referred.got,
      ViewsOf(args.subspan(first_result, referred.expected.size())));
  return referred;
}

std::string CallReference::NodesAround(const relay::Function& function) const {
  relay::Sources readers, makers;
  for (const auto& caller : module_->functions()) {
    const auto users = caller->Users();
    for (const auto& node : caller->nodes()) {
      if (node->callee != function.name) continue;
      for (const relay::Value& operand : node->inputs) {
        if (operand.node != nullptr) makers.Add(operand.node->sources);
      }
      const auto found = users.find(node.get());
      if (found == users.end()) continue;
      for (const relay::Node* user : found->second) readers.Add(user->sources);
    }
  }
  return absl::StrJoin(readers.empty() ? makers : readers, ", ");
}

}  // namespace ingot
