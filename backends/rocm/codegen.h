// The target `rocm`: loops as code objects of AMD's GPUs.
#ifndef INGOT_BACKENDS_ROCM_CODEGEN_H_
#define INGOT_BACKENDS_ROCM_CODEGEN_H_

#include "absl/status/status.h"
#include "compiler/target/target.h"

namespace ingot {

absl::Status RegisterRocmTarget(TargetRegistry* registry);

}  // namespace ingot

#endif  // INGOT_BACKENDS_ROCM_CODEGEN_H_
