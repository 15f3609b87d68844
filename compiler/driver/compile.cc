#include "compiler/driver/compile.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "artifact/sha256.h"
#include "compiler/driver/compilation.h"
#include "compiler/driver/placement.h"
#include "compiler/driver/stages.h"
#include "compiler/frontends/onnx/import.h"
#include "compiler/status_macros.h"

namespace ingot {
namespace {

std::string FileStem(absl::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash != absl::string_view::npos) path.remove_prefix(slash + 1);
  return std::string(path.substr(0, path.rfind('.')));
}

// The stages that decide which target takes what.
absl::StatusOr<Placement> Place(Compilation* compilation) {
  INGOT_RETURN_IF_ERROR(ChooseTargets(compilation));
  INGOT_RETURN_IF_ERROR(CheckPins(compilation));
  INGOT_RETURN_IF_ERROR(OptimizeModule(compilation));
  return PlaceNodes(compilation);
}

}  // namespace

absl::StatusOr<ReadModel> ReadOnnxModel(absl::string_view path,
                                        const CompileOptions& options) {
  INGOT_ASSIGN_OR_RETURN(const Blob bytes, Blob::MapFile(path));
  if (options.on_progress != nullptr) options.on_progress("importing", 0);
  const absl::Time start = absl::Now();
  ImportOptions import;
  import.input_shapes = options.input_shapes;
  import.extra_outputs = options.extra_outputs;
  const size_t slash = path.rfind('/');
  import.model_dir = std::string(
      slash == absl::string_view::npos ? "." : path.substr(0, slash));
  absl::StatusOr<relay::Module> module = ImportOnnx(bytes, import);
  if (!module.ok()) {
    return absl::Status(module.status().code(),
                        absl::StrCat(path, ": ", module.status().message()));
  }
  if (options.on_time != nullptr) {
    options.on_time("import", absl::ToDoubleSeconds(absl::Now() - start));
  }
  return ReadModel{*std::move(module), FileStem(path), Sha256Hex(bytes.view())};
}

absl::StatusOr<ArtifactSet> CompileModel(absl::string_view path,
                                         const TargetRegistry& kinds,
                                         const CompileOptions& options) {
  INGOT_ASSIGN_OR_RETURN(ReadModel model, ReadOnnxModel(path, options));
  return CompileModule(&model.module, model.name, model.sha256, kinds, options);
}

absl::StatusOr<Placement> PlaceModel(absl::string_view path,
                                     const TargetRegistry& kinds,
                                     const CompileOptions& options) {
  INGOT_ASSIGN_OR_RETURN(ReadModel model, ReadOnnxModel(path, options));
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
  INGOT_RETURN_IF_ERROR(UpdateConstants(&compilation));
  INGOT_RETURN_IF_ERROR(LowerFunctions(&compilation));
  INGOT_RETURN_IF_ERROR(GenerateCode(&compilation));
  INGOT_RETURN_IF_ERROR(AddPlan(&compilation));
  INGOT_RETURN_IF_ERROR(AddConstants(&compilation));
  INGOT_RETURN_IF_ERROR(CheckLoaders(compilation));
  FillProvenance(&compilation);
  return std::move(compilation.set);
}

}  // namespace ingot
