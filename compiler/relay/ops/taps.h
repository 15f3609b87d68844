// Reading an image between its elements: a position becomes taps, elements with
// weights. Internal to compiler/relay/ops.
#ifndef INGOT_COMPILER_RELAY_OPS_TAPS_H_
#define INGOT_COMPILER_RELAY_OPS_TAPS_H_

#include <functional>
#include <string>
#include <utility>
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

// The same taps as indices, -1 for elements outside of the image.
struct Place {
  Expr index, weight;
};

std::vector<Place> PlacesOf(const Coordinate& c, const std::vector<Tap>& taps);

// The taps along one dimension of the points of a shape, in tables: they are
// the same for all channels.
class TapTables {
 public:
  // `taps` are those of a point; as many of each.
  TapTables(const ComputeContext& c, absl::string_view name,
            const std::vector<Expr>& shape, const Coordinate& coordinate,
            const std::function<std::vector<Tap>(const Indices&)>& taps);

  std::vector<Place> At(const Indices& point) const;

 private:
  std::vector<std::pair<te::Tensor, te::Tensor>> tables_;
};

// The elements of x[first..., places...], 0 where outside, by their weights;
// the places of the last dimension change first.
std::vector<Expr> Terms(const te::Tensor& x, const Indices& first,
                        const std::vector<std::vector<Place>>& places,
                        bool unweighted = false);
Expr SumOf(const std::vector<Expr>& terms);

}  // namespace ingot::relay::ops

#endif  // INGOT_COMPILER_RELAY_OPS_TAPS_H_
