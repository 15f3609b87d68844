#include "tools/ingot/compile_model.h"

#include <cstdlib>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "artifact/blob.h"
#include "artifact/names.h"
#include "backends/external/codegen.h"
#include "backends/external/connection.h"
#include "backends/external/inspectors.h"
#include "backends/external/operators.h"
#include "base/status_macros.h"
#include "compiler/codegen/reproducible.h"
#include "compiler/machine/machine_model.h"
#include "compiler/tuning/logged_parameters.h"
#include "tools/ingot/flags.h"
#include "tools/ingot/inputs.h"
#include "tools/ingot/per_node.h"
#include "tools/ingot/placement_report.h"

namespace ingot {

absl::StatusOr<CompilerBuiltins> MakeCompilerBuiltins(
    const CompilerBackends& backends, absl::Span<const std::string> programs) {
  CompilerBuiltins builtins;
  INGOT_RETURN_IF_ERROR(backends.register_frontends(&builtins.frontends));
  INGOT_RETURN_IF_ERROR(backends.register_targets(&builtins.targets));
  INGOT_ASSIGN_OR_RETURN(
      builtins.sets,
      MakeBuiltins({backends.register_loaders, backends.register_inspectors}));
  for (const std::string& where : programs) {
    INGOT_ASSIGN_OR_RETURN(const auto connection,
                           external::Connection::Open(where));
    INGOT_RETURN_IF_ERROR(external::RegisterTargets(
        connection, &builtins.targets, &builtins.loaders_elsewhere));
    for (CustomOperator& custom : external::Operators(connection)) {
      builtins.custom_operators.push_back(std::move(custom));
    }
    INGOT_RETURN_IF_ERROR(
        external::RegisterInspectors(connection, &builtins.sets.inspectors));
  }
  return builtins;
}

absl::StatusOr<std::vector<TargetVariant>> ParseTargetFlag(
    absl::string_view text, const TargetRegistry& targets) {
  absl::StatusOr<std::vector<TargetVariant>> parsed = ParseTargetVariants(text);
  if (!parsed.ok()) {
    return UsageError(absl::StrCat("--target: ", parsed.status().message()));
  }
  for (const TargetVariant& variant : *parsed) {
    if (absl::Status s = targets.CheckList(variant.targets); !s.ok()) {
      return UsageError(absl::StrCat("--target: ", variant.name,
                                     variant.name.empty() ? "" : ": ",
                                     s.message()));
    }
  }
  return parsed;
}

namespace {

// Gives every target its option for results with the same bits everywhere.
absl::Status AskForSameBits(const TargetRegistry& targets,
                            TargetVariant* variant) {
  std::vector<std::string> texts;
  for (Target& target : variant->targets) {
    INGOT_ASSIGN_OR_RETURN(const TargetKind* kind, targets.Find(target.kind));
    if (kind->options.count(codegen::kReproducibleOption) == 0) {
      return UsageError(absl::StrCat(
          "--reproducible: target ", target.kind,
          " cannot promise the same bits everywhere; leave it out of "
          "--target"));
    }
    target.options[codegen::kReproducibleOption] = "1";
    INGOT_RETURN_IF_ERROR(targets.Check(target).status());
    texts.push_back(target.ToString());
  }
  variant->text = absl::StrJoin(texts, ",");
  return absl::OkStatus();
}

// Measurements of one machine must not decide what has the same bits on all.
absl::Status CheckTunable(const TargetRegistry& targets,
                          absl::Span<const TargetVariant> variants) {
  for (const TargetVariant& variant : variants) {
    for (const Target& target : variant.targets) {
      INGOT_ASSIGN_OR_RETURN(const TargetKind* kind, targets.Find(target.kind));
      INGOT_ASSIGN_OR_RETURN(const MachineModel machine,
                             kind->MachineOf(target));
      if (!machine.reproducible) continue;
      return UsageError(absl::StrCat(
          "--tuning-log: target ", target.ToString(),
          " promises the same bits on every machine, and so cannot follow "
          "what one of them measured; leave one of the two out"));
    }
  }
  return absl::OkStatus();
}

// Reads the log at `path`, and warns of lines that make no sense.
absl::StatusOr<std::shared_ptr<const tuning::LoggedParameters>> ReadTuningLog(
    const std::string& path) {
  INGOT_ASSIGN_OR_RETURN(const Blob bytes, Blob::MapFile(path));
  constexpr int kMostWarnings = 5;
  int bad = 0;
  auto log = std::make_shared<const tuning::LoggedParameters>(
      bytes.view(), [&](int64_t line, absl::string_view why) {
        if (++bad > kMostWarnings) return;
        Warn(absl::StrCat("warning: ", OneLine(path), ": line ", line,
                          " is left out: ", Cut(OneLine(why))));
      });
  if (bad > kMostWarnings) {
    Warn(absl::StrCat("warning: ", OneLine(path), ": ", bad - kMostWarnings,
                      " more lines are left out"));
  }
  return log;
}

// "past_key_values.*:present.*:2048"
absl::StatusOr<StateOption> ParseState(const std::string& text) {
  StateOption state;
  std::vector<std::string> parts = absl::StrSplit(text, ':');
  if (parts.size() == 3) {
    for (const absl::string_view size : absl::StrSplit(parts[2], 'x')) {
      int64_t& value = state.sizes.emplace_back();
      if (!absl::SimpleAtoi(size, &value) || value < 1 ||
          value > (int64_t{1} << 40)) {
        parts.clear();
        break;
      }
    }
  }
  if (parts.size() < 2 || parts.size() > 3 || parts[0].empty() ||
      parts[1].empty()) {
    return UsageError(absl::StrCat(
        "--state=", text, " is not like 'past_key_values.*:present.*:2048'"));
  }
  state.input = parts[0];
  state.output = parts[1];
  return state;
}

}  // namespace

absl::StatusOr<CompileOptions> MakeCompileOptions(
    const CompileFlags& flags, const CompilerBuiltins& builtins,
    std::vector<TargetVariant>* variants) {
  CompileOptions options;
  INGOT_ASSIGN_OR_RETURN(*variants,
                         ParseTargetFlag(flags.target, builtins.targets));
  if (flags.reproducible) {
    for (TargetVariant& variant : *variants) {
      INGOT_RETURN_IF_ERROR(AskForSameBits(builtins.targets, &variant));
    }
  }
  Provenance named;
  named.set_symbol_prefix(flags.symbol_prefix);
  if (absl::Status s = CheckProvenance(named); !s.ok()) {
    return UsageError(absl::StrCat("--symbol-prefix: ", s.message()));
  }
  if (!flags.tuning_log.empty()) {
    INGOT_RETURN_IF_ERROR(CheckTunable(builtins.targets, *variants));
    INGOT_ASSIGN_OR_RETURN(options.tuning_log, ReadTuningLog(flags.tuning_log));
  }
  INGOT_ASSIGN_OR_RETURN(InputShapes shapes,
                         ParseInputShapes(flags.input_shapes));
  for (const std::string& text : flags.states) {
    INGOT_ASSIGN_OR_RETURN(StateOption state, ParseState(text));
    options.states.push_back(std::move(state));
  }
  for (const std::string& pin : flags.pins) {
    // Names of nodes may hold colons, those of targets do not.
    const size_t colon = pin.rfind(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == pin.size()) {
      return UsageError(
          absl::StrCat("--pin: expected NODE:TARGET, got '", pin, "'"));
    }
    options.pins[pin.substr(0, colon)] = pin.substr(colon + 1);
  }
  options.targets = variants->front().targets;
  options.target_text = variants->front().text;
  options.strict = flags.strict;
  options.extra_outputs = flags.extra_outputs;
  options.input_shapes = std::move(shapes);
  options.custom_operators = builtins.custom_operators;
  options.opt_level = static_cast<int>(flags.opt_level);
  options.symbol_prefix = flags.symbol_prefix;
  if (!flags.weights_per_file.empty()) {
    const absl::StatusOr<uint64_t> size = ParseSize(flags.weights_per_file);
    if (!size.ok()) {
      return UsageError(
          absl::StrCat("--weights-per-file: ", size.status().message()));
    }
    options.weights_file_bytes = *size;
  }
  options.known_loaders = builtins.sets.loaders.Names();
  options.known_loaders.push_back(kNativeLoader);
  options.known_loaders.insert(options.known_loaders.end(),
                               builtins.loaders_elsewhere.begin(),
                               builtins.loaders_elsewhere.end());
  options.dump_ir_dir = flags.dump_ir;
  options.on_warning = [](absl::string_view message) {
    Warn(absl::StrCat("warning: ", OneLine(message)));
  };
  return options;
}

absl::StatusOr<CompiledModel> CompileModel(absl::string_view path,
                                           const CompileFlags& flags,
                                           const CompilerBuiltins& builtins,
                                           Progress* progress) {
  std::vector<TargetVariant> variants;
  INGOT_ASSIGN_OR_RETURN(CompileOptions options,
                         MakeCompileOptions(flags, builtins, &variants));
  const bool several = !variants.front().name.empty();
  if (several && flags.keep_module) {
    return UsageError(
        "calls can be checked for one variant: give its --target alone");
  }
  options.on_progress = [progress](absl::string_view what, double fraction) {
    progress->Update(what, fraction);
  };
  options.on_warning = [progress, warn = std::move(options.on_warning)](
                           absl::string_view message) {
    progress->Clear();
    warn(message);
  };
  Table times({"STAGE", ">TIME"});
  if (flags.time_passes) {
    options.on_time = [&times](absl::string_view stage, double seconds) {
      times.Add({std::string(stage), HumanTime(seconds)});
    };
  }
  auto next_placed = variants.begin();
  if (flags.show_placement) {
    // Variants are placed in their order.
    options.on_placement = [&, several](const Placement& placement) {
      progress->Clear();
      if (several) Print(absl::StrCat("variant ", next_placed++->name, ":\n"));
      Print(PlacementSummary(placement));
    };
  }
  std::map<std::string, std::string> functions;
  if (flags.keep_module) {
    options.on_function = [&functions](absl::string_view symbol,
                                       absl::string_view function) {
      functions.emplace(symbol, function);
    };
  }
  ReadModel model;
  absl::StatusOr<ArtifactSet> set;
  if (several) {
    set = CompileVariants(path, builtins.frontends, builtins.targets, variants,
                          options);
  } else {
    INGOT_ASSIGN_OR_RETURN(
        model, ReadModelToCompile(path, builtins.frontends, options));
    set = CompileModule(&model.module, model.name, model.sha256,
                        builtins.targets, options);
  }
  progress->Clear();
  if (flags.time_passes) Print(times.ToString());
  if (!set.ok()) return set.status();
  CompiledModel compiled;
  compiled.set = *std::move(set);
  if (flags.keep_module) {
    auto module =
        std::make_shared<const relay::Module>(std::move(model.module));
    compiled.check_calls = [module = std::move(module),
                            functions = std::move(functions)](
                               const Tolerance& tolerance,
                               Progress* shown) -> std::unique_ptr<CallCheck> {
      return std::make_unique<PerNodeCheck>(module, functions, tolerance,
                                            shown);
    };
  }
  return compiled;
}

LinkOptions UsersLinkOptions() {
  LinkOptions options;
  if (const char* cc = std::getenv("INGOT_CC")) options.cc = cc;
  if (const char* lld = std::getenv("INGOT_LLD")) options.lld = lld;
  return options;
}

}  // namespace ingot
