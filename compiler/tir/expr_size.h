// The size of expressions.
#ifndef INGOT_COMPILER_TIR_EXPR_SIZE_H_
#define INGOT_COMPILER_TIR_EXPR_SIZE_H_

#include "compiler/tir/ir.h"

namespace ingot::tir {

// Counts the nodes that the expression has when printed, where a shared one
// counts each time, up to limit + 1. It takes no more time or stack than that
// many nodes need, however long or deep the expression is.
int ExprSize(const Expr& e, int limit);

}  // namespace ingot::tir

#endif  // INGOT_COMPILER_TIR_EXPR_SIZE_H_
