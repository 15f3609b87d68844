#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "compiler/target/target.h"
#include "tools/ingot/compiler_commands.h"
#include "tools/ingot/flags.h"
#include "tools/ingot/json.h"
#include "tools/ingot/output.h"
#include "tools/ingot/wrap.h"

namespace ingot {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> Hooks(const TargetKind& kind) {
  std::vector<std::string> hooks;
  if (kind.relay_to_runtime != nullptr) hooks.push_back("relay_to_runtime");
  if (kind.relay_to_tir != nullptr) hooks.push_back("relay_to_tir");
  if (kind.tir_to_runtime != nullptr) hooks.push_back("tir_to_runtime");
  if (kind.constant_updater != nullptr) hooks.push_back("constant_updater");
  return hooks;
}

std::string Operators(const TargetKind& kind) {
  if (kind.IsHost()) return "every one that Ingot lowers to loops";
  if (!kind.operators.has_value()) return "as its options say";
  if (kind.operators->empty()) return "only in composites";
  return absl::StrJoin(*kind.operators, " ");
}

std::string Describe(const TargetKind& kind) {
  std::vector<std::string> lines = {
      absl::StrCat("hooks: ", absl::StrJoin(Hooks(kind), ", ")),
      absl::StrCat("loaders: ", absl::StrJoin(kind.loaders, ", "))};
  for (const auto& [name, option] : kind.options) {
    lines.push_back(absl::StrCat("-", name, ": ", option.doc));
    if (!option.otherwise.empty()) {
      absl::StrAppend(&lines.back(), " [", option.otherwise, "]");
    }
  }
  lines.push_back(absl::StrCat("operators: ", Operators(kind)));
  if (kind.last_resort) {
    lines.emplace_back(
        "asked without being named, for operators that Ingot has no definition "
        "of");
  }
  for (const CompositePattern& pattern : kind.patterns) {
    lines.push_back(absl::StrCat("composite ", pattern.name, ": ",
                                 pattern.pattern.ToString()));
  }
  const size_t width = WidthOf(stdout);
  std::string text = absl::StrCat(
      WrapAt(2, absl::StrCat(kind.name, ": ", kind.doc), width), "\n");
  for (const std::string& line : lines) {
    absl::StrAppend(&text, "  ", WrapAt(6, line, width), "\n");
  }
  return text;
}

Json ToJson(const TargetKind& kind) {
  Json options = Json::object(), composites = Json::object();
  for (const auto& [name, option] : kind.options) {
    options[name] = {{"doc", option.doc}, {"default", option.otherwise}};
  }
  for (const CompositePattern& pattern : kind.patterns) {
    composites[pattern.name] = pattern.pattern.ToString();
  }
  Json json = {{"name", kind.name},
               {"doc", kind.doc},
               {"hooks", Hooks(kind)},
               {"loaders", kind.loaders},
               {"options", std::move(options)},
               {"operators", nullptr},
               {"last_resort", kind.last_resort},
               {"composites", std::move(composites)}};
  if (kind.operators.has_value()) json["operators"] = *kind.operators;
  return json;
}

}  // namespace

absl::Status RunTargets(Args args, const CompilerBackends& backends) {
  FlagSet flags("targets", {},
                "Shows the kinds of targets that are built in: their hooks, "
                "loaders, options with defaults in square\nbrackets, operators "
                "and composites. In a composite * is any value, a|b a choice, "
                "and [a](x) may be just x.");
  bool json = false;
  flags.Bool("json", "end with one JSON object", &json);
  absl::StatusOr<bool> go_on = flags.Parse(args);
  if (!go_on.ok() || !*go_on) return go_on.status();

  TargetRegistry targets;
  INGOT_RETURN_IF_ERROR(backends.register_targets(&targets));
  Json kinds = Json::array();
  for (const TargetKind* kind : targets.All()) {
    Print(Describe(*kind));
    kinds.push_back(ToJson(*kind));
  }
  if (json) PrintJson({{"targets", std::move(kinds)}});
  return absl::OkStatus();
}

}  // namespace ingot
