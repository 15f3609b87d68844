// Loops that no schedule made vectors of, as loops over lanes. LLVM finds such
// loops itself; GCC's own vectors stop where a loop calls a function, or where
// only a run knows how often it goes.
#ifndef INGOT_COMPILER_CODEGEN_LANE_LOOPS_H_
#define INGOT_COMPILER_CODEGEN_LANE_LOOPS_H_

#include "compiler/tir/ir.h"

namespace ingot::codegen {

// The function with innermost serial loops in vectors of at most `vector_bits`,
// where they compute functions of f32 such as exp, their iterations do not
// depend on each other, and they store neighbours, or every second element:
//
//   for i in [0, n) { %y[i] = exp(%x[i]) }
//
// becomes
//
//   for io in [0, n / 16) {
//     vectorized i in [io * 16, +16) { %y[i] = exp(%x[i]) }
//   }
//   for i in [n / 16 * 16, +n - n / 16 * 16) { %y[i] = exp(%x[i]) }
//
// The body is the same pointer where there is no such loop.
tir::PrimFunc MakeLaneLoops(const tir::PrimFunc& func, int vector_bits);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_LANE_LOOPS_H_
