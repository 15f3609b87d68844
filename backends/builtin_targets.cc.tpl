// Made from backends/BUILD.bazel.

#include "backends/builtin_targets.h"

// {INCLUDES}

namespace ingot {

absl::Status RegisterBuiltinTargets(TargetRegistry* registry) {
  absl::Status status;
  // {CALLS}
  return status;
}

}  // namespace ingot
