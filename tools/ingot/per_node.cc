#include "tools/ingot/per_node.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/status_macros.h"

namespace ingot {
namespace {

std::string Describe(const PlanCall& call, int index) {
  return absl::StrCat("call ", index, ", ", OneLine(call.function()),
                      call.source().empty() ? "" : ", for ",
                      OneLine(call.source()));
}

}  // namespace

absl::Status PerNodeCheck::Observe(const PlanCall& call,
                                   absl::Span<const DLTensor* const> args) {
  const int index = calls_++;
  progress_->Update(absl::StrCat("checking ", Describe(call, index)), 0);
  absl::StatusOr<ReferredCall> referred = reference_.Refer(call, args);
  if (!referred.ok()) {
    return Annotate(referred.status(), Describe(call, index));
  }
  for (size_t i = 0; i < referred->expected.size(); ++i) {
    INGOT_ASSIGN_OR_RETURN(
        Comparison c,
        Compare(referred->got[i], referred->expected[i], tolerance_));
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
