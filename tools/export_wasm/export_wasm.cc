#include "tools/export_wasm/export_wasm.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "artifact/blob.h"
#include "artifact/constants_symbol.h"
#include "artifact/loader_names.h"
#include "artifact/target_keys.h"
#include "base/status_macros.h"
#include "loaders/native/files.h"
#include "tools/export_wasm/data_object.h"
#include "tools/export_wasm/es_module.h"
#include "tools/export_wasm/wasm_ld.h"
#include "tools/whole_model/whole_model.h"

namespace ingot {
namespace {

// Every object must be WebAssembly, which none of another loader is.
absl::Status CheckCode(const ArtifactSet& set, const WholeModel& model) {
  for (const Artifact* artifact : model.rest) {
    const std::string& triple =
        FindTargetKey(set.provenance(), artifact->target_key).triple();
    if (artifact->loader == kNativeLoader &&
        absl::EndsWith(artifact->file_name, ".o") &&
        absl::StartsWith(triple, "wasm32")) {
      continue;
    }
    return absl::FailedPreconditionError(
        absl::StrCat(ArtifactPath(*artifact),
                     " is not WebAssembly; compile the model for "
                     "--target='llvm -mtriple=wasm32 -mattr=+simd128' alone"));
  }
  if (!model.rest.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError("the set has no code");
}

// The code reads weights by their offsets.
absl::Status CheckLayout(const WholeModel& model, const std::string& symbol) {
  for (const Artifact* artifact : model.rest) {
    if (absl::StrContains(artifact->content.view(), symbol)) {
      return absl::OkStatus();
    }
  }
  return absl::FailedPreconditionError(
      absl::StrCat(ArtifactPath(*model.weights),
                   " is not laid out as the code was compiled for"));
}

}  // namespace

absl::StatusOr<WasmFolder> ExportWasm(const ArtifactSet& set,
                                      const WasmOptions& options) {
  const std::string& prefix = set.provenance().symbol_prefix();
  INGOT_ASSIGN_OR_RETURN(const WholeModel model, FindWholeModel(set));
  INGOT_RETURN_IF_ERROR(CheckCode(set, model));
  INGOT_ASSIGN_OR_RETURN(std::unique_ptr<ScratchFolder> scratch,
                         ScratchFolder::Make());
  std::vector<std::string> objects;
  const auto add = [&](absl::string_view bytes) {
    objects.push_back(absl::StrCat(scratch->path(), "/", objects.size(), ".o"));
    return WriteScratchFile(objects.back(), bytes);
  };
  for (const Artifact* artifact : model.rest) {
    INGOT_RETURN_IF_ERROR(add(artifact->content.view()));
  }
  std::vector<std::string> exports = {"__heap_base"};
  for (const char* name : {"_run", "_arena_bytes", "_last_error"}) {
    exports.push_back(absl::StrCat(prefix, name));
  }

  WasmFolder folder;
  WeightsBeside beside;
  if (model.weights != nullptr) {
    const absl::string_view file = model.weights->content.view();
    INGOT_ASSIGN_OR_RETURN(const ConstantsSymbol symbol,
                           FindConstantsSymbol(prefix, file));
    INGOT_RETURN_IF_ERROR(CheckLayout(model, symbol.name));
    const absl::string_view weights = file.substr(symbol.offset);
    folder.weight_bytes = weights.size();
    INGOT_RETURN_IF_ERROR(
        add(WasmDataObject(symbol.name, weights, options.weights_beside)));
    if (options.weights_beside) {
      exports.push_back(symbol.name);
      beside = {symbol.name, weights.size()};
      folder.files[absl::StrCat(prefix, ".weights")] = std::string(weights);
    }
  }
  const std::string output = scratch->path() + "/model.wasm";
  INGOT_RETURN_IF_ERROR(
      RunWasmLd(options.lld, objects, exports, scratch->path(), output));
  INGOT_ASSIGN_OR_RETURN(const Blob wasm, Blob::MapFile(output));
  folder.code_bytes =
      wasm.size() - (options.weights_beside ? 0 : folder.weight_bytes);
  folder.files[absl::StrCat(prefix, ".wasm")] = std::string(wasm.view());
  INGOT_ASSIGN_OR_RETURN(
      folder.files[absl::StrCat(prefix, ".mjs")],
      EsModule(*model.plan, prefix, beside.symbol.empty() ? nullptr : &beside));
  return folder;
}

}  // namespace ingot
