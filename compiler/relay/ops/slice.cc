// Slices: every step-th element between two places of a dimension.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "compiler/relay/dim.h"
#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/known.h"
#include "compiler/tir/arith/simplify.h"

namespace ingot::relay::ops {
namespace {

using Ints = std::vector<int64_t>;

// An empty result may start anywhere.
bool StartsInside(int64_t start, int64_t step, int64_t extent) {
  return step > 0 ? start >= 0 && start <= extent
                  : start >= -1 && start <= std::max<int64_t>(extent - 1, 0);
}

// After the last element comes what a step leaves over.
bool EndsInside(int64_t end, int64_t step, int64_t extent) {
  return step > 0 ? end >= 0 && end - extent < step
                  : end > -1 + step && end <= std::max<int64_t>(extent - 1, 0);
}

// Whether all elements from `start` to `end` are elements of the dimension.
bool StaysInside(int64_t start, int64_t end, int64_t step, int64_t extent) {
  const int64_t span = step > 0 ? end - start : start - end;
  if (span <= 0) return true;
  const int64_t last = start + (span - 1) / (step > 0 ? step : -step) * step;
  return start >= 0 && start < extent && last >= 0 && last < extent;
}

absl::StatusOr<Shape> InferSlice(const TensorType& x, const Attrs& attrs) {
  const Shape& starts = attrs.Get<Shape>("starts");
  const Shape& ends = attrs.Get<Shape>("ends");
  const Ints& axes = attrs.Get<Ints>("axes");
  const Ints steps = attrs.GetEach("steps", axes.size());
  const int rank = static_cast<int>(x.shape.size());
  if (starts.size() != axes.size() || ends.size() != axes.size() ||
      steps.size() != axes.size()) {
    return Invalid("starts, ends, axes and steps differ in length");
  }
  INGOT_RETURN_IF_ERROR(NormalizeAxes(axes, rank).status());
  Shape shape = x.shape;
  for (size_t k = 0; k < axes.size(); ++k) {
    if (axes[k] < 0) return Invalid("axes must not be negative");
    Dim& dim = shape[axes[k]];
    const int64_t step = steps[k];
    if (step == 0 || step == std::numeric_limits<int64_t>::min()) {
      return Invalid("step ", step);
    }
    int64_t extent, start, end;
    const bool known_start = ConstDim(starts[k], &start);
    const bool known_end = ConstDim(ends[k], &end);
    // |step| beyond any extent: one element.
    const int64_t size =
        std::min<int64_t>(step > 0 ? step : -step, int64_t{1} << 40);
    if (ConstDim(dim, &extent)) {
      // If elements may begin anywhere, the last one may be the one before the
      // end.
      const int64_t last_step = known_start ? step : step > 0 ? 1 : -1;
      const bool is_inside =
          (!known_start || StartsInside(start, step, extent)) &&
          (!known_end || EndsInside(end, last_step, extent)) &&
          (!known_start || !known_end ||
           StaysInside(start, end, step > 0 ? size : -size, extent));
      if (!is_inside) {
        return Invalid("[", known_start ? start : 0, ", ", known_end ? end : 0,
                       ") is outside of dimension ", axes[k], " of ",
                       ToString(x));
      }
    }
    const Dim span = step > 0 ? ends[k] - starts[k] : starts[k] - ends[k];
    if (known_start && known_end) {
      const int64_t n = step > 0 ? end - start : start - end;
      dim = I64(n <= 0 ? 0 : (n - 1) / size + 1);
    } else {
      dim = CeilDiv(span, size);
    }
  }
  return shape;
}

// Notes what a slice whose ends only a run knows relies on: that it ends, or
// begins when it goes backward, inside of its dimensions. One of no elements
// relies on nothing.
void AssumeInside(const TensorType& x, const Attrs& attrs,
                  std::vector<DimAssumption>* assumed) {
  const tir::Bounds dimensions = tir::Bounds::Dimensions();
  const Ints& axes = attrs.Get<Ints>("axes");
  const Ints steps = attrs.GetEach("steps", axes.size());
  for (size_t k = 0; k < axes.size(); ++k) {
    const Dim& dim = x.shape[axes[k]];
    const Dim start = attrs.Get<Shape>("starts")[k];
    const Dim end = attrs.Get<Shape>("ends")[k];
    const bool is_empty = steps[k] > 0
                              ? tir::Prove(tir::Le(end, start), &dimensions)
                              : tir::Prove(tir::Le(start, end), &dimensions);
    if (is_empty) continue;
    Dim bound = steps[k] > 0 ? end : start + 1;
    if (tir::Prove(tir::Le(bound, dim), &dimensions)) continue;
    // The end may lie up to a step after the last element.
    if (steps[k] > 1 && steps[k] < std::numeric_limits<int32_t>::max()) {
      bound = SimplifyDim(
          start + (CeilDiv(bound - start, steps[k]) - 1) * steps[k] + 1);
    }
    assumed->push_back({Min(bound, dim), bound});
  }
}

// Every step-th element, where they are.
absl::StatusOr<Tensors> Compute(const ComputeContext& c) {
  const te::Tensor x = c.inputs[0];
  const Ints& axes = c.attrs.Get<Ints>("axes");
  const Ints steps = c.attrs.GetEach("steps", axes.size());
  const Shape& starts = c.attrs.Get<Shape>("starts");
  return Tensors{
      c.graph.Compute(c.name, c.outputs[0].shape, [&](const Indices& i) {
        Indices at = i;
        for (size_t k = 0; k < axes.size(); ++k) {
          at[axes[k]] = starts[k] + i[axes[k]] * steps[k];
        }
        return x(at);
      })};
}

OpDef Slice() {
  OpDef def;
  def.name = "slice";
  def.doc = "every step-th element from start up to end, along axes";
  def.fusion = FusionKind::kInjective;
  def.attrs = {
      ShapeAttr("starts", "in [0, extent]; below extent for steps < 0",
                kRequired),
      ShapeAttr("ends",
                "in [0, extent]; -1 ends a backward slice at 0; the last step "
                "may lead further",
                kRequired),
      IntsAttr("axes", "distinct, not negative", kRequired),
      EachAttr("steps", "not 0", 1)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_ASSIGN_OR_RETURN(Shape shape, InferSlice(c.type(0), c.attrs));
    if (c.assumed != nullptr) AssumeInside(c.type(0), c.attrs, c.assumed);
    return Types{{c.type(0).dtype, std::move(shape)}};
  };
  def.compute = Compute;
  def.traits = kNeverGrows | kCuts;
  def.layout_rule = LayoutRule::kSlices;
  def.compute_known = &CopySliced;
  def.max_inputs = -1;  // values whose shapes bind symbols
  return def;
}

}  // namespace

absl::Status RegisterSlice(OpRegistry* registry) {
  return RegisterAllOf(registry, {Slice()});
}

}  // namespace ingot::relay::ops
