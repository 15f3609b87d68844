// Starting other programs: compilers and the linker.

#ifndef INGOT_LOADERS_NATIVE_RUN_PROGRAM_H_
#define INGOT_LOADERS_NATIVE_RUN_PROGRAM_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace ingot {

struct ProgramResult {
  int exit_status = 0;
  int signal = 0;  // that ended it; 0: it ended by itself
  // Of stdout, and of stderr where that was asked for. What is longer than was
  // asked for is cut, and then longer by a mark of that.
  std::string output;

  bool ok() const { return exit_status == 0 && signal == 0; }
};

struct ProgramOptions {
  size_t most_output = 4000;  // a message of many pages says nothing more
  // Ends a program that writes more, which may be without end; otherwise it
  // goes on, and the rest is dropped.
  bool ends_at_most = false;
  bool with_errors = true;  // stderr is part of the output, too
};

// Starts the program `words[0]`, a path or a name that is looked for in PATH,
// with all of `words` as its arguments, and waits until it has ended. Nothing
// is evaluated by a shell. NotFound when there is no such program; Internal
// when the system cannot start it. Thread-safe: the program is started by
// posix_spawn, never as a copy of this process.
absl::StatusOr<ProgramResult> RunProgram(std::vector<std::string> words,
                                         const ProgramOptions& options = {});

// Kills the programs that RunProgram waits for in other threads, so that they
// do not outlive a process that is about to end, and lets no further one start.
// Thread-safe.
void EndRunningPrograms();

}  // namespace ingot

#endif  // INGOT_LOADERS_NATIVE_RUN_PROGRAM_H_
