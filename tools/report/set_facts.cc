#include "tools/report/set_facts.h"

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "artifact/loader_names.h"
#include "artifact/sha256.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "runtime/safetensors.h"
#include "tools/report/code.h"
#include "tools/report/graphs.h"
#include "tools/report/kernel_texts.h"
#include "tools/report/weights.h"
#include "tools/whole_model/checked_plan.h"

namespace ingot::report {
namespace {

using Json = nlohmann::ordered_json;

// The most bytes of one kernel's text, and of all of them.
constexpr size_t kMostOfKernel = 64 << 10;
constexpr size_t kMostOfKernels = 24 << 20;

Json About(const ArtifactSet& set) {
  const Provenance& provenance = set.provenance();
  Json about = Json::array();
  const auto add = [&about](const std::string& what, const std::string& value) {
    if (!value.empty()) about.push_back({what, value});
  };
  add("Model", provenance.model_name());
  add("Model's SHA-256", provenance.model_sha256());
  for (const Provenance::Option& entry : provenance.model_metadata()) {
    add(absl::StrCat("Model's ", entry.name()), entry.value());
  }
  add("Made by", provenance.ingot_version().empty()
                     ? ""
                     : absl::StrCat("Ingot ", provenance.ingot_version()));
  add("Target", provenance.target());
  for (const Provenance::Variant& variant : provenance.variants()) {
    add(absl::StrCat("Variant ", variant.name()), variant.target());
  }
  for (const Provenance::Option& option : provenance.options()) {
    add(absl::StrCat("Option ", option.name()), option.value());
  }
  for (const Provenance::TargetKey& key : provenance.target_keys()) {
    add(absl::StrCat("Key ", key.name(), ": triple"), key.triple());
    add(absl::StrCat("Key ", key.name(), ": processor features"),
        absl::StrJoin(key.cpu_features(), " "));
    add(absl::StrCat("Key ", key.name(), ": libraries"),
        absl::StrJoin(key.link_libraries(), " "));
  }
  return about;
}

Json Artifacts(const ArtifactSet& set) {
  const auto& edited = set.provenance().edited();
  const std::set<std::string> edits(edited.begin(), edited.end());
  Json artifacts = Json::array();
  for (const Artifact& artifact : set.artifacts()) {
    const std::string path = ArtifactPath(artifact);
    artifacts.push_back({{"path", path},
                         {"codegen", artifact.codegen_id},
                         {"loader", artifact.loader},
                         {"size", artifact.content.size()},
                         {"sha256", Sha256Hex(artifact.content.view())}});
    if (edits.count(path) > 0) artifacts.back()["edited"] = true;
  }
  return artifacts;
}

// The kernels' texts, as far as artifacts have them.
class Kernels {
 public:
  explicit Kernels(const Json& graphs) {
    for (const Json& graph : graphs) {
      for (const Json& call : graph["calls"]) {
        if (!call.contains("step")) functions_.insert(call["f"]);
      }
    }
  }

  absl::Status Add(const Artifact& artifact, size_t index,
                   const DescribeFn& describe) {
    if (artifact.loader == kConstantsLoader ||
        artifact.loader == kMetadataLoader) {
      return absl::OkStatus();
    }
    absl::StatusOr<std::string> text = describe(artifact);
    if (!text.ok()) return Annotate(text.status(), ArtifactPath(artifact));
    // An artifact of one function is all of it, whatever its form.
    const std::string stem =
        artifact.file_name.substr(0, artifact.file_name.find('.'));
    std::map<std::string, std::string> found;
    if (functions_.count(stem) > 0) {
      found[stem] = text->substr(0, kMostOfKernel);
    } else {
      found = FindKernelTexts(*text, functions_, kMostOfKernel);
    }
    for (auto& [name, part] : found) {
      if (indices_.count(name) > 0 || bytes_ > kMostOfKernels) continue;
      bytes_ += part.size();
      indices_[name] = list_.size();
      list_.push_back(
          {{"name", name}, {"artifact", index}, {"text", std::move(part)}});
    }
    return absl::OkStatus();
  }

