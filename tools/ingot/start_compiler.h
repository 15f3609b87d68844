// Handing a call over to the program that has the compiler.

#ifndef INGOT_TOOLS_INGOT_START_COMPILER_H_
#define INGOT_TOOLS_INGOT_START_COMPILER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ingot {

// Says that only a program with a compiler can do what was asked, and why. A
// subcommand returns it before it has printed or written anything.
absl::Status NeedsCompiler(absl::string_view why);
bool IsNeedsCompiler(const absl::Status& status);

// The path of the program with the compiler: what $INGOT_COMPILER names, or
// else the file `name` beside this program's own, after symbolic links.
// NotFound, saying what to do, when it is no program that can be started;
// FailedPrecondition when it is this program itself.
absl::StatusOr<std::string> FindCompiler(absl::string_view name);

// Replaces this program by that one, with the same words, so that the exit
// status, the streams and signals are those of the other. Returns only when
// that fails, with the reason.
absl::Status StartCompiler(absl::string_view name, char** argv);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_START_COMPILER_H_
