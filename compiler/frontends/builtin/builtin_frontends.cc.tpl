// Made from compiler/frontends/builtin/BUILD.bazel.

#include "compiler/frontends/builtin/builtin_frontends.h"

// {INCLUDES}

namespace ingot {

absl::Status RegisterBuiltinFrontends(FrontendRegistry* registry) {
  absl::Status status;
  // {CALLS}
  return status;
}

}  // namespace ingot
