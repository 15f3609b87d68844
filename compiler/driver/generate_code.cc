#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "compiler/driver/stages.h"

namespace ingot {

absl::Status GenerateCode(Compilation* c) {
  for (TargetWork& work : c->targets) {
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
