// The step of a kernel's way from relay to loops after which it is wrong.
#ifndef INGOT_TOOLS_INGOT_BISECT_LOOPS_H_
#define INGOT_TOOLS_INGOT_BISECT_LOOPS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/tir/ir.h"
#include "tools/ingot/bisect_kernels.h"
#include "tools/ingot/compare.h"

namespace ingot {

// The loops of a kernel after a stage: "lower", or a pass of tir.
struct LoopStage {
  std::string name;
  tir::PrimFunc loops;
};

// The first of `stages` whose loops, interpreted on the kernel's operands, do
// not give what is expected; null when all of them do, so that it is the code
// that is wrong. Unimplemented for loops that call other code.
absl::StatusOr<const LoopStage*> FirstWrongStage(
    const std::vector<LoopStage>& stages, const WrongKernel& kernel,
    const Tolerance& tolerance);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_BISECT_LOOPS_H_
