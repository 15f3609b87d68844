#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/driver/compile.h"
#include "tools/ingot/compile_model.h"
#include "tools/ingot/compiler_commands.h"
#include "tools/ingot/flags.h"
#include "tools/ingot/json.h"
#include "tools/ingot/output.h"
#include "tools/ingot/placement_report.h"

namespace ingot {
namespace {

// Places the model for the options' targets and for `other`.
absl::Status Diff(const std::string& model, const std::string& other,
                  const CompilerBuiltins& builtins, CompileOptions options,
                  bool json, bool quiet) {
  absl::StatusOr<std::vector<TargetVariant>> variants =
      ParseTargetFlag(other, builtins.targets);
  if (variants.ok() && variants->size() > 1) {
    variants = UsageError("it compares two lists of targets, not variants");
  }
  if (!variants.ok()) {
    return UsageError(absl::StrCat("--diff: ", variants.status().message()));
  }
  std::vector<TargetsPlacement> placements;
  for (const bool is_other : {false, true}) {
    if (is_other) {
      options.targets = variants->front().targets;
      options.target_text = variants->front().text;
    }
    absl::StatusOr<Placement> placement =
        PlaceModel(model, builtins.frontends, builtins.targets, options);
    if (!placement.ok()) return Where(placement.status(), model);
    placements.push_back({options.targets, *std::move(placement)});
  }
  const std::vector<Move> moves = FindMoves(placements[0], placements[1]);
  if (!quiet) Print(MovesText(moves));
  if (json) PrintJson(MovesJson(moves));
  return absl::OkStatus();
}

}  // namespace

absl::Status RunExplain(Args args, const CompilerBackends& backends) {
  FlagSet flags("explain", {"MODEL"},
                "Shows which target would take each node of a model, and why "
                "the earlier ones do not. Nodes\nthat cost nothing when the "
                "model runs are 'folded': they are computed while compiling, "
                "are part\nof another node, only change a shape, or join what "
                "others write in place.");
  CompileFlags compile;
  bool json = false, quiet = false;
  std::string diff;
  compile.AddTo(&flags);
  flags.String("diff", "TARGET",
               "other targets: show the nodes that they move, and why", &diff);
  flags.Bool("json", "end with one JSON object", &json);
  flags.Bool("quiet", "show no table", &quiet);
  absl::StatusOr<bool> go_on = flags.Parse(args);
  if (!go_on.ok() || !*go_on) return go_on.status();

  const std::string& model = flags.word(0);
  INGOT_ASSIGN_OR_RETURN(CompilerBuiltins builtins,
                         MakeCompilerBuiltins(backends, compile.backends));
  std::vector<TargetVariant> variants;
  INGOT_ASSIGN_OR_RETURN(CompileOptions options,
                         MakeCompileOptions(compile, builtins, &variants));
  if (!diff.empty()) {
    if (variants.size() > 1) {
      return UsageError("--diff compares two lists of targets, not variants");
    }
    return Diff(model, diff, builtins, std::move(options), json, quiet);
  }
  nlohmann::ordered_json answers;
  for (const TargetVariant& variant : variants) {
    options.targets = variant.targets;
    options.target_text = variant.text;
    absl::StatusOr<Placement> placement =
        PlaceModel(model, builtins.frontends, builtins.targets, options);
    if (!placement.ok()) return Where(placement.status(), model);
    if (!quiet) {
      if (!variant.name.empty()) {
        Print(absl::StrCat("variant ", variant.name, ":\n"));
      }
      Print(PlacementTable(*placement));
      Print("\n");
      Print(PlacementSummary(*placement));
    }
    answers[variant.name] = PlacementJson(*placement);
  }
  if (json) {
    const bool several = !variants.front().name.empty();
    PrintJson(several ? nlohmann::ordered_json{{"variants", answers}}
                      : answers.front());
  }
  return absl::OkStatus();
}

}  // namespace ingot
