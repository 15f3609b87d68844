#include "compiler/te/place.h"

namespace ingot::te {

using tir::BinaryOp;
using tir::MakeBinary;

Affine FloorDiv(const Affine& a, const Affine& b, const Bounds& bounds) {
  return bounds.ToAffine(
      MakeBinary(BinaryOp::kFloorDiv, a.ToExpr(), b.ToExpr()));
}

Affine FloorMod(const Affine& a, const Affine& b, const Bounds& bounds) {
  return bounds.ToAffine(
      MakeBinary(BinaryOp::kFloorMod, a.ToExpr(), b.ToExpr()));
}

std::vector<Expr> Place::At(std::vector<Affine> element,
                            const Bounds& bounds) const {
  std::vector<Expr> indices, own;
  for (size_t i = 0; i < element.size(); ++i) {
    Affine index = element[i];
    if (!origin.empty()) index = index - origin[i];
    if (!shares.empty()) {
      const ThreadShare& share = shares[i];
      const auto take = [&](int64_t extent) {
        Affine inner = FloorMod(index, Affine(extent), bounds);
        index = FloorDiv(index, Affine(extent), bounds);
        return inner;
      };
      // From the innermost: [round, group, turn, thread of the group, of run].
      Affine of_thread = take(share.run);
      if (share.threads > 0) {
        Affine thread = take(share.group);
        of_thread.Add(take(share.turns), share.run);
        thread.Add(take(share.threads / share.group), share.group);
        of_thread.Add(index, share.run * share.turns);
        index = std::move(thread);
      }
      own.push_back(of_thread.ToExpr());
    }
    if (parts && static_cast<size_t>(parts->axis) == i) {
      const Affine size(parts->size);
      indices.insert(indices.begin(), FloorDiv(index, size, bounds).ToExpr());
      index = FloorMod(index, size, bounds);
    }
    indices.push_back(index.ToExpr());
  }
  indices.insert(indices.end(), own.begin(), own.end());
  return indices;
}

}  // namespace ingot::te
