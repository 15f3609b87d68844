// The subcommands, one file each. Every one takes the words after its name,
// prints what it has to say on stdout, and returns an error for main to report:
// a UsageError when the words are off.

#ifndef INGOT_TOOLS_INGOT_COMMANDS_H_
#define INGOT_TOOLS_INGOT_COMMANDS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace ingot {

using Args = absl::Span<const std::string>;

absl::Status RunBench(Args args);
absl::Status RunCompile(Args args);
absl::Status RunDump(Args args);
absl::Status RunExplain(Args args);
absl::Status RunInspect(Args args);
absl::Status RunLink(Args args);
absl::Status RunList(Args args);
absl::Status RunOpt(Args args);
absl::Status RunPack(Args args);
absl::Status RunRun(Args args);
absl::Status RunTargets(Args args);
absl::Status RunVerify(Args args);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_COMMANDS_H_
