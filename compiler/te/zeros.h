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

// Conditions that depend on the loop over a reduce axis, which has been made.
// Those that always hold are left out.
struct TermConditions {
  // All terms are 0 where one of them does not hold.
  std::vector<Expr> some;
  // Where all of them hold, no term of the loops inside fails a condition of
  // its own for the reduce axis' sake. Nothing where `some` says as much.
  std::vector<Expr> all;
};

// Returns those that do not depend on the loops inside or, where these include
// the stage's neighbours that skip zeros, those that hold for one or all of
// their iterations.
TermConditions ConditionsOfTerms(const LoopState& state, int reduce_axis);

}  // namespace ingot::te

#endif  // INGOT_COMPILER_TE_ZEROS_H_
