#include "compiler/relay/ops/taps.h"

namespace ingot::relay::ops {

Expr F(double value) { return MakeConst(DataType::Float(32), value); }
Expr ToFloat(const Expr& e) { return MakeCast(DataType::Float(32), e); }
Expr ToIndex(const Expr& e) { return MakeCast(DataType::Int(64), e); }
Expr Floor(const Expr& e) { return MakeCall(Intrinsic::kFloor, {e}); }

Expr Coordinate::Clip(const Expr& x) const {
  return Min(Max(x, F(0)), ToFloat(extent - 1));
}

Expr Coordinate::Denormalize(const Expr& g) const {
  const Expr size = ToFloat(extent);
  if (align_corners) return (g + F(1)) * F(0.5) * (size - F(1));
  return ((g + F(1)) * size - F(1)) * F(0.5);
}

Expr Coordinate::Reflect(const Expr& x) const {
  const Expr low = F(align_corners ? 0 : -0.5);
  const Expr span = Max(ToFloat(extent) - F(align_corners ? 1 : 0), F(1e-6));
  const Expr distance = MakeCall(Intrinsic::kAbs, {x - low});
  const Expr flips = Floor(distance / span);
  const Expr rest = distance - flips * span;
  const Expr even = Eq(flips - F(2) * Floor(flips * F(0.5)), F(0));
  return MakeSelect(even, rest, span - rest) + low;
}

Expr Coordinate::Pad(const Expr& x) const {
  if (padding == Padding::kBorder) return Clip(x);
  if (padding == Padding::kReflection) return Clip(Reflect(x));
  return x;
}

Expr Coordinate::Index(const Expr& x) const { return ToIndex(Clip(x)); }

Expr Coordinate::Inside(const Expr& x) const {
  return And(Ge(x, F(0)), Le(x, ToFloat(extent - 1)));
}

std::vector<Tap> Taps(const Coordinate& c, const std::string& mode,
                      const Expr& raw) {
  if (mode == "nearest") {
    return {{MakeCall(Intrinsic::kRound, {c.Pad(raw)}), F(1)}};
  }
  if (mode == "linear") {
    const Expr x = c.Pad(raw);
    const Expr low = Floor(x);
    return {{low, F(1) - (x - low)}, {low + F(1), x - low}};
  }
  // Cubic: padding moves each tap, not the position.
  const Expr low = Floor(raw);
  const Expr s = raw - low;
  const double a = -0.75;
  auto outer = [&](const Expr& t) {
    return ((F(a) * t - F(5 * a)) * t + F(8 * a)) * t - F(4 * a);
  };
  auto inner = [&](const Expr& t) {
    return (F(a + 2) * t - F(a + 3)) * t * t + F(1);
  };
  const std::vector<Expr> weights = {outer(s + F(1)), inner(s), inner(F(1) - s),
                                     outer(F(2) - s)};
  std::vector<Tap> taps;
  for (int k = 0; k < 4; ++k) {
    taps.push_back(
        {MakeCall(Intrinsic::kRound, {c.Pad(low + F(k - 1))}), weights[k]});
  }
  return taps;
}

Expr SumOfTaps(const te::Tensor& x, const Indices& first,
               const std::vector<Coordinate>& coordinates,
               const std::vector<std::vector<Tap>>& taps, bool unweighted) {
  Expr sum;
  std::vector<size_t> pick(taps.size(), 0);
  while (true) {
    Indices at = first;
    std::vector<Expr> inside;
    Expr weight;
    for (size_t d = 0; d < taps.size(); ++d) {
      const Tap& tap = taps[d][pick[d]];
      at.push_back(coordinates[d].Index(tap.position));
      inside.push_back(coordinates[d].Inside(tap.position));
      weight = weight == nullptr ? tap.weight : weight * tap.weight;
    }
    const Expr value = MakeSelect(All(inside), ToFloat(x(at)), F(0));
    const Expr term = unweighted ? value : value * weight;
    sum = sum == nullptr ? term : sum + term;
    size_t d = taps.size();
    while (d > 0 && ++pick[d - 1] == taps[d - 1].size()) pick[--d] = 0;
    if (d == 0) return sum;
  }
}

}  // namespace ingot::relay::ops
