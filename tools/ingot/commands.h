// The subcommands for sets, one file each; compiler_commands.h has the others.
// Every one takes the words after its name and
// the backends that the program was built with, prints what it has to say on
// stdout, and returns an error for main to report: a UsageError when the words
// are off, NeedsCompiler when it takes a program with a compiler.

#ifndef INGOT_TOOLS_INGOT_COMMANDS_H_
#define INGOT_TOOLS_INGOT_COMMANDS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "tools/ingot/backends.h"

namespace ingot {

using Args = absl::Span<const std::string>;

absl::Status RunBench(Args args, const Backends& backends);
absl::Status RunCheck(Args args, const Backends& backends);
absl::Status RunDiff(Args args, const Backends& backends);
absl::Status RunDump(Args args, const Backends& backends);
absl::Status RunInspect(Args args, const Backends& backends);
absl::Status RunList(Args args, const Backends& backends);
absl::Status RunPack(Args args, const Backends& backends);
absl::Status RunPrepare(Args args, const Backends& backends);
absl::Status RunRun(Args args, const Backends& backends);
absl::Status RunSign(Args args, const Backends& backends);
absl::Status RunVerify(Args args, const Backends& backends);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_COMMANDS_H_
