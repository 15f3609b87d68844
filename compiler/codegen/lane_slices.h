#ifndef INGOT_COMPILER_CODEGEN_LANE_SLICES_H_
#define INGOT_COMPILER_CODEGEN_LANE_SLICES_H_

#include <vector>

#include "compiler/tir/ir.h"

namespace ingot::codegen {

// How many lanes of the widest vector that computes the expression fit so many
// bits. Places of loads do not count.
int LanesThatFit(const tir::Expr& e, int bits);

// A store as several of so many lanes, a power of two, or fewer: of powers of
// two, in their order. Empty where a variable holds a vector. Only for those
// that may run one after the other: of values that read nothing that an earlier
// one has written. The last ones may do again what those before did, where the
// value does not read the buffer at all.
std::vector<tir::Stmt> SliceLanes(const tir::Store& s, int lanes);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_LANE_SLICES_H_
