#include "compiler/relay/dim.h"

#include "compiler/tir/arith/simplify.h"

namespace ingot::relay {

Dim SimplifyDim(const Dim& dim) {
  int64_t constant;
  if (tir::AsConstInt(dim, &constant)) return dim;
  const tir::Bounds bounds = tir::Bounds::Dimensions();
  return tir::Simplify(dim, &bounds);
}

std::optional<bool> Decide(const tir::Expr& condition) {
  const tir::Bounds bounds = tir::Bounds::Dimensions();
  int64_t value;
  if (tir::AsConstInt(tir::Simplify(condition, &bounds), &value)) {
    return value != 0;
  }
  return std::nullopt;
}

bool MayBeEqual(const Dim& a, const Dim& b,
                std::vector<DimAssumption>* assumed) {
  int64_t x, y;
  if (tir::AsConstInt(a, &x) && tir::AsConstInt(b, &y)) return x == y;
  if (assumed != nullptr && !SameShape({a}, {b})) assumed->push_back({a, b});
  return true;
}

}  // namespace ingot::relay
