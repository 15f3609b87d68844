#include "compiler/schedules/cpu/borders.h"

#include <algorithm>

#include "compiler/schedules/stage_facts.h"
#include "compiler/te/conditions.h"
#include "compiler/tir/arith/affine.h"
#include "compiler/tir/arith/simplify.h"

namespace ingot::te::cpu {
namespace {

constexpr int kHeight = 2, kWidth = 3;  // axes
// Each row at a border is code of its own.
constexpr int64_t kMostBorderRows = 4;

// The elements of a padded axis, of so many, that are no padding.
std::optional<Interior> DataOf(const Stage& pad, int axis, int64_t extent) {
  const Expr& shape = pad.output().shape()[axis];
  const bool is_known = ConstExtent(shape).has_value();
  Interior data = {0, extent};
  for (const Affine& cut :
       ConditionCuts(pad.op(), axis, tir::Bounds::Dimensions())) {
    const auto place = cut.AsConst();
    const auto from_end = (tir::ToAffine(shape) - cut).AsConst();
    if (place && (!is_known || *place <= extent / 2)) {
      data.begin = std::max(data.begin, *place);
    } else if (from_end) {
      data.end = std::min(data.end, extent - *from_end);
    } else {
      return std::nullopt;
    }
  }
  return data;
}

// A window reads along an axis at place * step + first + tap * dilation.
struct Window {
  int64_t step, first, taps, dilation;
  int64_t last() const { return first + (taps - 1) * dilation; }
};

std::optional<Window> WindowOf(const Operation& op, const Expr& index,
                               const tir::VarPtr& place) {
  Affine rest = tir::ToAffine(index);
  Window window = {rest.CoefficientOf(place.get()), 0, 1, 0};
  if (window.step <= 0) return std::nullopt;
  rest.Add(Affine::Atom(place), -window.step);
  for (size_t i = 0; i < op.reduce_axis.size(); ++i) {
    const auto taps = ConstExtent(op.reduce_extent[i]);
    const int64_t step = rest.CoefficientOf(op.reduce_axis[i].get());
    if (step == 0) continue;
    if (!taps || step < 0 || window.dilation != 0) return std::nullopt;
    rest.Add(Affine::Atom(op.reduce_axis[i]), -step);
    window.taps = *taps;
    window.dilation = step;
  }
  const auto first = rest.AsConst();
  if (!first || *first < 0) return std::nullopt;
  window.first = *first;
  return window;
}

}  // namespace

std::optional<Interior> InteriorOf(const Stage& acc, const Stage& pad,
                                   int axis) {
  const auto extent = ConstExtent(acc.output().shape()[axis]);
  const auto padded = ConstExtent(pad.output().shape()[axis]);
  if (!extent || !padded) return std::nullopt;
  const auto data = DataOf(pad, axis, *padded);
  if (!data) return std::nullopt;
  Interior interior = {0, *extent};
  for (const tir::Load* load : LoadsOf(acc.op().value)) {
    if (load->buffer != pad.output().buffer) continue;
    const auto window =
        WindowOf(acc.op(), load->indices[axis], acc.op().axis[axis]);
    if (!window) return std::nullopt;
    interior.begin = std::max(
        interior.begin, CeilDiv(data->begin - window->first, window->step));
    const int64_t room = data->end - window->last();  // for a window's first
    interior.end =
        std::min(interior.end, room <= 0 ? 0 : CeilDiv(room, window->step));
  }
  interior.begin = std::min(interior.begin, *extent);
  interior.end = std::max(interior.begin, interior.end);
  return interior;
}

std::vector<int64_t> TileCuts(const Interior& interior, int64_t extent,
                              int64_t tile) {
  std::vector<int64_t> cuts;
  const int64_t begin = CeilDiv(interior.begin, tile) * tile;
  const int64_t end = interior.end == extent
                          ? extent
                          : std::max(begin, interior.end / tile * tile);
  for (int64_t cut = tile; cut <= begin; cut += tile) cuts.push_back(cut);
  for (int64_t cut = end; cut < extent; cut += tile) cuts.push_back(cut);
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  while (!cuts.empty() && cuts.back() >= extent) cuts.pop_back();
  return cuts;
}

std::optional<std::vector<WindowPart>> WindowParts(const Stage& acc,
                                                   const Stage& pad, int axis) {
  std::optional<Window> window;
  for (const tir::Load* load : LoadsOf(acc.op().value)) {
    if (load->buffer != pad.output().buffer) continue;
    if (window) return std::nullopt;
    window = WindowOf(acc.op(), load->indices[axis], acc.op().axis[axis]);
    if (!window || window->first != 0) return std::nullopt;
  }
  if (!window) return std::nullopt;
  const Expr& shape = acc.output().shape()[axis];
  int64_t extent = GuessExtent(shape);
  const auto known = ConstExtent(pad.output().shape()[axis]);
  const int64_t padded =
      known.value_or((extent - 1) * window->step + window->last() + 1);
  auto data = DataOf(pad, axis, padded);
  if (!data) return std::nullopt;
  if (!known && !ConstExtent(shape)) {
    // Wide padding lies around as many places as are guessed, not in their
    // stead.
    const int64_t more = data->begin + (padded - data->end);
    extent += more / window->step;
    data->end += more / window->step * window->step;
  }
  const auto tap_at = [&](int64_t element) {  // the first there or beyond
    if (element <= 0) return int64_t{0};
    if (window->dilation == 0) return window->taps;
    return std::min(CeilDiv(element, window->dilation), window->taps);
  };
  std::vector<WindowPart> parts;
  int64_t first = 0, end = 0;  // taps of the last part
  for (int64_t place = 0; place < extent; ++place) {
    const int64_t f = tap_at(data->begin - place * window->step);
    const int64_t e = std::max(f, tap_at(data->end - place * window->step));
    if (parts.empty() || f != first || e != end) {
      parts.push_back({place, place, e - f});
    }
    first = f;
    end = e;
    parts.back().end = place + 1;
  }
  return parts;
}

std::vector<int64_t> Borders::Cuts(int64_t tile) const {
  if (is_guess) return {};
  if (interior) return TileCuts(*interior, columns.back().end, tile);
  std::vector<int64_t> cuts;
  for (size_t i = 1; i < columns.size(); ++i) cuts.push_back(columns[i].begin);
  return cuts;
}

double TapsUsed(const std::vector<WindowPart>& parts, int64_t taps) {
  double used = 0;
  for (const WindowPart& part : parts) {
    used += static_cast<double>((part.end - part.begin) * part.taps);
  }
  return used / static_cast<double>(parts.back().end * taps);
}

std::optional<PlaneInterior> PlaneInteriorOf(const Stage& acc,
                                             const Stage& pad) {
  const auto rows = InteriorOf(acc, pad, kHeight);
  const auto columns = InteriorOf(acc, pad, kWidth);
  if (!rows || !columns) return std::nullopt;
  const int64_t height = GuessExtent(acc.output().shape()[kHeight]);
  if (height - (rows->end - rows->begin) > kMostBorderRows) {
    return std::nullopt;
  }
  return PlaneInterior{*rows, *columns};
}

void CutAtBorders(Stage* out, int axis, const Interior& interior,
                  int64_t tile) {
  const int64_t extent = GuessExtent(out->output().shape()[axis]);
  const std::vector<int64_t> cuts = TileCuts(interior, extent, tile);
  if (!cuts.empty()) out->Specialize(out->axis(axis), cuts);
}

void CutAtBorders(Stage* out, const PlaneInterior& interior, int64_t tile) {
  CutAtBorders(out, kHeight, interior.rows, /*tile=*/1);
  CutAtBorders(out, kWidth, interior.columns, tile);
}

}  // namespace ingot::te::cpu
