// The target kind `image`: the operators on encoded images, which libraries
// read. Its artifacts name them; the loader `image` has the libraries.
#ifndef INGOT_BACKENDS_IMAGE_CODEGEN_H_
#define INGOT_BACKENDS_IMAGE_CODEGEN_H_

#include "absl/status/status.h"
#include "compiler/target/target.h"

namespace ingot {

// Errors: AlreadyExists.
absl::Status RegisterImageTarget(TargetRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_IMAGE_CODEGEN_H_
