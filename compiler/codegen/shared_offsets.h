// Offsets that accesses to memory have in common but for a constant, where they
// are products of sizes that only a run knows: compilers of C work each of them
// out by itself.
#ifndef INGOT_COMPILER_CODEGEN_SHARED_OFFSETS_H_
#define INGOT_COMPILER_CODEGEN_SHARED_OFFSETS_H_

#include <vector>

#include "absl/types/span.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/ir.h"

namespace ingot::codegen {

// Returns what several of the scalar accesses and of the vectors of neighbours
// in `stores` add to, each once, in the order of the first access, without a
// constant.
std::vector<tir::Affine> SharedOffsets(
    absl::Span<const tir::Store* const> stores, const tir::Bounds& bounds);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_SHARED_OFFSETS_H_
