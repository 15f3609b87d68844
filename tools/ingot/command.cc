#include "tools/ingot/command.h"

#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/annotate.h"
#include "base/closest_names.h"
#include "base/version.h"
#include "tools/ingot/budget.h"
#include "tools/ingot/commands.h"
#include "tools/ingot/flags.h"
#include "tools/ingot/last_words.h"
#include "tools/ingot/output.h"
#include "tools/ingot/start_compiler.h"

namespace ingot {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kUsage = 2;

struct Command {
  const char* name;
  const char* help;
  // Null: it is the compiler's.
  absl::Status (*run)(Args args, const Backends& backends);

  absl::Status Run(Args args, const Backends& backends) const {
    if (run != nullptr) return run(args, backends);
    if (backends.compiler != nullptr) {
      return backends.compiler->RunCommand(name, args);
    }
    return NeedsCompiler("is done by the compiler");
  }
};

// In the order in which a person meets them.
constexpr Command kCommands[] = {
    {"compile", "compile a model to a set of artifacts", nullptr},
    {"explain", "show which target takes each node of a model, and why",
     nullptr},
    {"list", "show the artifacts of a set", RunList},
    {"inspect", "show what is in an artifact, or what a set is", RunInspect},
    {"report", "show a set as a page for a browser: graph, code, memory",
     nullptr},
    {"dump", "write a set as a directory to read and edit", RunDump},
    {"pack", "make a set of such a directory again", RunPack},
    {"prepare", "let this machine's drivers compile what a set has for devices",
     RunPrepare},
    {"link", "make a set a shared library that needs no other file", nullptr},
    {"export", "write a set as C for firmware, as WebAssembly, or for TVM",
     nullptr},
    {"check", "say whether a set can run on this machine, or another",
     RunCheck},
    {"sign", "sign a set or a library, for --require-signature", RunSign},
    {"diff", "show what differs between two sets", RunDiff},
    {"run", "run a model", RunRun},
    {"verify", "compare a model's outputs with what they should be", RunVerify},
    {"bisect", "find what makes a model's outputs wrong", nullptr},
    {"bench", "measure a model", RunBench},
    {"tune", "measure which schedules run a model's kernels fastest", nullptr},
    {"targets", "show what can be compiled for", nullptr},
    {"opt", "run passes on a module in text form", nullptr},
};

const Command* Find(absl::string_view name) {
  for (const Command& command : kCommands) {
    if (name == command.name) return &command;
  }
  return nullptr;
}

void PrintHelp() {
  Print(absl::StrCat("Ingot ", kIngotVersion,
                     " compiles machine-learning models to artifacts.\n\n"
                     "Usage: ingot COMMAND ...\n\n"));
  for (const Command& command : kCommands) {
    Print(absl::StrFormat("  %-9s %s\n", command.name, command.help));
  }
  Print(
      "\nMore on one of them: ingot help COMMAND\n"
      "The version: ingot --version\n");
}

absl::Status UnknownCommand(absl::string_view name) {
  std::vector<std::string> known;
  for (const Command& command : kCommands) known.push_back(command.name);
  const std::string hint = DidYouMean(name, known);
  return UsageError(absl::StrCat(
      "there is no command '", name, "'; ",
      hint.empty() ? absl::StrCat("there are ", absl::StrJoin(known, ", "))
                   : hint));
}

absl::Status Dispatch(Args args, const Backends& backends) {
  if (args.empty()) {
    return UsageError("a command is missing (see ingot help)");
  }
  const std::string& name = args[0];
  if (name == "--version" || name == "version") {
    Print(absl::StrCat("ingot ", kIngotVersion, "\n"));
    return absl::OkStatus();
  }
  if (name == "help" || name == "--help" || name == "-h") {
    if (args.size() == 1) {
      PrintHelp();
      return absl::OkStatus();
    }
    const Command* command = Find(args[1]);
    if (command == nullptr) return UnknownCommand(args[1]);
    return command->Run({"--help"}, backends);
  }
  const Command* command = Find(name);
  if (command == nullptr) return UnknownCommand(name);
  absl::Status status = command->Run(args.subspan(1), backends);
  return status.ok() ? status : Annotate(status, command->name);
}

// The subcommand and the first file of a call, to begin an error with.
std::string CallOf(Args args) {
  std::string call;
  bool is_value = false;  // of a flag of one letter
  for (const std::string& arg : args) {
    const bool is_flag = !arg.empty() && arg[0] == '-';
    if (!is_flag && !is_value) {
      if (!call.empty()) return absl::StrCat(call, ": ", arg);
      call = arg;
    }
    is_value = is_flag && arg.size() == 2;
  }
  return call;
}

// Libraries throw; Ingot's own code returns what went wrong.
absl::Status DispatchAndCatch(Args args, const Backends& backends) {
  try {
    return Dispatch(args, backends);
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(
        absl::StrCat(CallOf(args), ": ", OutOfMemoryMessage()));
  } catch (const std::exception& e) {
    return absl::InternalError(absl::StrCat(CallOf(args), ": ", e.what()));
  }
}

}  // namespace

int CommandMain(int argc, char** argv, const Backends& backends) {
  const std::vector<std::string> args(argv + (argc > 0 ? 1 : 0), argv + argc);
  PrepareLastWords(CallOf(args));
  absl::Status status = DispatchAndCatch(args, backends);
  if (IsNeedsCompiler(status)) {
    status = Annotate(StartCompiler(backends.compiler_program, argv),
                      status.message());
  }
  // Output from before an error is of use, too.
  if (absl::Status s = FlushOutput(); status.ok()) status = s;
  if (status.ok()) return kDone;
  absl::FPrintF(stderr, "ingot: %s\n", Cut(OneLine(status.message())));
  return IsUsageError(status) ? kUsage : kFailed;
}

}  // namespace ingot
