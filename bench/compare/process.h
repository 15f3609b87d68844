// A program that is started, told lines, and waited for.
#ifndef INGOT_BENCH_COMPARE_PROCESS_H_
#define INGOT_BENCH_COMPARE_PROCESS_H_

#include <sys/types.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace ingot::compare {

class Process {
 public:
  // `args` begins with the program, which is looked for in PATH. The first two
  // streams are pipes to this process; stderr is shared. Unavailable when the
  // program cannot be started.
  static absl::StatusOr<std::unique_ptr<Process>> Start(
      const std::vector<std::string>& args);

  // Ends the program.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // The next line of its output, without the line's end. Unavailable at the
  // end of its output.
  absl::StatusOr<std::string> ReadLine();
  // Writes a line, then reads one.
  absl::StatusOr<std::string> Ask(const std::string& line);

  struct Usage {
    double seconds = 0;
    double peak_mib = 0;
    std::string output;
  };
  // Reads all that it writes and waits for its end. Unknown, with its output,
  // unless it ends with 0.
  absl::StatusOr<Usage> Finish();

 private:
  Process(pid_t pid, FILE* input, FILE* output);

  pid_t pid_;
  FILE* input_;
  FILE* output_;
  const double start_;
};

}  // namespace ingot::compare

#endif  // INGOT_BENCH_COMPARE_PROCESS_H_
