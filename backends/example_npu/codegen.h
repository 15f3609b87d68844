// The target kind `example_npu`: products of small integers for an accelerator
// that does not exist. The example to copy; README.md walks through it.
#ifndef INGOT_BACKENDS_EXAMPLE_NPU_CODEGEN_H_
#define INGOT_BACKENDS_EXAMPLE_NPU_CODEGEN_H_

#include "absl/status/status.h"
#include "compiler/target/target.h"

namespace ingot {

// Errors: AlreadyExists.
absl::Status RegisterExampleNpuTarget(TargetRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_EXAMPLE_NPU_CODEGEN_H_
