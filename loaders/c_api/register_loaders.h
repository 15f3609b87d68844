#ifndef INGOT_LOADERS_C_API_REGISTER_LOADERS_H_
#define INGOT_LOADERS_C_API_REGISTER_LOADERS_H_

#include "absl/status/status.h"
#include "loaders/loader_registry.h"

namespace ingot::c_api {

// Registers the loaders that a library with the C API knows. Each such library
// defines it; `ingot_library` of tools/ingot_library.bzl writes it.
absl::Status RegisterLoaders(LoaderRegistry* registry);

}  // namespace ingot::c_api

#endif  // INGOT_LOADERS_C_API_REGISTER_LOADERS_H_
