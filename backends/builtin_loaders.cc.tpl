// Made from backends/BUILD.bazel.

#include "backends/builtin_loaders.h"

// {INCLUDES}

namespace ingot {

absl::Status RegisterBuiltinLoaders(LoaderRegistry* registry) {
  absl::Status status;
  // {CALLS}
  return status;
}

}  // namespace ingot