  // Gives each kernel the bytes of its code, where its text is that.
  void AddSizes(const ArtifactSet& set) {
    for (const auto& [name, code] : FindCode(set, functions_)) {
      const auto it = indices_.find(name);
      if (it != indices_.end()) list_[it->second]["bytes"] = code.bytes;
    }
  }

  // Gives each call the index of its kernel.
  void Link(Json* graphs) const {
    for (Json& graph : *graphs) {
      for (Json& call : graph["calls"]) {
        const auto it = indices_.find(call["f"].get<std::string>());
        if (it != indices_.end()) call["k"] = it->second;
      }
    }
  }

  Json Take() { return std::move(list_); }

 private:
  FunctionNames functions_;
  std::map<std::string, size_t> indices_;
  Json list_ = Json::array();
  size_t bytes_ = 0;
};

// Gives each call the time of one turn, and how often a run takes it. Calls of
// a function for the same nodes were measured together.
void AddTimes(const std::vector<CallTime>& times, Json* graphs) {
  using Key = std::pair<std::string, std::string>;
  const auto key_of = [](const Json& call) {
    return Key(call["f"].get<std::string>(), call["s"].get<std::string>());
  };
  std::map<Key, const CallTime*> known;
  for (const CallTime& time : times) {
    known[{time.function, time.source}] = &time;
  }
  std::map<Key, int> in_plan;
  for (const Json& graph : *graphs) {
    for (const Json& call : graph["calls"]) ++in_plan[key_of(call)];
  }
  for (Json& graph : *graphs) {
    for (Json& call : graph["calls"]) {
      const auto it = known.find(key_of(call));
      if (it == known.end()) continue;
      call["t"] = it->second->seconds / it->second->calls;
      call["n"] = static_cast<double>(it->second->calls) / in_plan[it->first];
    }
  }
}

absl::StatusOr<Json> Weights(const ArtifactSet& set) {
  Json weights = Json::array();
  for (const Artifact& artifact : set.artifacts()) {
    if (artifact.loader != kConstantsLoader) continue;
    absl::StatusOr<NamedTensors> tensors = ReadSafetensors(artifact.content);
    if (!tensors.ok()) {
      return Annotate(tensors.status(), ArtifactPath(artifact));
    }
    for (const auto& [name, tensor] : *tensors) {
      weights.push_back(DescribeWeight(name, tensor));
    }
  }
  return weights;
}

}  // namespace

absl::StatusOr<nlohmann::ordered_json> DescribePlan(const ArtifactSet& set) {
  for (const Artifact& artifact : set.artifacts()) {
    if (artifact.loader != kMetadataLoader) continue;
    INGOT_ASSIGN_OR_RETURN(const SharedPlan plan, ReadCheckedPlan(artifact));
    return DescribeGraphs(*plan);
  }
  return Json::array();
}

absl::StatusOr<nlohmann::ordered_json> DescribeForReport(
    const ArtifactSet& set, const DescribeFn& describe,
    const std::optional<Measurement>& measured) {
  INGOT_ASSIGN_OR_RETURN(Json graphs, DescribePlan(set));
  Kernels kernels(graphs);
  for (size_t i = 0; i < set.artifacts().size(); ++i) {
    INGOT_RETURN_IF_ERROR(kernels.Add(set.artifacts()[i], i, describe));
  }
  kernels.AddSizes(set);
  kernels.Link(&graphs);
  if (measured) AddTimes(measured->times, &graphs);
  INGOT_ASSIGN_OR_RETURN(Json weights, Weights(set));
  const std::string& name = set.provenance().model_name();
  Json facts = {{"title", name.empty() ? "artifacts" : name},
                {"about", About(set)},
                {"artifacts", Artifacts(set)},
                {"graphs", std::move(graphs)},
                {"kernels", kernels.Take()},
                {"weights", std::move(weights)}};
  if (measured) {
    facts["timed"] = measured->how;
    facts["limits"] = {{"ops", measured->operations},
                       {"bytes", measured->bytes}};
  }
  return facts;
}

}  // namespace ingot::report
