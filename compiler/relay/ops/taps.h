// Reading an image between its elements: a position becomes taps, elements with
// weights. Internal to compiler/relay/ops.
#ifndef INGOT_COMPILER_RELAY_OPS_TAPS_H_
#define INGOT_COMPILER_RELAY_OPS_TAPS_H_

#include <string>
#include <vector>

#include "compiler/relay/ops/common.h"

namespace ingot::relay::ops {

// Positions and weights are f32, indices i64.
Expr F(double value);
Expr ToFloat(const Expr& e);
Expr ToIndex(const Expr& e);
Expr Floor(const Expr& e);

// The padding says how a position outside of the image is read.
enum class Padding { kZeros, kBorder, kReflection };

// One coordinate of a sampling position.
struct Coordinate {
  Dim extent;
  bool align_corners;
  Padding padding;

  // The nearest position inside of the image.
  Expr Clip(const Expr& x) const;
  // From [-1, 1] to elements.
  Expr Denormalize(const Expr& g) const;
  // Into the image, by mirrors at its edges.
  Expr Reflect(const Expr& x) const;
  // As the padding says.
  Expr Pad(const Expr& x) const;
  // The index of a whole position, in range, and whether it counts.
  Expr Index(const Expr& x) const;
  Expr Inside(const Expr& x) const;
};

struct Tap {
  Expr position, weight;  // a whole number, as a float
};

// The elements that the position `raw` is read from; mode: nearest, linear or
// cubic.
std::vector<Tap> Taps(const Coordinate& c, const std::string& mode,
                      const Expr& raw);

// The elements of x[first..., taps...] by their weights, those outside being 0.
Expr SumOfTaps(const te::Tensor& x, const Indices& first,
               const std::vector<Coordinate>& coordinates,
               const std::vector<std::vector<Tap>>& taps, bool unweighted);

}  // namespace ingot::relay::ops

#endif  // INGOT_COMPILER_RELAY_OPS_TAPS_H_
