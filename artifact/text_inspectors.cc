#include "artifact/text_inspectors.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "artifact/artifact.h"
#include "artifact/json_text.h"

namespace ingot {
namespace {

absl::StatusOr<std::string> InspectText(const Artifact& artifact,
                                        const ArtifactSet&) {
  return std::string(artifact.content.view());
}

absl::StatusOr<std::string> InspectJson(const Artifact& artifact,
                                        const ArtifactSet&) {
  return LayOutJson(artifact.content.view());
}

}  // namespace

absl::Status RegisterTextInspectors(InspectorRegistry* registry) {
  InspectorRule text;
  text.name = "text";
  text.file_suffixes = {".txt", ".md",  ".csv", ".c",     ".h",     ".cc",
                        ".cpp", ".hpp", ".cu",  ".cl",    ".metal", ".s",
                        ".S",   ".asm", ".ll",  ".relay", ".tir",   ".dot"};
  text.inspect = InspectText;

  InspectorRule json;
  json.name = "json";
  json.file_suffixes = {".json"};
  json.output_suffix = ".pretty.json";
  json.inspect = InspectJson;
  json.only_alone = true;

  absl::Status status = registry->Register(std::move(text));
  status.Update(registry->Register(std::move(json)));
  return status;
}

}  // namespace ingot
