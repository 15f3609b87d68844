#include "compiler/driver/compilation.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "artifact/names.h"
#include "base/status_macros.h"

namespace ingot {

Compilation::Compilation(relay::Module* module, absl::string_view name,
                         absl::string_view sha256, const TargetRegistry& kinds,
                         const CompileOptions& options, ConstantPool* constants)
    : module(module),
      name(name),
      sha256(sha256),
      kinds(kinds),
      options(options),
      constants(constants),
      symbol_prefix(options.symbol_prefix.empty()
                        ? ToIdentifier(name).substr(0, kMaxIdentifierLength)
                        : options.symbol_prefix),
      dump(options.dump_ir_dir) {}

absl::StatusOr<TargetWork*> Compilation::OwnerOf(
    const relay::Function& function) {
  const std::string owner = relay::TargetOf(function.attrs);
  if (owner.empty() && host != nullptr) return host;
  for (TargetWork& work : targets) {
    if (work.target.Id() == owner) return &work;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("function ", function.name, " is for the target '", owner,
                   "', which is none of: ", options.target_text));
}

std::string Compilation::SourcesOf(const relay::Function& function) const {
  std::vector<std::string> sources;
  auto add = [&sources](const relay::Node& node) {
    for (const std::string& source : node.sources) {
      if (std::find(sources.begin(), sources.end(), source) == sources.end()) {
        sources.push_back(source);
      }
    }
  };
  for (const auto& node : function.nodes()) add(*node);
  for (const auto& caller : module->functions()) {
    for (const auto& node : caller->nodes()) {
      if (node->callee == function.name) add(*node);
    }
  }
  return absl::StrJoin(sources, ", ");
}

absl::Status Compilation::AddResult(const Target& target,
                                    CodegenResult result) {
  if (result.artifacts.empty()) return absl::OkStatus();
  // The keys that code is for; what a device runs is none of a processor's.
  bool has_code = target.key == kDefaultTargetKey ||
                  !result.cpu_features.empty() ||
                  !result.link_libraries.empty();
  for (Artifact& artifact : result.artifacts) {
    if (artifact.target_key.empty()) artifact.target_key = target.key;
    has_code |=
        artifact.loader == kNativeLoader && artifact.target_key == target.key;
    // Code that several regions bring, such as the functions that they call, is
    // one artifact if it is the same.
    const Artifact* same =
        set.Find(artifact.target_key, artifact.codegen_id, artifact.file_name);
    if (same != nullptr && same->content.view() == artifact.content.view()) {
      continue;
    }
    INGOT_RETURN_IF_ERROR(set.Add(std::move(artifact)));
  }
  if (!has_code) return absl::OkStatus();
  KeyNeeds& key = needs[target.key];
  key.features.insert(result.cpu_features.begin(), result.cpu_features.end());
  key.libraries.insert(result.link_libraries.begin(),
                       result.link_libraries.end());
  return absl::OkStatus();
}

void Compilation::Time(absl::string_view stage, double seconds) const {
  if (options.on_time != nullptr) options.on_time(stage, seconds);
}

void Compilation::Progress(absl::string_view what, double fraction) const {
  if (options.on_progress != nullptr) options.on_progress(what, fraction);
}

std::string WeightsFile(size_t i) {
  return i == 0 ? "weights.safetensors"
                : absl::StrCat("weights_", i, ".safetensors");
}

std::string ToIdentifier(absl::string_view name) {
  std::string id;
  for (char c : name) id += absl::ascii_isalnum(c) ? c : '_';
  if (id.empty() || absl::ascii_isdigit(id[0])) id.insert(0, "m");
  return id;
}

}  // namespace ingot
