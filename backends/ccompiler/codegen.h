// The target kind `ccompiler`: element-wise arithmetic as plain C, the example
// of a code generator that makes source for a compiler which others wrote.
#ifndef INGOT_BACKENDS_CCOMPILER_CODEGEN_H_
#define INGOT_BACKENDS_CCOMPILER_CODEGEN_H_

#include "absl/status/status.h"
#include "compiler/target/target.h"

namespace ingot {

// Errors: AlreadyExists.
absl::Status RegisterCcompilerTarget(TargetRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_CCOMPILER_CODEGEN_H_
