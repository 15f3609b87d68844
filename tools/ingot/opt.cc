#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/closest_names.h"
#include "base/status_macros.h"
#include "compiler/relay/ir.h"
#include "compiler/relay/parser.h"
#include "compiler/relay/passes/pass.h"
#include "compiler/relay/printer.h"
#include "compiler/relay/verifier.h"
#include "compiler/schedules/cpu/layouts.h"
#include "tools/ingot/compile_model.h"
#include "tools/ingot/compiler_commands.h"
#include "tools/ingot/files.h"
#include "tools/ingot/flags.h"
#include "tools/ingot/output.h"

namespace ingot {
namespace {

std::string Doc() {
  std::string doc =
      "Reads a module in text form, runs passes on it and prints it. The files "
      "that --dump-ir writes are such\nmodules. The passes:";
  for (const relay::Pass& pass : relay::AllPasses()) {
    absl::StrAppend(&doc, "\n  ", pass.name, ": ", pass.doc);
  }
  return doc;
}

std::vector<std::string> PassNames() {
  std::vector<std::string> names;
  for (const relay::Pass& pass : relay::AllPasses()) names.push_back(pass.name);
  return names;
}

}  // namespace

absl::Status RunOpt(Args args, const CompilerBackends& backends) {
  FlagSet flags("opt", {"FILE.relay"}, Doc());
  std::string passes, output;
  flags.String("passes", "NAME,NAME", "the passes to run, in order", &passes);
  flags.Required();
  flags.String("o", "OUT.relay",
               "write the module there, with its weights beside it, and do not "
               "print it",
               &output);
  std::string target;
  flags.String("target", "TARGET", "the targets that `partition` has", &target);
  bool times = false;
  flags.Bool("time-passes", "show where the time goes", &times);
  absl::StatusOr<bool> go_on = flags.Parse(args);
  if (!go_on.ok() || !*go_on) return go_on.status();

  const std::vector<std::string> names =
      absl::StrSplit(passes, ',', absl::SkipEmpty());
  for (const std::string& name : names) {
    if (FindPass(relay::AllPasses(), name) != nullptr) continue;
    const std::string hint = DidYouMean(name, PassNames());
    return UsageError(absl::StrCat("--passes: there is no pass '", name, "'",
                                   hint.empty() ? "" : "; ", hint,
                                   " (see ingot help opt)"));
  }
  if (!output.empty()) {
    INGOT_RETURN_IF_ERROR(CheckWritable(output));
  }
  const std::string& path = flags.word(0);
  absl::StatusOr<std::unique_ptr<relay::Module>> module =
      relay::ReadModuleFile(path);
  if (!module.ok()) return Where(module.status(), path);
  // A person may have written it: what is wrong with it is not a pass's fault.
  if (absl::Status s = relay::Verify(**module); !s.ok()) return Where(s, path);

  Table table({"PASS", ">TIME", "CHANGED"});
  relay::PassContext context;
  // Without a target that says better: those of any processor with vectors.
  context.layouts = te::cpu::CpuLayouts(MachineModel());
  TargetRegistry registry;
  INGOT_RETURN_IF_ERROR(backends.register_targets(&registry));
  if (!target.empty()) {
    INGOT_ASSIGN_OR_RETURN(std::vector<TargetVariant> variants,
                           ParseTargetFlag(target, registry));
    if (variants.size() > 1) {
      return UsageError("--target: passes run for one variant at a time");
    }
    for (Target& t : variants[0].targets) {
      const TargetKind* kind = *registry.Find(t.kind);
      context.targets.push_back({std::move(t), kind});
    }
    INGOT_RETURN_IF_ERROR(relay::AskForLayouts(&context));
  }
  relay::PassOptions options;
  options.after = [&table](const relay::PassEvent& event) {
    table.Add({event.pass.name, HumanTime(absl::ToDoubleSeconds(event.time)),
               event.changed ? "yes" : "no"});
    return absl::OkStatus();
  };
  absl::Status ran = relay::RunPasses(names, module->get(), &context, options);
  if (!ran.ok()) return Where(ran, path);
  if (output.empty()) {
    Print(relay::Print(**module));
  } else if (absl::Status s = relay::WriteModuleFiles(**module, output);
             !s.ok()) {
    return Where(s, output);
  }
  // Comments, so that what is printed stays a module.
  if (times) {
    for (const absl::string_view line :
         absl::StrSplit(table.ToString(), '\n', absl::SkipEmpty())) {
      Print(absl::StrCat("// ", line, "\n"));
    }
  }
  return absl::OkStatus();
}

}  // namespace ingot
