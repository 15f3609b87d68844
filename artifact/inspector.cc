#include "artifact/inspector.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "artifact/names.h"

namespace ingot {
namespace {

constexpr size_t kMaxOutputSuffix = 41;

bool IsOutputSuffix(absl::string_view suffix) {
  return suffix.size() >= 2 && suffix.size() <= kMaxOutputSuffix &&
         suffix[0] == '.' &&
         CheckIdentifier("the suffix", suffix.substr(1)).ok();
}

bool Matches(const InspectorRule& rule, const Artifact& artifact) {
  if (!rule.loader.empty() && rule.loader != artifact.loader) return false;
  if (!rule.codegen_id.empty() && rule.codegen_id != artifact.codegen_id) {
    return false;
  }
  return rule.file_suffixes.empty() ||
         std::any_of(rule.file_suffixes.begin(), rule.file_suffixes.end(),
                     [&](const std::string& suffix) {
                       return absl::EndsWith(artifact.file_name, suffix);
                     });
}

}  // namespace

absl::Status InspectorRegistry::Register(InspectorRule rule) {
  if (rule.name.empty() || rule.inspect == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the inspector \"", rule.name, "\" needs a name and a function"));
  }
  if (!rule.output_suffix.empty() && !IsOutputSuffix(rule.output_suffix)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the inspector \"", rule.name,
        "\" has an output suffix that is not \".\" and then up to ",
        kMaxOutputSuffix - 1, " of [A-Za-z0-9_.-]"));
  }
  for (const InspectorRule& other : rules_) {
    if (other.name == rule.name) {
      return absl::AlreadyExistsError(absl::StrCat(
          "an inspector named \"", rule.name, "\" is already registered"));
    }
  }
  rules_.push_back(std::move(rule));
  return absl::OkStatus();
}

absl::Status InspectorRegistry::RegisterForSets(SetInspectorRule rule) {
  if (rule.name.empty() || rule.inspect == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("the inspector of sets \"", rule.name,
                     "\" needs a name and a function"));
  }
  for (const SetInspectorRule& other : for_sets_) {
    if (other.name == rule.name) {
      return absl::AlreadyExistsError(
          absl::StrCat("an inspector of sets named \"", rule.name,
                       "\" is already registered"));
    }
  }
  for_sets_.push_back(std::move(rule));
  return absl::OkStatus();
}

const InspectorRule* InspectorRegistry::FindTextForm(
    const Artifact& artifact) const {
  for (const InspectorRule* rule : Find(artifact)) {
    if (rule->read_back != nullptr) return rule;
  }
  return nullptr;
}

std::vector<const InspectorRule*> InspectorRegistry::Find(
    const Artifact& artifact) const {
  std::vector<const InspectorRule*> found;
  for (const InspectorRule& rule : rules_) {
    if (Matches(rule, artifact)) found.push_back(&rule);
  }
  if (found.size() > 1) {
    found.erase(std::remove_if(
                    found.begin(), found.end(),
                    [](const InspectorRule* rule) { return rule->only_alone; }),
                found.end());
  }
  return found;
}

}  // namespace ingot
