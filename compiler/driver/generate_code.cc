#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "compiler/driver/stages.h"

namespace ingot {
namespace {

absl::Status AddTriple(const TargetWork& work, Compilation* c) {
  if (work.kind->triple == nullptr) return absl::OkStatus();
  INGOT_ASSIGN_OR_RETURN(c->needs[work.target.key].triple,
                         work.kind->triple(work.target));
  return absl::OkStatus();
}

}  // namespace

absl::Status GenerateCode(Compilation* c) {
  for (TargetWork& work : c->targets) {
    // The host's part is for its machine, even where that needs no code.
    if (work.functions.empty() && &work != c->host) continue;
    INGOT_RETURN_IF_ERROR(AddTriple(work, c));
    if (work.functions.empty()) continue;
    const absl::Time start = absl::Now();
    c->Progress(absl::StrCat("generating ", work.functions.size(),
                             " kernels for ", work.target.ToString()),
                0.8);
    absl::StatusOr<CodegenResult> result = work.kind->tir_to_runtime(
        work.target, work.functions,
        CodegenOptions{c->symbol_prefix,
                       &work == c->host ? c->main : std::nullopt});
    if (!result.ok()) {
      return Annotate(result.status(),
                      absl::StrCat("target ", work.target.ToString()));
    }
    INGOT_RETURN_IF_ERROR(c->AddResult(work.target, *std::move(result)));
    c->Time(absl::StrCat("codegen ", work.target.kind),
            absl::ToDoubleSeconds(absl::Now() - start));
  }
  return absl::OkStatus();
}

}  // namespace ingot
