#include "tools/ingot/budget.h"

#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <new>
#include <thread>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "loaders/native/run_program.h"
#include "tools/ingot/last_words.h"
#include "tools/ingot/output.h"

namespace ingot {
namespace {

using Clock = std::chrono::steady_clock;

// The budget in force is never destroyed: the thread may outlive main.
struct State {
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t memory = 0;
  bool has_thread = false;
  Clock::time_point deadline = Clock::time_point::max();
  std::string message;
};

State& GlobalState() {
  static State* const state = new State;
  return *state;
}

// Bytes of this process that RLIMIT_DATA counts: in a sanitizer's build there
// are terabytes of them before main.
uint64_t UsedData() {
  std::ifstream file("/proc/self/statm");
  uint64_t pages[6] = {};  // size, resident, shared, text, lib, data
  for (uint64_t& n : pages) file >> n;
  return file ? pages[5] * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

// Runs in a thread of its own until the process ends.
void Watch() {
  State& state = GlobalState();
  std::unique_lock<std::mutex> lock(state.mutex);
  while (Clock::now() < state.deadline) {
    // Waiting until time_point::max() would overflow in the library.
    if (state.deadline == Clock::time_point::max()) {
      state.changed.wait(lock);
    } else {
      state.changed.wait_until(lock, state.deadline);
    }
  }
  EndRunningPrograms();
  EndWith(state.message);
}

[[noreturn]] void EndForMemory() {
  // So that there is memory for what follows.
  rlimit limit;
  if (getrlimit(RLIMIT_DATA, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_DATA, &limit);
  }
  EndRunningPrograms();
  EndWith(OutOfMemoryMessage());
}

}  // namespace

Budget DefaultBudget() {
  Budget budget;
  struct sysinfo info;
  if (sysinfo(&info) != 0) return budget;
  uint64_t total = uint64_t{info.totalram} * info.mem_unit;
  // A container's limit; "max" where there is none.
  std::ifstream file("/sys/fs/cgroup/memory.max");
  uint64_t group = 0;
  if (file >> group && group > 0) total = std::min(total, group);
  budget.memory = total / 4 * 3;
  return budget;
}

absl::StatusOr<uint64_t> ParseSize(absl::string_view text) {
  static constexpr absl::string_view kUnits = "KMGT";
  absl::string_view digits = text;
  int shift = 0;
  if (!digits.empty()) {
    const size_t unit = kUnits.find(absl::ascii_toupper(digits.back()));
    if (unit != absl::string_view::npos) {
      shift = 10 * (static_cast<int>(unit) + 1);
      digits.remove_suffix(1);
    }
  }
  uint64_t number = 0;
  const bool is_number = !digits.empty() && absl::ascii_isdigit(digits[0]) &&
                         absl::SimpleAtoi(digits, &number);
  if (!is_number || number > (uint64_t{1} << 62) >> shift) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", text, "' is no size; write a number of bytes, or 512M or 4G"));
  }
  return number << shift;
}

absl::Status StartBudget(const Budget& budget) {
  State& state = GlobalState();
  std::lock_guard<std::mutex> lock(state.mutex);
  rlimit limit;
  if (getrlimit(RLIMIT_DATA, &limit) != 0) {
    return absl::ErrnoToStatus(errno, "reading the limit of memory");
  }
  limit.rlim_cur =
      budget.memory == 0
          ? limit.rlim_max
          : std::min<rlim_t>(limit.rlim_max, UsedData() + budget.memory);
  if (setrlimit(RLIMIT_DATA, &limit) != 0) {
    return absl::ErrnoToStatus(errno, "limiting the memory");
  }
  state.memory = budget.memory;
  state.deadline = Clock::time_point::max();
  // No clock counts centuries in nanoseconds.
  if (budget.seconds > 0 && budget.seconds < 1e9) {
    state.deadline =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(
                           std::chrono::duration<double>(budget.seconds));
    state.message = absl::StrCat("not done after ", HumanTime(budget.seconds),
                                 "; allow more with --max-seconds");
    if (!state.has_thread) {
      std::thread(Watch).detach();
      state.has_thread = true;
    }
  }
  state.changed.notify_all();
  std::set_new_handler(budget.memory == 0 ? nullptr : EndForMemory);
  return absl::OkStatus();
}

std::string OutOfMemoryMessage() {
  State& state = GlobalState();
  std::lock_guard<std::mutex> lock(state.mutex);
  if (state.memory == 0) return "there is not enough memory";
  return absl::StrCat("needs more memory than ", HumanSize(state.memory),
                      "; allow more with --max-memory");
}

}  // namespace ingot
