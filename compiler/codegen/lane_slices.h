#ifndef INGOT_COMPILER_CODEGEN_LANE_SLICES_H_
#define INGOT_COMPILER_CODEGEN_LANE_SLICES_H_

#include <vector>

#include "compiler/tir/ir.h"

namespace ingot::codegen {

// Whether a vector store's value reads the buffer that it writes elsewhere than
// where it writes: lane by lane it could read what it wrote.
bool ReadsElsewhere(const tir::Store& s);

// How many lanes of the widest vector that computes the expression fit so many
// bits. Places do not count.
int LanesThatFit(const tir::Expr& e, int bits);

// A store as several of so many lanes, a power of two, or fewer: of powers of
// two, in their order. The last ones may do again what those before did. Empty
// where that would not be the same, or a variable holds a vector.
std::vector<tir::Stmt> SliceLanes(const tir::Store& s, int lanes);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_LANE_SLICES_H_
