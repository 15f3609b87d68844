#ifndef INGOT_COMPILER_TIR_ARITH_COMPARE_H_
#define INGOT_COMPILER_TIR_ARITH_COMPARE_H_

#include <vector>

#include "compiler/tir/ir.h"

namespace ingot::tir {

// A total order by structure, repeatable from run to run: variables come
// first, by age. Zero means structurally equal (the same variables, buffers
// and bits of constants).
int CompareExpr(const Expr& a, const Expr& b);

// Structural equality: the same variables, buffers and bits of constants. Also
// accepts nulls.
bool Equal(const Expr& a, const Expr& b);

// Orders factor lists: longer ones first, then by CompareExpr.
int CompareFactors(const std::vector<Expr>& a, const std::vector<Expr>& b);

}  // namespace ingot::tir

#endif  // INGOT_COMPILER_TIR_ARITH_COMPARE_H_
