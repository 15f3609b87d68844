#include "compiler/tir/passes/pass.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/passes/passes.h"
#include "compiler/tir/verifier.h"

namespace ingot::tir {

PassRegistry PassRegistry::Builtin() {
  PassRegistry registry;
  registry.passes_ = {
      {"simplify", "fold expressions, decide ifs, drop loops of one trip",
       [](const PrimFunc& func) -> absl::StatusOr<PrimFunc> {
         return Simplify(func);
       }},
      {"unroll_loops", "copy the bodies of unrolled loops", UnrollLoops},
      {"vectorize_loops", "turn vectorized loops into vector code",
       VectorizeLoops},
      {"plan_workspaces", "make allocated workspaces parameters, shared ones",
       PlanWorkspaces},
  };
  return registry;
}

absl::Status PassRegistry::Add(Pass pass) {
  for (const Pass& known : passes_) {
    if (known.name == pass.name) {
      return absl::AlreadyExistsError(
          absl::StrCat("a tir pass '", pass.name, "' exists already"));
    }
  }
  passes_.push_back(std::move(pass));
  return absl::OkStatus();
}

absl::StatusOr<Pass> PassRegistry::Find(absl::string_view name) const {
  for (const Pass& pass : passes_) {
    if (pass.name == name) return pass;
  }
  return absl::NotFoundError(absl::StrCat(
      "no tir pass '", name, "'; known: ",
      absl::StrJoin(passes_, ", ", [](std::string* out, const Pass& pass) {
        out->append(pass.name);
      })));
}

absl::StatusOr<PrimFunc> RunPasses(const PrimFunc& func,
                                   absl::Span<const Pass> passes,
                                   const PassHooks& hooks) {
  PrimFunc current = func;
  for (const Pass& pass : passes) {
    const absl::Time start = absl::Now();
    absl::StatusOr<PrimFunc> result = pass.run(current);
    const double seconds = absl::ToDoubleSeconds(absl::Now() - start);
    if (!result.ok()) {
      return absl::Status(
          result.status().code(),
          absl::StrCat("tir pass ", pass.name, " on @", func.name, ": ",
                       result.status().message()));
    }
    if (absl::Status status = Verify(*result); !status.ok()) {
      return absl::InternalError(
          absl::StrCat("after tir pass ", pass.name, ": ", status.message()));
    }
    const bool changed = result->body != current.body ||
                         result->params != current.params ||
                         result->attrs != current.attrs;
    current = *std::move(result);
    if (hooks.after_pass != nullptr) {
      hooks.after_pass(pass, current, changed, seconds);
    }
  }
  return current;
}

absl::StatusOr<PrimFunc> RunPasses(const PrimFunc& func,
                                   absl::Span<const absl::string_view> names,
                                   const PassHooks& hooks) {
  const PassRegistry registry = PassRegistry::Builtin();
  std::vector<Pass> passes;
  for (absl::string_view name : names) {
    absl::StatusOr<Pass> pass = registry.Find(name);
    if (!pass.ok()) return pass.status();
    passes.push_back(*std::move(pass));
  }
  return RunPasses(func, passes, hooks);
}

}  // namespace ingot::tir
