// The target `opencl`: loops as kernels of OpenCL C for a device of its own.
#ifndef INGOT_BACKENDS_OPENCL_CODEGEN_H_
#define INGOT_BACKENDS_OPENCL_CODEGEN_H_

#include "absl/status/status.h"
#include "compiler/target/target.h"

namespace ingot {

absl::Status RegisterOpenclTarget(TargetRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_OPENCL_CODEGEN_H_
