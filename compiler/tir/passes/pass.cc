#include "compiler/tir/passes/pass.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "compiler/tir/passes/passes.h"
#include "compiler/tir/verifier.h"

namespace ingot::tir {
namespace {

// Expressions and statements are immutable, so that another result means
// another body.
bool Differ(const PrimFunc& a, const PrimFunc& b) {
  return a.body != b.body || a.params != b.params || a.attrs != b.attrs;
}

}  // namespace

const std::vector<Pass>& AllPasses() {
  static const auto* const kAll = [] {
    auto* all = new std::vector<Pass>;
    for (const PassRow& row : kPasses) {
      all->push_back({row.name, row.doc,
                      [run = row.run](PrimFunc* func) -> absl::StatusOr<bool> {
                        INGOT_ASSIGN_OR_RETURN(PrimFunc result, run(*func));
                        const bool changed = Differ(result, *func);
                        *func = std::move(result);
                        return changed;
                      }});
    }
    return all;
  }();
  return *kAll;
}

absl::StatusOr<PrimFunc> RunPasses(const PrimFunc& func,
                                   absl::Span<const absl::string_view> names,
                                   const PassOptions& options) {
  INGOT_ASSIGN_OR_RETURN(const std::vector<const Pass*> passes,
                         FindPasses(AllPasses(), names));
  PrimFunc result = func;
  const absl::Status status =
      ingot::RunPasses(absl::MakeConstSpan(passes), &Verify, options, &result);
  if (!status.ok()) {
    return Annotate(status, absl::StrCat("func @", func.name));
  }
  return result;
}

}  // namespace ingot::tir
