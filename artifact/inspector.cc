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

std::vector<const InspectorRule*> InspectorRegistry::Find(
    const Artifact& artifact) const {
  std::vector<const InspectorRule*> found;
  for (const InspectorRule& rule : rules_) {
    if (Matches(rule, artifact)) found.push_back(&rule);
  }
  return found;
}

}  // namespace ingot
