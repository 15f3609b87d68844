// A plan's dimensions as expressions of loop IR.
#ifndef INGOT_COMPILER_DRIVER_MAIN_DIMS_H_
#define INGOT_COMPILER_DRIVER_MAIN_DIMS_H_

#include <vector>

#include "compiler/tir/ir.h"
#include "runtime/plan/plan.pb.h"

namespace ingot {

// The dimension, simplified, where symbol i of its plan is symbols[i], which
// are i64. All that it names must be there: a plan that BuildPlan made names no
// symbol before its phase.
tir::Expr ToExpr(const DimExpr& dim, const std::vector<tir::Expr>& symbols);

// At least the value of an i64 expression of variables that are not negative,
// in f64, where what would overflow is large. The expression is one of ToExpr.
tir::Expr UpperBound(const tir::Expr& e);

}  // namespace ingot

#endif  // INGOT_COMPILER_DRIVER_MAIN_DIMS_H_
