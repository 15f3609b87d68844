#include "tools/ingot/bisect_loops.h"

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "compiler/tir/interpreter.h"

namespace ingot {
namespace {

absl::StatusOr<bool> IsRight(const tir::PrimFunc& loops,
                             const WrongKernel& kernel,
                             const Tolerance& tolerance) {
  std::vector<Tensor> args = kernel.operands;
  for (const Tensor& expected : kernel.expected) {
    INGOT_ASSIGN_OR_RETURN(Tensor result,
                           Tensor::Empty(expected.dtype(), expected.shape()));
    args.push_back(std::move(result));
  }
  INGOT_RETURN_IF_ERROR(tir::Interpret(loops, args));
  for (size_t i = 0; i < kernel.expected.size(); ++i) {
    INGOT_ASSIGN_OR_RETURN(const Comparison c,
                           Compare(args[kernel.operands.size() + i],
                                   kernel.expected[i], tolerance));
    if (!c.ok()) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<const LoopStage*> FirstWrongStage(
    const std::vector<LoopStage>& stages, const WrongKernel& kernel,
    const Tolerance& tolerance) {
  for (const LoopStage& stage : stages) {
    absl::StatusOr<bool> right = IsRight(stage.loops, kernel, tolerance);
    // Undefined arithmetic, an access out of range: no right loops have that.
    if (!right.ok() && !absl::IsUnimplemented(right.status())) return &stage;
    if (!right.ok()) {
      return Annotate(right.status(), absl::StrCat("after ", stage.name));
    }
    if (!*right) return &stage;
  }
  return nullptr;
}

}  // namespace ingot
