// Inspectors that the user brings: programs in any language.
#ifndef INGOT_TOOLS_INGOT_INSPECTOR_FLAGS_H_
#define INGOT_TOOLS_INGOT_INSPECTOR_FLAGS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "artifact/artifact_set.h"
#include "tools/ingot/flags.h"
#include "tools/ingot/sets.h"

namespace ingot {

// A program and the words before the path that it gets as its last argument.
using InspectorCommand = std::vector<std::string>;

struct InspectorFlags {
  std::vector<std::string> backends;  // programs with backends of their own
  std::vector<std::string> commands;  // "PATTERN=COMMAND"
  std::string file;                   // of lines "PATTERN COMMAND"

  // Adds --backend, --inspector and --inspectors.
  void AddTo(FlagSet* flags);
};

// Registers what the flags name with `builtins`. PATTERN is the end of a file's
// name, "loader:NAME", "codegen:NAME", or "set".
//
// The program of an artifact gets the path of a file that holds its content,
// under its own name, and writes text to stdout, at most 16 MiB. What it writes
// to stderr the user sees. That of a set gets the path of a folder with it, as
// `dump` writes it, without notes. It is started for nothing but what the user
// asked to be shown, by no shell, and ends with the command's budget.
//
// Errors: UsageError for what is no pattern and command, with the line of a
// file; NeedsCompiler for --backend in a program without one; AlreadyExists.
absl::Status AddInspectors(const InspectorFlags& flags, Builtins* builtins);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_INSPECTOR_FLAGS_H_
