#include "tools/ingot/sbom.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "artifact/loader_names.h"
#include "artifact/sha256.h"

namespace ingot {
namespace {

using Json = nlohmann::ordered_json;

Json Hashes(const std::string& sha256) {
  return Json::array({{{"alg", "SHA-256"}, {"content", sha256}}});
}

Json ComponentOf(const Artifact& artifact) {
  const std::string path = ArtifactPath(artifact);
  const bool is_data =
      artifact.loader == kConstantsLoader || artifact.loader == kMetadataLoader;
  return {{"type", is_data ? "data" : "file"},
          {"bom-ref", absl::StrCat("artifact:", path)},
          {"name", path},
          {"hashes", Hashes(Sha256Hex(artifact.content.view()))}};
}

// The libraries that the code of all keys calls, with the Debian packages that
// are known to have them.
std::map<std::string, std::string> LibrariesOf(const Provenance& provenance) {
  std::map<std::string, std::string> libraries;
  for (const Provenance::TargetKey& key : provenance.target_keys()) {
    for (const std::string& library : key.link_libraries()) {
      const std::pair<std::string, std::string> parts =
          absl::StrSplit(library, absl::MaxSplits(':', 1));
      libraries.insert(parts);
    }
  }
  return libraries;
}

// Puts what the model says of itself into its component. Licences are as the
// model names them, by the keys that ONNX recommends and those in use.
void AddMetadata(const Provenance& provenance, Json* model) {
  for (const Provenance::Option& entry : provenance.model_metadata()) {
    const std::string& name = entry.name();
    if (name == "model_author" || name == "author") {
      (*model)["author"] = entry.value();
    } else if (name == "model_license" || name == "license" ||
               name == "licenses") {
      Json license = {{"name", entry.value()}};
      if (absl::StartsWith(entry.value(), "https://")) {
        license["url"] = entry.value();
      }
      (*model)["licenses"].push_back({{"license", std::move(license)}});
    } else {
      (*model)["properties"].push_back(
          {{"name", absl::StrCat("model:", name)}, {"value", entry.value()}});
    }
  }
}

}  // namespace

nlohmann::ordered_json Sbom(const ArtifactSet& set) {
  const Provenance& provenance = set.provenance();
  Json model = {
      {"type", "machine-learning-model"},
      {"bom-ref", "model"},
      {"name", provenance.model_name().empty() ? std::string("artifacts")
                                               : provenance.model_name()}};
  if (!provenance.model_sha256().empty()) {
    model["hashes"] = Hashes(provenance.model_sha256());
  }
  AddMetadata(provenance, &model);
  Json metadata;
  if (!provenance.ingot_version().empty()) {
    metadata["tools"]["components"] =
        Json::array({{{"type", "application"},
                      {"name", "Ingot"},
                      {"version", provenance.ingot_version()}}});
  }
  metadata["component"] = std::move(model);

  Json components = Json::array(), needs = Json::array();
  const auto add = [&](Json component) {
    needs.push_back(component["bom-ref"]);
    components.push_back(std::move(component));
  };
  for (const Artifact& artifact : set.artifacts()) add(ComponentOf(artifact));
  for (const auto& [library, package] : LibrariesOf(provenance)) {
    Json component = {{"type", "library"},
                      {"bom-ref", absl::StrCat("library:", library)},
                      {"name", library}};
    if (!package.empty()) {
      component["purl"] = absl::StrCat("pkg:deb/debian/", package);
    }
    add(std::move(component));
  }
  return {{"bomFormat", "CycloneDX"},
          {"specVersion", "1.5"},
          {"version", 1},
          {"metadata", std::move(metadata)},
          {"components", std::move(components)},
          {"dependencies",
           Json::array({{{"ref", "model"}, {"dependsOn", std::move(needs)}}})}};
}

}  // namespace ingot
