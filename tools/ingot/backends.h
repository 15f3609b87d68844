// The frontends and backends that a command was built with.
#ifndef INGOT_TOOLS_INGOT_BACKENDS_H_
#define INGOT_TOOLS_INGOT_BACKENDS_H_

#include "absl/status/status.h"
#include "artifact/inspector.h"
#include "compiler/frontends/frontend.h"
#include "compiler/target/target.h"
#include "loaders/loader_registry.h"

namespace ingot {

// Functions, each of which registers one part of all of them. None is null.
// Errors: AlreadyExists for two backends of one name.
struct Backends {
  absl::Status (*register_frontends)(FrontendRegistry*);
  absl::Status (*register_targets)(TargetRegistry*);
  absl::Status (*register_loaders)(LoaderRegistry*);
  absl::Status (*register_inspectors)(InspectorRegistry*);
};

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_BACKENDS_H_
