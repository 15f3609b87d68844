#include "compiler/tir/arith/compare.h"

#include <cstring>

namespace ingot::tir {
namespace {

template <typename T>
int Compare(const T& a, const T& b) {
  return a < b ? -1 : (b < a ? 1 : 0);
}

int CompareTypes(DataType a, DataType b) {
  if (int c = Compare(a.code, b.code)) return c;
  if (int c = Compare(a.bits, b.bits)) return c;
  return Compare(a.lanes, b.lanes);
}

int CompareAll(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  if (int c = Compare(a.size(), b.size())) return c;
  for (size_t i = 0; i < a.size(); ++i) {
    if (int c = CompareExpr(a[i], b[i])) return c;
  }
  return 0;
}

int Rank(ExprKind kind) {
  return kind == ExprKind::kVar ? -1 : static_cast<int>(kind);
}

template <typename T>
const T& To(const Expr& e) {
  return static_cast<const T&>(*e);
}

}  // namespace

int CompareExpr(const Expr& a, const Expr& b) {
  if (a == b) return 0;
  if (int c = Compare(Rank(a->kind), Rank(b->kind))) return c;
  if (int c = CompareTypes(a->dtype, b->dtype)) return c;
  switch (a->kind) {
    case ExprKind::kIntImm:
      return Compare(To<IntImm>(a).value, To<IntImm>(b).value);
    case ExprKind::kFloatImm:
      return std::memcmp(&To<FloatImm>(a).value, &To<FloatImm>(b).value,
                         sizeof(double));
    case ExprKind::kVar:
      return Compare(To<Var>(a).id, To<Var>(b).id);
    case ExprKind::kUnary:
      if (int c = Compare(To<Unary>(a).op, To<Unary>(b).op)) return c;
      return CompareExpr(To<Unary>(a).a, To<Unary>(b).a);
    case ExprKind::kBinary:
      if (int c = Compare(To<Binary>(a).op, To<Binary>(b).op)) return c;
      if (int c = CompareExpr(To<Binary>(a).a, To<Binary>(b).a)) return c;
      return CompareExpr(To<Binary>(a).b, To<Binary>(b).b);
    case ExprKind::kSelect: {
      const auto &x = To<Select>(a), &y = To<Select>(b);
      if (int c = CompareExpr(x.condition, y.condition)) return c;
      if (int c = CompareExpr(x.on_true, y.on_true)) return c;
      return CompareExpr(x.on_false, y.on_false);
    }
    case ExprKind::kCast:
      return CompareExpr(To<Cast>(a).value, To<Cast>(b).value);
    case ExprKind::kLoad: {
      const auto &x = To<Load>(a), &y = To<Load>(b);
      if (int c = CompareAll(x.indices, y.indices)) return c;
      if (int c = Compare(x.buffer->name, y.buffer->name)) return c;
      return Compare(x.buffer.get(), y.buffer.get());
    }
    case ExprKind::kRamp:
      if (int c = CompareExpr(To<Ramp>(a).base, To<Ramp>(b).base)) return c;
      return CompareExpr(To<Ramp>(a).stride, To<Ramp>(b).stride);
    case ExprKind::kBroadcast:
      return CompareExpr(To<Broadcast>(a).value, To<Broadcast>(b).value);
    case ExprKind::kCall:
      if (int c = Compare(To<Call>(a).intrinsic, To<Call>(b).intrinsic)) {
        return c;
      }
      return CompareAll(To<Call>(a).args, To<Call>(b).args);
  }
  return 0;
}

int CompareFactors(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  if (a.size() != b.size()) return a.size() > b.size() ? -1 : 1;
  return CompareAll(a, b);
}

bool Equal(const Expr& a, const Expr& b) {
  if (a == nullptr || b == nullptr) return a == b;
  return CompareExpr(a, b) == 0;
}

}  // namespace ingot::tir
