#include "tools/ingot/bisect_kernels.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/status_macros.h"

namespace ingot {
namespace {

absl::StatusOr<std::vector<Tensor>> CopiesOf(absl::Span<const Tensor> views) {
  std::vector<Tensor> copies;
  for (const Tensor& view : views) {
    INGOT_ASSIGN_OR_RETURN(Tensor copy, view.Clone());
    copies.push_back(std::move(copy));
  }
  return copies;
}

}  // namespace

absl::Status KernelRepair::Observe(const PlanCall& call,
                                   absl::Span<const DLTensor* const> args) {
  if (!only_.empty() && only_.count(call.function()) == 0) {
    return absl::OkStatus();
  }
  progress_->Update(absl::StrCat("checking ", OneLine(call.function())), 0.5);
  absl::StatusOr<ReferredCall> referred = reference_.Refer(call, args);
  if (!referred.ok()) {
    return Annotate(referred.status(), OneLine(call.function()));
  }
  for (size_t i = 0; i < referred->expected.size(); ++i) {
    const Tensor& expected = referred->expected[i];
    INGOT_ASSIGN_OR_RETURN(Comparison c,
                           Compare(referred->got[i], expected, tolerance_));
    if (c.ok()) continue;
    if (known_.insert(call.function()).second) {
      INGOT_RETURN_IF_ERROR(Remember(call, *referred, std::move(c)));
    }
    const DLTensor& result = *args[args.size() - call.num_outputs() + i];
    memcpy(static_cast<char*>(result.data) + result.byte_offset,
           expected.raw_data(), expected.bytes());
  }
  return absl::OkStatus();
}

absl::Status KernelRepair::Remember(const PlanCall& call,
                                    const ReferredCall& referred,
                                    Comparison comparison) {
  WrongKernel kernel;
  kernel.symbol = call.function();
  kernel.nodes = call.source();
  kernel.is_between_nodes = kernel.nodes.empty();
  if (kernel.is_between_nodes) {
    kernel.nodes = reference_.NodesAround(*referred.function);
  }
  INGOT_ASSIGN_OR_RETURN(kernel.operands, CopiesOf(referred.operands));
  kernel.expected = referred.expected;
  kernel.comparison = std::move(comparison);
  wrong_.push_back(std::move(kernel));
  return absl::OkStatus();
}

absl::StatusOr<const WrongKernel*> FindGuilty(
    absl::Span<const WrongKernel> wrong,
    const std::function<absl::StatusOr<bool>(std::set<std::string> repaired)>&
        is_right) {
  // With the first `right` of them as they are and the others repaired the
  // results are right, with the first `bad` they are not.
  size_t right = 0, bad = wrong.size();
  while (bad - right > 1) {
    const size_t middle = right + (bad - right) / 2;
    std::set<std::string> repaired;
    for (const WrongKernel& kernel : wrong.subspan(middle)) {
      repaired.insert(kernel.symbol);
    }
    INGOT_ASSIGN_OR_RETURN(const bool is, is_right(std::move(repaired)));
    (is ? right : bad) = middle;
  }
  return &wrong[bad - 1];
}

}  // namespace ingot
