#ifndef INGOT_BACKENDS_BUILTIN_TARGETS_H_
#define INGOT_BACKENDS_BUILTIN_TARGETS_H_

#include "absl/status/status.h"
#include "compiler/target/target.h"

namespace ingot {

// Registers the target kinds of all backends that are built in.
// Errors: AlreadyExists.
absl::Status RegisterBuiltinTargets(TargetRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_BUILTIN_TARGETS_H_
