// Simplifying and deciding integer expressions over symbolic dimensions, each
// of which is at least 0.
#ifndef INGOT_COMPILER_RELAY_DIM_H_
#define INGOT_COMPILER_RELAY_DIM_H_

#include <optional>

#include "compiler/relay/ir.h"

namespace ingot::relay {

// An equal dimension, usually simpler.
Dim SimplifyDim(const Dim& dim);

// Whether a bool expression holds; nothing where that depends on symbols.
std::optional<bool> Decide(const tir::Expr& condition);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_DIM_H_
