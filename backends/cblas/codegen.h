// The target kind `cblas`: matrix products as calls of a BLAS library.
#ifndef INGOT_BACKENDS_CBLAS_CODEGEN_H_
#define INGOT_BACKENDS_CBLAS_CODEGEN_H_

#include "absl/status/status.h"
#include "compiler/target/target.h"

namespace ingot {

// Errors: AlreadyExists.
absl::Status RegisterCblasTarget(TargetRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_CBLAS_CODEGEN_H_
