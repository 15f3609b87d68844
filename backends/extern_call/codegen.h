// The target kind `extern_call`: one operator becomes a call of a C function
// that the user gives. README.md says how that function looks.
#ifndef INGOT_BACKENDS_EXTERN_CALL_CODEGEN_H_
#define INGOT_BACKENDS_EXTERN_CALL_CODEGEN_H_

#include "absl/status/status.h"
#include "compiler/target/target.h"

namespace ingot {

// Errors: AlreadyExists.
absl::Status RegisterExternCallTarget(TargetRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_EXTERN_CALL_CODEGEN_H_
