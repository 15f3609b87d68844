// The subcommands that need a compiler, one file each, as those of commands.h.

#ifndef INGOT_TOOLS_INGOT_COMPILER_COMMANDS_H_
#define INGOT_TOOLS_INGOT_COMPILER_COMMANDS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "tools/ingot/backends.h"
#include "tools/ingot/compiler_command.h"

namespace ingot {

using Args = absl::Span<const std::string>;

absl::Status RunBisect(Args args, const CompilerBackends& backends);
absl::Status RunCompile(Args args, const CompilerBackends& backends);
absl::Status RunExplain(Args args, const CompilerBackends& backends);
absl::Status RunExport(Args args, const CompilerBackends& backends);
absl::Status RunLink(Args args, const CompilerBackends& backends);
absl::Status RunOpt(Args args, const CompilerBackends& backends);
absl::Status RunTargets(Args args, const CompilerBackends& backends);
absl::Status RunTune(Args args, const CompilerBackends& backends);

// Of sets, with what only the compiler's program has.
absl::Status RunReport(Args args, const Backends& backends);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_COMPILER_COMMANDS_H_
