// Running the `ingot` command as a person does.

#ifndef INGOT_TESTS_PIPELINE_SUBPROCESS_H_
#define INGOT_TESTS_PIPELINE_SUBPROCESS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace ingot {

struct CommandResult {
  int exit = -1;  // the exit status; minus the signal that ended it
  std::string out;
  std::string err;
};

struct CommandOptions {
  // The largest file that it may write; 0: any. Stands for a full disk.
  uint64_t max_file_size = 0;
  // The folder to run in; empty: this process's.
  std::string folder;
};

// Runs `args`, the first of which is a program's path.
CommandResult RunCommand(const std::vector<std::string>& args,
                         const CommandOptions& options = {});

}  // namespace ingot

#endif  // INGOT_TESTS_PIPELINE_SUBPROCESS_H_
