// The target kind `cmsis_nn`: quantised layers become calls of Arm's CMSIS-NN
// in the loops that everything else becomes. README.md says which.
#ifndef INGOT_BACKENDS_CMSIS_NN_CODEGEN_H_
#define INGOT_BACKENDS_CMSIS_NN_CODEGEN_H_

#include "absl/status/status.h"
#include "compiler/target/target.h"

namespace ingot {

// Errors: AlreadyExists.
absl::Status RegisterCmsisNnTarget(TargetRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_CMSIS_NN_CODEGEN_H_
