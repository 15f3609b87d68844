// Questions about dimension expressions. Internal to the ONNX frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_EXPR_SIZE_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_EXPR_SIZE_H_

#include <vector>

#include "compiler/tir/ir.h"

namespace ingot::onnx_frontend {

// How many nodes the expression prints as, counted up to limit + 1.
int ExprSize(const tir::Expr& e, int limit);

// The variables in it, each once, in order of appearance.
std::vector<const tir::Var*> VarsOf(const tir::Expr& e);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_EXPR_SIZE_H_
