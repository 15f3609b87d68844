#include "loaders/function_loader.h"

#include <memory>
#include <utility>
#include <vector>

#include "base/annotate.h"
#include "runtime/plan/shared_plan.h"

namespace ingot {

LoadedFunction CheckedFunction(
    std::string name, CallSpec spec,
    std::function<absl::Status(absl::Span<void* const> tensors)> run,
    Device device) {
  Function function =
      Function::FromLambda([name, spec, run = std::move(run), device](
                               absl::Span<const TVMFFIAny> args, TVMFFIAny*) {
        absl::StatusOr<std::vector<void*>> tensors =
            CheckCall(name, spec, args, device);
        return tensors.ok() ? run(*tensors) : tensors.status();
      });
  return {std::move(name), std::move(function), std::move(spec)};
}

absl::StatusOr<std::shared_ptr<Module>> LoadFunctions(
    absl::string_view kind, absl::Span<const Artifact> group,
    LoadContext& context, const LoadFunctionFn& load) {
  auto module = std::make_shared<TableModule>(kind);
  for (const Artifact& artifact : group) {
    absl::StatusOr<LoadedFunction> loaded = load(artifact, context);
    absl::Status status = loaded.status();
    if (status.ok()) status = module->Add(loaded->name, loaded->function);
    if (!status.ok()) {
      return Annotate(status, artifact.file_name);
    }
    if (context.set.artifacts().size() == 1 && loaded->spec.has_value()) {
      context.plan = SharePlan(PlanOfCall(loaded->name, *loaded->spec));
    }
  }
  return module;
}

absl::Status RegisterFunctionLoader(absl::string_view name, LoadFunctionFn load,
                                    LoaderRegistry* registry) {
  return registry->Register(
      name, [kind = std::string(name), load = std::move(load)](
                absl::Span<const Artifact> group, LoadContext& context) {
        return LoadFunctions(kind, group, context, load);
      });
}

}  // namespace ingot
