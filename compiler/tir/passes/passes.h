#ifndef INGOT_COMPILER_TIR_PASSES_PASSES_H_
#define INGOT_COMPILER_TIR_PASSES_PASSES_H_

#include "absl/status/statusor.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/ir.h"

// The passes, each in a file of its name, and the list of them. All take a
// verified function and return a verified one, and are safe to run from several
// threads.
namespace ingot::tir {

// Simplifies expressions and statements; see simplify.h.
inline absl::StatusOr<PrimFunc> SimplifyLoops(const PrimFunc& func) {
  return Simplify(func);
}

// Copies the body of each unrolled loop, so
//
//   unrolled i in [0, 2) { %acc[i] = 0.0f }
//
// becomes
//
//   %acc[0] = 0.0f
//   %acc[1] = 0.0f
//
// and simplifies, so that the indices of accumulators are constants. A loop
// whose copies would be too many statements becomes a serial one.
absl::StatusOr<PrimFunc> UnrollLoops(const PrimFunc& func);

// Turns vectorized loops into vector code, so
//
//   vectorized j in [0, 8) { %out[i, j] = %a[i, j] + %b[i] }
//
// becomes
//
//   %out[i, ramp(0, 1, 8)] = %a[i, ramp(0, 1, 8)] + broadcast(%b[i], 8)
//
// Code that does not depend on the lane stays scalar, loops and ifs included.
// A condition on the lane around the body may be one that is true of all lanes
// between two for which it is (`i * 8 + j < n`): then the vector code runs when
// it is true of all, and a serial loop otherwise. A loop that cannot be
// vectorized becomes serial: other conditions on the lane, a store of other
// than one element per lane, allocations, while, two indices of one access that
// depend on the lane.
absl::StatusOr<PrimFunc> VectorizeLoops(const PrimFunc& func);

// Makes allocated workspaces parameters of the function, after the outputs,
// for the caller to provide. Workspaces of one type and of constant sizes that
// are not live at the same time share a parameter.
absl::StatusOr<PrimFunc> PlanWorkspaces(const PrimFunc& func);

// Gives names to what several expressions make of the function's symbols, so
//
//   %y[(h + 1) // 2 * w + i] = %x[(h + 1) // 2 * w + i + 1]
//
// becomes
//
//   let size: i64 = (h + 1) // 2 * w
//   %y[size + i] = %x[size + i + 1]
//
// Nothing is simplified after it, which would not know what the names stand
// for. It is for code that runs from the first statement to the last, not for
// kernels of devices.
absl::StatusOr<PrimFunc> ShareSizes(const PrimFunc& func);

struct PassRow {
  const char* name;
  const char* doc;
  absl::StatusOr<PrimFunc> (*run)(const PrimFunc& func);
};

inline constexpr PassRow kPasses[] = {
    {"simplify", "fold expressions, decide ifs, drop loops of one iteration",
     SimplifyLoops},
    {"unroll_loops", "copy the bodies of unrolled loops", UnrollLoops},
    {"vectorize_loops", "turn vectorized loops into vector code",
     VectorizeLoops},
    {"plan_workspaces", "make allocated workspaces parameters, shared ones",
     PlanWorkspaces},
    {"share_sizes", "name what several expressions make of symbols",
     ShareSizes},
};

}  // namespace ingot::tir

#endif  // INGOT_COMPILER_TIR_PASSES_PASSES_H_
