#include "compiler/relay/ops/clamped_load.h"

#include "compiler/tir/arith/simplify.h"

namespace ingot::relay::ops {

Expr ClampedLoad(const te::Tensor& x, const Indices& at,
                 const std::vector<int>& dims) {
  const tir::Bounds bounds = tir::Bounds::Dimensions();
  std::vector<Expr> some;
  for (int d : dims) {
    Expr has_elements = tir::Simplify(Gt(x.shape()[d], I64(0)), &bounds);
    if (!tir::IsConstInt(has_elements, 1)) some.push_back(has_elements);
  }
  if (some.empty()) return x(at);
  return tir::MakeSelect(All(some), x(at), tir::MakeConst(x.dtype(), 0));
}

}  // namespace ingot::relay::ops
