#include "tools/export_mlf/export_mlf.h"

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "artifact/loader_names.h"
#include "artifact/main_header.h"
#include "base/status_macros.h"
#include "google/protobuf/util/json_util.h"
#include "runtime/safetensors.h"
#include "tools/export_mlf/metadata.h"
#include "tools/export_mlf/params.h"
#include "tools/whole_model/checked_plan.h"

namespace ingot {
namespace {

// The folder of an artifact's key that it is in.
std::string FolderOf(const Artifact& artifact) {
  if (artifact.loader != kNativeLoader) return artifact.loader;
  if (absl::EndsWith(artifact.file_name, ".o")) return "lib";
  return absl::EndsWith(artifact.file_name, ".h") ? "include" : "src";
}

absl::StatusOr<std::string> AsJson(const Plan& plan) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string json;
  const auto status =
      google::protobuf::util::MessageToJsonString(plan, &json, options);
  if (status.ok()) return json;
  return absl::InvalidArgumentError(
      absl::StrCat("the plan cannot be JSON: ", status.ToString()));
}

}  // namespace

absl::StatusOr<std::map<std::string, std::string>> ExportMlf(
    const ArtifactSet& set, absl::string_view relay, absl::Time time) {
  const Provenance& provenance = set.provenance();
  if (!provenance.variants().empty()) {
    return absl::FailedPreconditionError(
        "the set has the model in several variants; compile it for one of "
        "them");
  }
  std::map<std::string, std::string> files;
  const Artifact* plan_artifact = nullptr;
  NamedTensors weights;
  for (const Artifact& artifact : set.artifacts()) {
    if (artifact.loader == kMetadataLoader) {
      plan_artifact = &artifact;
    } else if (artifact.loader == kConstantsLoader) {
      INGOT_ASSIGN_OR_RETURN(const NamedTensors tensors,
                             ReadSafetensors(artifact.content));
      weights.insert(tensors.begin(), tensors.end());
    } else {
      const std::string path =
          absl::StrCat("codegen/", artifact.target_key, "/", FolderOf(artifact),
                       "/", artifact.file_name);
      if (!files.emplace(path, artifact.content.view()).second) {
        return absl::FailedPreconditionError(absl::StrCat(
            ArtifactPath(artifact), " and another artifact would both be ",
            path, ", which has no codegen's name"));
      }
    }
  }
  if (plan_artifact == nullptr) {
    return absl::FailedPreconditionError("the set has no plan");
  }
  INGOT_ASSIGN_OR_RETURN(const SharedPlan plan,
                         ReadCheckedPlan(*plan_artifact));
  INGOT_ASSIGN_OR_RETURN(
      files["metadata.json"],
      MlfMetadata(provenance, *plan, weights, FindMainHeader(set).ok(), time));
  INGOT_ASSIGN_OR_RETURN(files["executor-config/plan/plan.json"],
                         AsJson(*plan));
  files[absl::StrCat("parameters/", provenance.symbol_prefix(), ".params")] =
      ParamsFile(weights);
  if (!relay.empty()) files["src/relay.txt"] = std::string(relay);
  return files;
}

}  // namespace ingot
