#include "compiler/driver/compile.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "compiler/driver/compilation.h"
#include "compiler/driver/module_passes.h"
#include "compiler/driver/placement.h"
#include "compiler/driver/stages.h"

namespace ingot {
namespace {

// The stages that decide which target takes what.
absl::StatusOr<Placement> Place(Compilation* compilation) {
  INGOT_RETURN_IF_ERROR(ChooseTargets(compilation));
  INGOT_RETURN_IF_ERROR(CheckPins(compilation));
  INGOT_RETURN_IF_ERROR(OptimizeModule(compilation));
  return PlaceNodes(compilation);
}

}  // namespace

absl::StatusOr<ReadModel> ReadModelToCompile(absl::string_view path,
                                             const FrontendRegistry& frontends,
                                             const CompileOptions& options) {
  if (options.on_progress != nullptr) options.on_progress("importing", 0);
  const absl::Time start = absl::Now();
  ImportOptions import;
  import.input_shapes = options.input_shapes;
  import.extra_outputs = options.extra_outputs;
  import.on_warning = options.on_warning;
  INGOT_ASSIGN_OR_RETURN(ReadModel model,
                         ReadModelFile(path, frontends, std::move(import)));
  if (options.on_time != nullptr) {
    options.on_time("import", absl::ToDoubleSeconds(absl::Now() - start));
  }
  return model;
}

absl::StatusOr<ArtifactSet> CompileModel(absl::string_view path,
                                         const FrontendRegistry& frontends,
                                         const TargetRegistry& kinds,
                                         const CompileOptions& options) {
  INGOT_ASSIGN_OR_RETURN(ReadModel model,
                         ReadModelToCompile(path, frontends, options));
  return CompileModule(&model.module, model.name, model.sha256, kinds, options);
}

absl::StatusOr<Placement> PlaceModel(absl::string_view path,
                                     const FrontendRegistry& frontends,
                                     const TargetRegistry& kinds,
                                     const CompileOptions& options) {
  INGOT_ASSIGN_OR_RETURN(ReadModel model,
                         ReadModelToCompile(path, frontends, options));
  Compilation compilation(&model.module, model.name, model.sha256, kinds,
                          options);
  return Place(&compilation);
}

absl::StatusOr<ArtifactSet> CompileModule(relay::Module* module,
                                          absl::string_view name,
                                          absl::string_view sha256,
                                          const TargetRegistry& kinds,
                                          const CompileOptions& options) {
  Compilation compilation(module, name, sha256, kinds, options);
  INGOT_ASSIGN_OR_RETURN(const Placement placement, Place(&compilation));
  if (options.on_placement != nullptr) options.on_placement(placement);
  INGOT_RETURN_IF_ERROR(
      RunModulePasses(compilation.context.targets, module, &compilation.dump));
  INGOT_RETURN_IF_ERROR(UpdateConstants(&compilation));
  INGOT_RETURN_IF_ERROR(LowerFunctions(&compilation));
  INGOT_RETURN_IF_ERROR(AddPlan(&compilation));
  INGOT_RETURN_IF_ERROR(AddConstants(&compilation));
  INGOT_RETURN_IF_ERROR(AddMain(&compilation));
  INGOT_RETURN_IF_ERROR(GenerateCode(&compilation));
  INGOT_RETURN_IF_ERROR(CheckLoaders(compilation));
  FillProvenance(&compilation);
  return std::move(compilation.set);
}

}  // namespace ingot
