#include "compiler/driver/compile.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "artifact/variants.h"
#include "base/annotate.h"
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

// The passes that targets bring.
absl::Status RunTargetsPasses(Compilation* compilation) {
  return RunModulePasses(compilation->context.targets,
                         compilation->options.should_run_pass,
                         compilation->module, &compilation->dump);
}

// Everything up to the plan, which is all that knows the constants.
absl::Status PlanModel(Compilation* compilation) {
  INGOT_ASSIGN_OR_RETURN(const Placement placement, Place(compilation));
  const CompileOptions& options = compilation->options;
  if (options.on_placement != nullptr) options.on_placement(placement);
  INGOT_RETURN_IF_ERROR(RunTargetsPasses(compilation));
  INGOT_RETURN_IF_ERROR(UpdateConstants(compilation));
  INGOT_RETURN_IF_ERROR(LowerFunctions(compilation));
  return AddPlan(compilation);
}

// The rest, for which the constants are in the set.
absl::Status GenerateSet(Compilation* compilation) {
  INGOT_RETURN_IF_ERROR(AddMain(compilation));
  INGOT_RETURN_IF_ERROR(GenerateCode(compilation));
  INGOT_RETURN_IF_ERROR(CheckLoaders(*compilation));
  FillProvenance(compilation);
  return absl::OkStatus();
}

// One variant on its way: what it is made of must stay where it is.
struct VariantWork {
  CompileOptions options;
  ReadModel model;
  std::optional<Compilation> compilation;
};

// The options of all, for one of them; those who listen learn whom they hear.
CompileOptions OptionsOf(const TargetVariant& variant,
                         const CompileOptions& all) {
  CompileOptions options = all;
  options.targets = variant.targets;
  options.target_text = variant.text;
  if (!all.dump_ir_dir.empty()) {
    options.dump_ir_dir = absl::StrCat(all.dump_ir_dir, "/", variant.name);
  }
  if (all.on_time != nullptr) {
    options.on_time = [&all, &variant](absl::string_view stage, double time) {
      all.on_time(absl::StrCat(variant.name, ": ", stage), time);
    };
  }
  if (all.on_progress != nullptr) {
    options.on_progress = [&all, &variant](absl::string_view what,
                                           double fraction) {
      all.on_progress(absl::StrCat(variant.name, ": ", what), fraction);
    };
  }
  return options;
}

absl::Status InVariant(const absl::Status& status,
                       const TargetVariant& variant) {
  return Annotate(status, absl::StrCat("variant ", variant.name));
}

}  // namespace

absl::StatusOr<ReadModel> ReadModelToCompile(absl::string_view path,
                                             const FrontendRegistry& frontends,
                                             const CompileOptions& options) {
  if (options.on_progress != nullptr) options.on_progress("importing", 0);
  const absl::Time start = absl::Now();
  ImportOptions import;
  import.input_shapes = options.input_shapes;
  import.states = options.states;
  import.extra_outputs = options.extra_outputs;
  import.custom_operators = options.custom_operators;
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

absl::StatusOr<ReadModel> ReadOptimizedModel(absl::string_view path,
                                             const FrontendRegistry& frontends,
                                             const TargetRegistry& kinds,
                                             const CompileOptions& options) {
  INGOT_ASSIGN_OR_RETURN(ReadModel model,
                         ReadModelToCompile(path, frontends, options));
  ConstantPool constants;
  Compilation compilation(&model.module, model.name, model.sha256, kinds,
                          options, &constants);
  INGOT_RETURN_IF_ERROR(ChooseTargets(&compilation));
  INGOT_RETURN_IF_ERROR(CheckPins(&compilation));
  INGOT_RETURN_IF_ERROR(OptimizeModule(&compilation));
  INGOT_RETURN_IF_ERROR(RunTargetsPasses(&compilation));
  return model;
}

absl::StatusOr<Placement> PlaceModel(absl::string_view path,
                                     const FrontendRegistry& frontends,
                                     const TargetRegistry& kinds,
                                     const CompileOptions& options) {
  INGOT_ASSIGN_OR_RETURN(ReadModel model,
                         ReadModelToCompile(path, frontends, options));
  ConstantPool constants;
  Compilation compilation(&model.module, model.name, model.sha256, kinds,
                          options, &constants);
  return Place(&compilation);
}

absl::StatusOr<ArtifactSet> CompileModule(relay::Module* module,
                                          absl::string_view name,
                                          absl::string_view sha256,
                                          const TargetRegistry& kinds,
                                          const CompileOptions& options) {
  ConstantPool constants;
  Compilation compilation(module, name, sha256, kinds, options, &constants);
  INGOT_RETURN_IF_ERROR(PlanModel(&compilation));
  INGOT_RETURN_IF_ERROR(AddConstants({&compilation}));
  INGOT_RETURN_IF_ERROR(GenerateSet(&compilation));
  return std::move(compilation.set);
}

absl::StatusOr<ArtifactSet> CompileVariants(
    absl::string_view path, const FrontendRegistry& frontends,
    const TargetRegistry& kinds, absl::Span<const TargetVariant> variants,
    const CompileOptions& options) {
  // One pool, so that what two variants need alike is stored once; and one list
  // of constants, so that code can be generated only when all are planned.
  ConstantPool constants;
  std::vector<std::unique_ptr<VariantWork>> works;
  std::vector<Compilation*> compilations;
  for (const TargetVariant& variant : variants) {
    auto work = std::make_unique<VariantWork>();
    work->options = OptionsOf(variant, options);
    INGOT_ASSIGN_OR_RETURN(work->model,
                           ReadModelToCompile(path, frontends, work->options));
    Compilation& c = work->compilation.emplace(
        &work->model.module, work->model.name, work->model.sha256, kinds,
        work->options, &constants);
    INGOT_RETURN_IF_ERROR(InVariant(PlanModel(&c), variant));
    compilations.push_back(&c);
    works.push_back(std::move(work));
  }
  INGOT_RETURN_IF_ERROR(AddConstants(compilations));
  std::vector<Variant> compiled;
  for (size_t i = 0; i < works.size(); ++i) {
    INGOT_RETURN_IF_ERROR(InVariant(GenerateSet(compilations[i]), variants[i]));
    compiled.push_back(
        {variants[i].name, std::move(works[i]->compilation->set)});
    works[i] = nullptr;
  }
  return CombineVariants(compiled);
}

}  // namespace ingot
