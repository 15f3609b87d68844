#include "compiler/driver/main/dims.h"

#include <cstdint>

#include "compiler/tir/arith/simplify.h"

namespace ingot {
namespace {

tir::Expr Convert(const DimExpr& dim, const std::vector<tir::Expr>& symbols) {
  if (dim.op() == DimExpr::CONST) return tir::MakeInt(dim.value());
  if (dim.op() == DimExpr::SYMBOL) return symbols[dim.value()];
  const tir::Expr a = Convert(dim.operands(0), symbols);
  const tir::Expr b = Convert(dim.operands(1), symbols);
  switch (dim.op()) {
    case DimExpr::ADD:
      return a + b;
    case DimExpr::SUB:
      return a - b;
    case DimExpr::MUL:
      return a * b;
    case DimExpr::FLOOR_DIV:
      return a / b;
    case DimExpr::FLOOR_MOD:
      return a % b;
    case DimExpr::MIN:
      return tir::Min(a, b);
    default:
      return tir::Max(a, b);
  }
}

tir::Expr AtLeastZero(const tir::Expr& e) {
  return tir::Max(e, tir::MakeFloat(0, DataType::Float(64)));
}

}  // namespace

tir::Expr ToExpr(const DimExpr& dim, const std::vector<tir::Expr>& symbols) {
  return tir::Simplify(Convert(dim, symbols));
}

tir::Expr UpperBound(const tir::Expr& e) {
  const DataType f64 = DataType::Float(64);
  int64_t value = 0;
  if (tir::AsConstInt(e, &value)) {
    return tir::MakeFloat(static_cast<double>(value), f64);
  }
  // A negated dimension is 0 at most.
  if (tir::As<tir::Unary>(e) != nullptr) return tir::MakeFloat(0, f64);
  const auto* binary = tir::As<tir::Binary>(e);
  if (binary == nullptr) return tir::MakeCast(f64, e);
  const tir::Expr a = UpperBound(binary->a);
  const tir::Expr b = UpperBound(binary->b);
  switch (binary->op) {
    case tir::BinaryOp::kAdd:
      return a + b;
    case tir::BinaryOp::kMul:
      return AtLeastZero(a) * AtLeastZero(b);
    case tir::BinaryOp::kMin:
      return tir::Min(a, b);
    case tir::BinaryOp::kMax:
      return tir::Max(a, b);
    case tir::BinaryOp::kFloorDiv:
    case tir::BinaryOp::kFloorMod:
      if (tir::AsConstInt(binary->b, &value) && value > 0) {
        const bool is_div = binary->op == tir::BinaryOp::kFloorDiv;
        return is_div ? AtLeastZero(a) / b : tir::Min(AtLeastZero(a), b);
      }
      return AtLeastZero(a);
    default:
      // A difference is no more than its left side.
      return AtLeastZero(a);
  }
}

}  // namespace ingot
