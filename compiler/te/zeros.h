// The iterations of a sum's reduce loops that add nothing but zeros.
#ifndef INGOT_COMPILER_TE_ZEROS_H_
#define INGOT_COMPILER_TE_ZEROS_H_

#include <vector>

#include "compiler/te/loop_state.h"
#include "compiler/tir/ir.h"

namespace ingot::te {

// Returns the iterations of the loop over a whole reduce axis, which is yet to
// be made, beyond which all terms are known to be 0. Used by lower.cc only.
Side IterationsWithTerms(const LoopState& state, int reduce_axis);

// Returns conditions that depend on the loop over this reduce axis, which has
// been made, and not on the loops inside: all terms are 0 where one of them
// does not hold. Those that always hold are left out.
std::vector<Expr> ConditionsOfTerms(const LoopState& state, int reduce_axis);

}  // namespace ingot::te

#endif  // INGOT_COMPILER_TE_ZEROS_H_
