// Rules on operators with indices that are constants, as exporters write what
// was a slice in the program that the model comes from.
#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "compiler/relay/passes/rewrite.h"
#include "compiler/relay/passes/simplify.h"

namespace ingot::relay {
namespace {

using Ints = std::vector<int64_t>;

// Indices along one axis, or index vectors one after the other, from 0 up.
// `extents` are those of the axes in turn. Nothing where one is out of range.
std::optional<Ints> PlacesOf(const Tensor& indices, const Ints& extents) {
  Ints places(indices.NumElements());
  for (size_t i = 0; i < places.size(); ++i) {
    // Exact for every number that is in range.
    const double index = NumberAt(indices, i);
    const int64_t extent = extents[i % extents.size()];
    if (index < -extent || index >= extent) return std::nullopt;
    places[i] = static_cast<int64_t>(index);
    if (places[i] < 0) places[i] += extent;
  }
  return places;
}

// Places along one axis.
struct Stretch {
  int64_t start;
  int64_t end;  // after the last
  int64_t step;
};

absl::StatusOr<Value> SliceOf(RuleContext& c, Value x, int64_t axis,
                              const Stretch& stretch) {
  return c.Add("slice", {std::move(x)},
               {{"axes", Ints{axis}},
                {"starts", MakeShape({stretch.start})},
                {"ends", MakeShape({stretch.end})},
                {"steps", Ints{stretch.step}}});
}

// One place, or several at equal distances, are a slice.
absl::StatusOr<Value> Gather(RuleContext& c, const Node& node) {
  const Value& x = node.inputs[0];
  const Tensor* indices = ConstantOf(node.inputs[1]);
  int64_t axis = node.attrs.Get<int64_t>("axis");
  if (axis < 0) axis += x.type().shape.size();
  int64_t extent;
  if (indices == nullptr || indices->NumElements() == 0 ||
      !tir::AsConstInt(x.type().shape[axis], &extent)) {
    return Value{};
  }
  const std::optional<Ints> places = PlacesOf(*indices, {extent});
  if (!places.has_value()) return Value{};
  const int64_t step =
      places->size() > 1 ? (*places)[1] - (*places)[0] : int64_t{1};
  if (step < 1) return Value{};
  for (size_t i = 2; i < places->size(); ++i) {
    if ((*places)[i] - (*places)[i - 1] != step) return Value{};
  }
  INGOT_ASSIGN_OR_RETURN(
      const Value slice,
      SliceOf(c, x, axis, {places->front(), places->back() + 1, step}));
  if (indices->shape().size() == 1) return slice;
  return c.Add("reshape", {slice}, {{"shape", node.outputs[0].shape}});
}

// The box that index vectors of `depth` numbers name, each of its places once
// and in order; nothing if they name anything else.
std::optional<std::vector<Stretch>> BoxOf(const Ints& vectors, size_t depth) {
  std::vector<Stretch> box;
  for (size_t d = 0; d < depth; ++d) {
    box.push_back({vectors[d], vectors[vectors.size() - depth + d] + 1, 1});
    if (box[d].end <= box[d].start) return std::nullopt;
  }
  Ints next(vectors.begin(), vectors.begin() + depth);
  for (size_t i = 0; i < vectors.size(); i += depth) {
    for (size_t d = 0; d < depth; ++d) {
      if (vectors[i + d] != next[d]) return std::nullopt;
    }
    // One place further, the last number the fastest.
    size_t d = depth;
    while (d > 0 && ++next[d - 1] == box[d - 1].end) {
      --d;
      next[d] = box[d].start;
    }
    const bool is_last = i + depth == vectors.size();
    if ((d == 0) != is_last) return std::nullopt;
  }
  return box;
}

// `part`, which fills the box, between what x has around it.
absl::StatusOr<Value> Surround(RuleContext& c, const Value& x, Value part,
                               const std::vector<Stretch>& box,
                               const Ints& extents) {
  // For each axis, the elements of x that are in the box by the axes before it.
  std::vector<Value> slabs = {x};
  for (size_t d = 0; d + 1 < box.size(); ++d) {
    INGOT_ASSIGN_OR_RETURN(Value slab, SliceOf(c, slabs[d], d, box[d]));
    slabs.push_back(slab);
  }
  for (size_t d = box.size(); d-- > 0;) {
    if (box[d].start == 0 && box[d].end == extents[d]) continue;
    std::vector<Value> parts;
    if (box[d].start > 0) {
      INGOT_ASSIGN_OR_RETURN(Value before,
                             SliceOf(c, slabs[d], d, {0, box[d].start, 1}));
      parts.push_back(before);
    }
    parts.push_back(part);
    if (box[d].end < extents[d]) {
      INGOT_ASSIGN_OR_RETURN(
          Value after, SliceOf(c, slabs[d], d, {box[d].end, extents[d], 1}));
      parts.push_back(after);
    }
    INGOT_ASSIGN_OR_RETURN(
        part, c.Add("concat", parts, {{"axis", static_cast<int64_t>(d)}}));
  }
  return part;
}

// Updates of a box are the box between what is around it.
absl::StatusOr<Value> ScatterNd(RuleContext& c, const Node& node) {
  const Value &x = node.inputs[0], &updates = node.inputs[2];
  const Tensor* indices = ConstantOf(node.inputs[1]);
  if (indices == nullptr || indices->NumElements() == 0 ||
      node.attrs.Get<std::string>("reduction") != "none") {
    return Value{};
  }
  const size_t depth = indices->shape().back();
  Ints extents(depth);
  for (size_t d = 0; d < depth; ++d) {
    if (!tir::AsConstInt(x.type().shape[d], &extents[d])) return Value{};
  }
  const std::optional<Ints> vectors = PlacesOf(*indices, extents);
  if (!vectors.has_value()) return Value{};
  const auto box = BoxOf(*vectors, depth);
  if (!box.has_value()) return Value{};
  Shape shape;
  for (const Stretch& side : *box) {
    shape.push_back(tir::MakeInt(side.end - side.start));
  }
  const Shape& all = updates.type().shape;
  shape.insert(shape.end(), all.begin() + indices->shape().size() - 1,
               all.end());
  INGOT_ASSIGN_OR_RETURN(const Value part,
                         c.Add("reshape", {updates}, {{"shape", shape}}));
  return Surround(c, x, part, *box, extents);
}

constexpr Rule kRules[] = {
    {"gather of equal steps", "gather", 2, Gather},
    {"scatter into a box", "scatter_nd", 3, ScatterNd},
};

}  // namespace

absl::Span<const Rule> IndexingRules() { return kRules; }

}  // namespace ingot::relay
