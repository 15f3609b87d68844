#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/target/target.h"
#include "tools/ingot/commands.h"
#include "tools/ingot/flags.h"
#include "tools/ingot/json.h"
#include "tools/ingot/report.h"
#include "tools/ingot/sets.h"

namespace ingot {
namespace {

std::vector<std::string> Hooks(const TargetKind& kind) {
  std::vector<std::string> hooks;
  if (kind.relay_to_runtime != nullptr) hooks.push_back("relay_to_runtime");
  if (kind.relay_to_tir != nullptr) hooks.push_back("relay_to_tir");
  if (kind.tir_to_runtime != nullptr) hooks.push_back("tir_to_runtime");
  if (kind.constant_updater != nullptr) hooks.push_back("constant_updater");
  return hooks;
}

}  // namespace

absl::Status RunTargets(Args args) {
  FlagSet flags("targets", {},
                "Shows the kinds of targets that are built in, with their "
                "hooks, options and loaders.");
  bool json = false;
  flags.Bool("json", "end with one JSON object", &json);
  absl::StatusOr<bool> go_on = flags.Parse(args);
  if (!go_on.ok() || !*go_on) return go_on.status();

  absl::StatusOr<Builtins> builtins = MakeBuiltins();
  if (!builtins.ok()) return builtins.status();
  nlohmann::ordered_json kinds = nlohmann::ordered_json::array();
  for (const TargetKind* kind : builtins->targets.All()) {
    const std::vector<std::string> hooks = Hooks(*kind);
    Print(absl::StrCat(
        kind->name, ": ", kind->doc, "\n  hooks: ", absl::StrJoin(hooks, ", "),
        "\n  loaders: ", absl::StrJoin(kind->loaders, ", "), "\n"));
    nlohmann::ordered_json options = nlohmann::ordered_json::object();
    for (const auto& [name, help] : kind->options) {
      Print(absl::StrCat("  -", name, ": ", help, "\n"));
      options[name] = help;
    }
    kinds.push_back({{"name", kind->name},
                     {"doc", kind->doc},
                     {"hooks", hooks},
                     {"loaders", kind->loaders},
                     {"options", std::move(options)}});
  }
  if (json) PrintJson({{"targets", std::move(kinds)}});
  return absl::OkStatus();
}

}  // namespace ingot
