#include "tests/bisect/planted/codegen.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status_macros.h"
#include "tests/bisect/planted/plant.h"
#include "tests/bisect/planted/spoil.h"

namespace ingot::planted {
namespace {

// The kind `name`, as it is registered, under another name.
absl::StatusOr<TargetKind> Copy(absl::string_view name,
                                const TargetRegistry& registry) {
  INGOT_ASSIGN_OR_RETURN(const TargetKind* kind, registry.Find(name));
  TargetKind copy = *kind;
  copy.name = absl::StrCat("planted_", name);
  return copy;
}

// Spoils the loops of a kernel on their way to code, after all passes.
absl::Status RegisterLoops(absl::string_view name, TargetRegistry* registry) {
  INGOT_ASSIGN_OR_RETURN(TargetKind kind, Copy(name, *registry));
  kind.tir_to_runtime = [right = kind.tir_to_runtime](
                            const Target& target,
                            absl::Span<const tir::PrimFunc> functions,
                            const CodegenOptions& options) {
    std::vector<tir::PrimFunc> spoiled;
    for (const tir::PrimFunc& func : functions) {
      const bool is_it = PlantOfThisProcess().Is("code", "-", func.name);
      if (is_it) Tell(func.name);
      spoiled.push_back(is_it ? SpoilStores(func) : func);
    }
    return right(target, spoiled, options);
  };
  return registry->Register(std::move(kind));
}

// Spoils the text of a region: sums become differences.
absl::Status RegisterRegions(TargetRegistry* registry) {
  INGOT_ASSIGN_OR_RETURN(TargetKind kind, Copy("ccompiler", *registry));
  kind.relay_to_runtime =
      [right = kind.relay_to_runtime](
          const Target& target, const relay::Module& module,
          const relay::Function& region,
          absl::string_view symbol) -> absl::StatusOr<CodegenResult> {
    INGOT_ASSIGN_OR_RETURN(CodegenResult result,
                           right(target, module, region, symbol));
    if (!PlantOfThisProcess().Is("code", "-", symbol)) return result;
    Tell(symbol);
    for (Artifact& artifact : result.artifacts) {
      artifact.content = Blob::FromString(absl::StrReplaceAll(
          artifact.content.view(), {{", +, ", ", -, "}, {", *, ", ", +, "}}));
    }
    return result;
  };
  return registry->Register(std::move(kind));
}

}  // namespace

absl::Status RegisterPlantedTarget(TargetRegistry* registry) {
  INGOT_RETURN_IF_ERROR(RegisterLoops("llvm", registry));
  INGOT_RETURN_IF_ERROR(RegisterLoops("c", registry));
  return RegisterRegions(registry);
}

}  // namespace ingot::planted
