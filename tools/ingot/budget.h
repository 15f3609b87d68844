// A budget is what a command may use of the machine.

#ifndef INGOT_TOOLS_INGOT_BUDGET_H_
#define INGOT_TOOLS_INGOT_BUDGET_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ingot {

// Limits of this process and, for memory, of each program that it starts.
struct Budget {
  // Bytes that it may allocate beyond what the program has when it starts.
  // Files that are mapped to be read do not count. 0: no limit.
  uint64_t memory = 0;
  // Wall-clock time. 0: no limit.
  double seconds = 0;
};

// Three quarters of the memory that this machine has, or that the control group
// of this process may use if that is less; no limit of time.
Budget DefaultBudget();

// "4G", "512M", "64K" or a number of bytes; units are powers of 1024.
// InvalidArgument for anything else.
absl::StatusOr<uint64_t> ParseSize(absl::string_view text);

// Puts the limits in force. An allocation by `new` beyond that of memory ends
// the programs that RunProgram has started, and then this process (EndWith):
// unwinding would not do, since libstdc++ 12 destroys a std::variant of which
// the copy failed by an index that it has not. Other allocations fail as their
// makers say. After that of time, a thread of its
// own ends the programs that RunProgram has started, and then this process
// (EndWith). Call it once more to change both. Errors: what the system says.
absl::Status StartBudget(const Budget& budget);

// Describes an allocation that failed: how much memory there was and how
// to allow more. Thread-safe.
std::string OutOfMemoryMessage();

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_BUDGET_H_
