#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "artifact/container.h"
#include "artifact/directory.h"
#include "base/status_macros.h"
#include "compiler/codegen/llvm/assemble.h"
#include "compiler/tuning/logged_parameters.h"
#include "loaders/native/files.h"
#include "nlohmann/json.hpp"
#include "tools/ingot/compile_model.h"
#include "tools/ingot/compiler_commands.h"
#include "tools/ingot/files.h"
#include "tools/ingot/flags.h"
#include "tools/ingot/json.h"
#include "tools/ingot/output.h"
#include "tools/ingot/relay_texts.h"
#include "tools/ingot/replace.h"
#include "tools/ingot/sets.h"

namespace ingot {

absl::Status RunCompile(Args args, const CompilerBackends& backends) {
  FlagSet flags(
      "compile", {"MODEL"},
      "Compiles a model, an ONNX file or relay text, to a set of artifacts: "
      "plain data that "
      "can be listed, read, edited and\nlinked. The same model, flags "
      "and Ingot give the same bytes.");
  std::string output, dump;
  CompileFlags compile;
  bool json = false, quiet = false;
  int64_t interval_ms = 5000;
  flags.String("o", "OUT.ingot", "the file to write", &output);
  flags.Required();
  compile.AddTo(&flags);
  flags.String(
      "dump", "DIR",
      "also write the set as a directory, with the module's text in DIR/relay",
      &dump);
  flags.String("dump-ir", "DIR",
               "write the module after each pass that changed it",
               &compile.dump_ir);
  std::vector<std::string> replacements;
  AddReplace(&flags, &replacements);
  flags.Bool("time-passes", "show where the time goes", &compile.time_passes);
  flags.String("symbol-prefix", "NAME",
               "what every symbol starts with; made from the model's name "
               "otherwise",
               &compile.symbol_prefix);
  flags.String("weights-per-file", "SIZE",
               "the most that one file of weights has, such as 512M, but for a "
               "larger tensor [2G]",
               &compile.weights_per_file);
  flags.Bool("json", "end with one JSON object", &json);
  flags.Bool("quiet", "say nothing when all goes well", &quiet);
  flags.Int("progress-interval", "MS",
            "elsewhere than on a terminal, the time between lines that say how "
            "far the work is; 5000 otherwise",
            0, 3600 * 1000, &interval_ms);
  absl::StatusOr<bool> go_on = flags.Parse(args);
  if (!go_on.ok() || !*go_on) return go_on.status();

  compile.show_placement = !quiet;
  const std::string& model = flags.word(0);
  INGOT_RETURN_IF_ERROR(CheckSetName(output));
  INGOT_RETURN_IF_ERROR(CheckWritable(output));
  INGOT_RETURN_IF_ERROR(CheckIsOther(output, model));
  INGOT_ASSIGN_OR_RETURN(CompilerBuiltins builtins,
                         MakeCompilerBuiltins(backends, compile.backends));
  Progress::Options progress_options;
  progress_options.quiet = quiet;
  progress_options.between_lines = absl::Milliseconds(interval_ms);
  Progress progress(progress_options);
  // A dump has the module's text beside the set.
  std::unique_ptr<ScratchFolder> scratch;
  if (!dump.empty() && compile.dump_ir.empty()) {
    INGOT_ASSIGN_OR_RETURN(scratch, ScratchFolder::Make());
    compile.dump_ir = scratch->path();
  }
  absl::StatusOr<CompiledModel> compiled =
      CompileModel(model, compile, builtins, &progress);
  if (!compiled.ok()) return Where(compiled.status(), model);
  absl::StatusOr<ArtifactSet> replaced =
      Replace(std::move(compiled->set), replacements, codegen::AssembleLlvm);
  if (!replaced.ok()) return Where(replaced.status(), model);
  const ArtifactSet& set = *replaced;

  // The directory first: the container appears only if all went well.
  if (!dump.empty()) {
    absl::Status s = WriteDirectory(set, dump, builtins.sets.inspectors);
    if (s.ok()) s = CopyRelayTexts(compile.dump_ir, dump);
    if (!s.ok()) return Where(s, dump);
  }
  if (absl::Status s = WriteContainer(set, output); !s.ok()) {
    return Where(s, output);
  }

  uint64_t bytes = 0;
  for (const Artifact& artifact : set.artifacts()) {
    bytes += artifact.content.size();
  }
  if (!quiet) {
    Print(absl::StrCat(OneLine(output), ": ", set.artifacts().size(),
                       " artifacts, ", HumanSize(bytes), ", for ",
                       OneLine(compile.target), "\n"));
    for (const Provenance::Option& option : set.provenance().options()) {
      if (option.name() != tuning::kTunedKernelsOption) continue;
      Print(absl::StrCat("parameters of ", option.value(), " kernels from ",
                         OneLine(compile.tuning_log), "\n"));
    }
    if (!dump.empty()) Print(absl::StrCat("dumped into ", OneLine(dump), "\n"));
  }
  if (json) {
    PrintJson({{"output", output},
               {"artifacts", set.artifacts().size()},
               {"bytes", bytes},
               {"target", compile.target}});
  }
  return absl::OkStatus();
}

}  // namespace ingot
