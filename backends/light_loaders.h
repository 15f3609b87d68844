#ifndef INGOT_BACKENDS_LIGHT_LOADERS_H_
#define INGOT_BACKENDS_LIGHT_LOADERS_H_

#include "absl/status/status.h"
#include "loaders/loader_registry.h"

namespace ingot {

// Registers the loaders of RegisterBuiltinLoaders but for those that bring a
// compiler along (`heavy` in backends/BUILD.bazel): for programs that run
// models. Errors: AlreadyExists.
absl::Status RegisterLightLoaders(LoaderRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_LIGHT_LOADERS_H_
