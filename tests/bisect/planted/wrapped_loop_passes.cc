// Passes of tir, and the lowering before them, each followed by what is planted
// there, as wrapped_module_passes.cc has it.
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/te/lower.h"
#include "compiler/tir/ir.h"
#include "tests/bisect/planted/plant.h"
#include "tests/bisect/planted/spoil.h"

namespace ingot::planted {
namespace {

using tir::PrimFunc;

absl::StatusOr<PrimFunc> Spoiled(absl::string_view pass,
                                 absl::StatusOr<PrimFunc> result) {
  if (!result.ok() || !PlantOfThisProcess().Is("loops", pass, result->name)) {
    return result;
  }
  Tell(pass);
  return SpoilStores(*result);
}

}  // namespace

#define INGOT_WRAP(Name, symbol, pass)                             \
  absl::StatusOr<PrimFunc> Real##Name(const PrimFunc&) __asm__(    \
      "__real__ZN5ingot3tir" symbol "ERKNS0_8PrimFuncE");          \
  absl::StatusOr<PrimFunc> Wrapped##Name(const PrimFunc&) __asm__( \
      "__wrap__ZN5ingot3tir" symbol "ERKNS0_8PrimFuncE");          \
  absl::StatusOr<PrimFunc> Wrapped##Name(const PrimFunc& func) {   \
    return Spoiled(pass, Real##Name(func));                        \
  }

INGOT_WRAP(UnrollLoops, "11UnrollLoops", "unroll_loops")
INGOT_WRAP(VectorizeLoops, "14VectorizeLoops", "vectorize_loops")
INGOT_WRAP(PlanWorkspaces, "14PlanWorkspaces", "plan_workspaces")
INGOT_WRAP(ShareSizes, "10ShareSizes", "share_sizes")

#undef INGOT_WRAP

// As Debian 12's Abseil has it mangled.
#define INGOT_LOWER                                                  \
  "_ZN5ingot2te5LowerEN4absl7debian311string_viewERKNS0_5GraphENS2_" \
  "4SpanIKNS0_6TensorEEESA_RKNS0_8ScheduleE"

absl::StatusOr<PrimFunc> RealLower(
    absl::string_view name, const te::Graph& graph,
    absl::Span<const te::Tensor> inputs, absl::Span<const te::Tensor> outputs,
    const te::Schedule& schedule) __asm__("__real_" INGOT_LOWER);
absl::StatusOr<PrimFunc> WrappedLower(
    absl::string_view name, const te::Graph& graph,
    absl::Span<const te::Tensor> inputs, absl::Span<const te::Tensor> outputs,
    const te::Schedule& schedule) __asm__("__wrap_" INGOT_LOWER);
absl::StatusOr<PrimFunc> WrappedLower(absl::string_view name,
                                      const te::Graph& graph,
                                      absl::Span<const te::Tensor> inputs,
                                      absl::Span<const te::Tensor> outputs,
                                      const te::Schedule& schedule) {
  return Spoiled("lower", RealLower(name, graph, inputs, outputs, schedule));
}

}  // namespace ingot::planted
