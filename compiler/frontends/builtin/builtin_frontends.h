#ifndef INGOT_COMPILER_FRONTENDS_BUILTIN_BUILTIN_FRONTENDS_H_
#define INGOT_COMPILER_FRONTENDS_BUILTIN_BUILTIN_FRONTENDS_H_

#include "absl/status/status.h"
#include "compiler/frontends/frontend.h"

namespace ingot {

// Registers the frontends that this build has: FRONTENDS in BUILD.bazel.
absl::Status RegisterBuiltinFrontends(FrontendRegistry* registry);

}  // namespace ingot

#endif  // INGOT_COMPILER_FRONTENDS_BUILTIN_BUILTIN_FRONTENDS_H_
