#include "compiler/relay/ops/taps.h"

#include "absl/strings/str_cat.h"
#include "compiler/te/tags.h"

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

std::vector<Place> PlacesOf(const Coordinate& c, const std::vector<Tap>& taps) {
  std::vector<Place> places;
  for (const Tap& tap : taps) {
    places.push_back(
        {MakeSelect(c.Inside(tap.position), c.Index(tap.position), I64(-1)),
         tap.weight});
  }
  return places;
}

TapTables::TapTables(
    const ComputeContext& c, absl::string_view name,
    const std::vector<Expr>& shape, const Coordinate& coordinate,
    const std::function<std::vector<Tap>(const Indices&)>& taps) {
  const auto table = [&](absl::string_view what, size_t k, Expr Place::*part) {
    return c.graph.Compute(SubName(c, absl::StrCat(name, "_", what, k)), shape,
                           [&](const Indices& i) {
                             return PlacesOf(coordinate, taps(i))[k].*part;
                           },
                           {{te::kTable, "1"}});
  };
  const size_t count = taps(Indices(shape.size(), I64(0))).size();
  for (size_t k = 0; k < count; ++k) {
    tables_.emplace_back(table("index", k, &Place::index),
                         table("weight", k, &Place::weight));
  }
}

std::vector<Place> TapTables::At(const Indices& point) const {
  std::vector<Place> places;
  for (const auto& [index, weight] : tables_) {
    places.push_back({index(point), weight(point)});
  }
  return places;
}

std::vector<Expr> Terms(const te::Tensor& x, const Indices& first,
                        const std::vector<std::vector<Place>>& places,
                        bool unweighted) {
  std::vector<Expr> terms;
  std::vector<size_t> pick(places.size(), 0);
  while (true) {
    Indices at = first;
    std::vector<Expr> inside;
    Expr weight;
    for (size_t d = 0; d < places.size(); ++d) {
      const Place& place = places[d][pick[d]];
      // Not elsewhere, whatever memory holds.
      at.push_back(Max(Min(place.index, x.shape()[at.size()] - 1), I64(0)));
      inside.push_back(Ge(place.index, I64(0)));
      weight = weight == nullptr ? place.weight : weight * place.weight;
    }
    const Expr value = MakeSelect(All(inside), ToFloat(x(at)), F(0));
    terms.push_back(unweighted ? value : value * weight);
    size_t d = places.size();
    while (d > 0 && ++pick[d - 1] == places[d - 1].size()) pick[--d] = 0;
    if (d == 0) return terms;
  }
}

Expr SumOf(const std::vector<Expr>& terms) {
  Expr sum = terms[0];
  for (size_t k = 1; k < terms.size(); ++k) sum = sum + terms[k];
  return sum;
}

}  // namespace ingot::relay::ops
