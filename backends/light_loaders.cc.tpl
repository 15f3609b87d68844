// Made from backends/BUILD.bazel.

#include "backends/light_loaders.h"

// {INCLUDES}

namespace ingot {

absl::Status RegisterLightLoaders(LoaderRegistry* registry) {
  absl::Status status;
  // {CALLS}
  return status;
}

}  // namespace ingot
