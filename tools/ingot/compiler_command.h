// The command with a compiler in it, which `ingot` starts for what needs one.
// ingot_command() of tools/ingot_command.bzl makes such a program.
#ifndef INGOT_TOOLS_INGOT_COMPILER_COMMAND_H_
#define INGOT_TOOLS_INGOT_COMPILER_COMMAND_H_

#include "absl/status/status.h"
#include "artifact/inspector.h"
#include "compiler/frontends/frontend.h"
#include "compiler/target/target.h"
#include "loaders/loader_registry.h"

namespace ingot {

class Compiler;

// Functions, each of which registers one part of all frontends and backends.
// None is null. Errors: AlreadyExists for two of one name.
struct CompilerBackends {
  absl::Status (*register_frontends)(FrontendRegistry*);
  absl::Status (*register_targets)(TargetRegistry*);
  absl::Status (*register_loaders)(LoaderRegistry*);
  absl::Status (*register_inspectors)(InspectorRegistry*);
  // The one that runs the subcommands, for them; CompilerCommandMain sets it.
  Compiler* compiler = nullptr;
};

// CommandMain (command.h) with all subcommands in this program.
int CompilerCommandMain(int argc, char** argv,
                        const CompilerBackends& backends);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_COMPILER_COMMAND_H_
