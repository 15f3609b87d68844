// Simplifying and deciding integer expressions over symbolic dimensions, each
// of which is at least 0.
#ifndef INGOT_COMPILER_RELAY_DIM_H_
#define INGOT_COMPILER_RELAY_DIM_H_

#include <optional>
#include <vector>

#include "compiler/relay/ir.h"
#include "compiler/relay/op.h"

namespace ingot::relay {

// An equal dimension, usually simpler.
Dim SimplifyDim(const Dim& dim);

// Whether a bool expression holds; nothing where that depends on symbols.
std::optional<bool> Decide(const tir::Expr& condition);

// True when the two are not provably different: equal, or one is symbolic.
// `assumed`, unless it is null, then gets what is not provably equal either.
bool MayBeEqual(const Dim& a, const Dim& b,
                std::vector<DimAssumption>* assumed);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_DIM_H_
