// Made from backends/BUILD.bazel.

#include "backends/light_inspectors.h"

#include "artifact/text_inspectors.h"

// {INCLUDES}

namespace ingot {

absl::Status RegisterLightInspectors(InspectorRegistry* registry) {
  absl::Status status = RegisterTextInspectors(registry);
  // {CALLS}
  return status;
}

}  // namespace ingot
