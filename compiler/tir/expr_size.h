// Questions about expressions as a whole.
#ifndef INGOT_COMPILER_TIR_EXPR_SIZE_H_
#define INGOT_COMPILER_TIR_EXPR_SIZE_H_

#include <vector>

#include "compiler/tir/ir.h"

namespace ingot::tir {

// How many nodes the expression has when printed, where a shared one counts
// each time, up to limit + 1: takes no more time or stack than that many nodes
// need, however long or deep the expression is.
int ExprSize(const Expr& e, int limit);

// The variables in it, each once, in order of appearance.
std::vector<const Var*> VarsOf(const Expr& e);

}  // namespace ingot::tir

#endif  // INGOT_COMPILER_TIR_EXPR_SIZE_H_
