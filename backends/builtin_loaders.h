#ifndef INGOT_BACKENDS_BUILTIN_LOADERS_H_
#define INGOT_BACKENDS_BUILTIN_LOADERS_H_

#include "absl/status/status.h"
#include "loaders/loader_registry.h"

namespace ingot {

// Registers the loaders of all backends that are built in, beside the load
// stage's own (RegisterCoreLoaders). llvmjit's brings LLVM along: see
// light_loaders.h. A program that is small on purpose registers just those that
// it needs.
// Errors: AlreadyExists.
absl::Status RegisterBuiltinLoaders(LoaderRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_BUILTIN_LOADERS_H_
