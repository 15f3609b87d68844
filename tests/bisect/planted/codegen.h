// Targets like those of Ingot, whose code is wrong where $INGOT_PLANT says.
#ifndef INGOT_TESTS_BISECT_PLANTED_CODEGEN_H_
#define INGOT_TESTS_BISECT_PLANTED_CODEGEN_H_

#include "absl/status/status.h"
#include "compiler/target/target.h"

namespace ingot::planted {

// planted_llvm, planted_c and planted_ccompiler, once those are registered.
absl::Status RegisterPlantedTarget(TargetRegistry* registry);

}  // namespace ingot::planted

#endif  // INGOT_TESTS_BISECT_PLANTED_CODEGEN_H_
