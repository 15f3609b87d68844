// Logs of tuning.
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/tuning/tuning_log.h"
#include "tests/fuzz/readers/target.h"

namespace ingot::fuzz {

std::vector<std::string> Seeds() {
  using tuning::TuningLog;
  TuningLog log;
  log.Add({"3f2a", "llvm/9c", "0.1.0", 0, "cpu.matmul"},
          {"vectors=2,rows=6", 0.5, "vectors=4,rows=3", 0.625, 1});
  const std::string one = log.ToString();
  log.Add({"3f2b", "c/00", "0.1.0", 7, "cpu.window"},
          {"width=4", 1e-3, "width=8", 1e9, 16});
  return {one, log.ToString(), one + one, "# nothing\n"};
}

absl::StatusOr<bool> TryInput(absl::string_view bytes) {
  using tuning::TuningLog;
  int64_t bad = 0, last = 0;
  bool in_order = true;
  const auto on_bad_line = [&](int64_t line, absl::string_view why) {
    ++bad;
    in_order = in_order && line > last && !why.empty();
    last = line;
  };
  const TuningLog log = TuningLog::Parse(bytes, on_bad_line);
  if (!in_order) return absl::InternalError("lines are not told in order");
  const bool is_sound = bad == 0;
  const std::string written = log.ToString();
  bad = last = 0;
  const TuningLog again = TuningLog::Parse(written, on_bad_line);
  if (bad > 0 || again.ToString() != written ||
      again.results().size() != log.results().size()) {
    return absl::InternalError("written and read, the log is another one");
  }
  return is_sound;
}

}  // namespace ingot::fuzz
