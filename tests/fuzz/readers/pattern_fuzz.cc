// Patterns of backends that are programs of their own.
#include <string>
#include <vector>

#include "base/status_macros.h"
#include "compiler/relay/pattern_parser.h"
#include "tests/fuzz/readers/target.h"

namespace ingot::fuzz {

std::vector<std::string> Seeds() {
  return {"relu(*)", "[relu|clip](add(conv2d(*, const), const))",
          "add|mul(*, [sigmoid](dense(*, *)))"};
}

absl::StatusOr<bool> TryInput(absl::string_view bytes) {
  const absl::StatusOr<relay::Pattern> pattern = relay::ParsePattern(bytes);
  if (!pattern.ok()) return false;
  const std::string written = pattern->ToString();
  INGOT_ASSIGN_OR_RETURN(const relay::Pattern again,
                         relay::ParsePattern(written));
  if (again.ToString() != written) {
    return absl::InternalError("written and read, the pattern is another one");
  }
  return true;
}

}  // namespace ingot::fuzz
