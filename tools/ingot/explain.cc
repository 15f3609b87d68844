#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/driver/compile.h"
#include "tools/ingot/compile_model.h"
#include "tools/ingot/compiler_commands.h"
#include "tools/ingot/flags.h"
#include "tools/ingot/json.h"
#include "tools/ingot/placement_report.h"
#include "tools/ingot/report.h"

namespace ingot {

absl::Status RunExplain(Args args, const CompilerBackends& backends) {
  FlagSet flags("explain", {"MODEL"},
                "Shows which target would take each node of a model, and why "
                "the earlier ones do not. Nodes\nthat cost nothing when the "
                "model runs are 'folded': they are computed while compiling, "
                "are part\nof another node, or only change a shape.");
  CompileFlags compile;
  bool json = false, quiet = false;
  compile.AddTo(&flags);
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
