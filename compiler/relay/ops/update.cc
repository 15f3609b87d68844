// Updates of a part of a tensor, such as a cache of what was seen before.
#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/loops.h"

namespace ingot::relay::ops {
namespace {

enum Operand { kWhole, kUpdate, kStarts };

absl::StatusOr<Types> Infer(const InferContext& c) {
  const TensorType &whole = c.type(kWhole), &update = c.type(kUpdate);
  const TensorType& starts = c.type(kStarts);
  const int rank = static_cast<int>(whole.shape.size());
  INGOT_RETURN_IF_ERROR(ExpectSameType(whole, update));
  INGOT_RETURN_IF_ERROR(ExpectRank(update, rank, "the update"));
  INGOT_RETURN_IF_ERROR(ExpectRank(starts, 1, "the starts"));
  if (starts.dtype != DataType::Int(64)) {
    return Invalid("starts are ", ToString(starts), ", not i64");
  }
  const int64_t axis = c.attrs.Get<int64_t>("axis");
  if (axis < 0 || axis >= rank) {
    return Invalid("axis ", axis, " of ", ToString(whole));
  }
  for (int d = 0; d < rank; ++d) {
    if (d == axis) continue;
    if (!MayBeEqual(whole.shape[d], update.shape[d], c.assumed)) {
      return Invalid("an update ", ToString(update), " of ", ToString(whole));
    }
  }
  if (SameDim(starts.shape[0], I64(1))) return Types{whole};
  if (axis == 0 || !MayBeEqual(starts.shape[0], whole.shape[0], c.assumed)) {
    return Invalid("starts ", ToString(starts), " for ", ToString(whole));
  }
  return Types{whole};
}

// Where new entries go.
struct Place {
  Place(const ComputeContext& c, const te::Tensor& out)
      : update(c.inputs[kUpdate]),
        starts(c.inputs[kStarts]),
        axis(c.attrs.Get<int64_t>("axis")),
        circular(c.attrs.Get<int64_t>("circular") != 0),
        by_batch(!SameDim(starts.shape()[0], I64(1))),
        extent(out.shape()[axis]),
        count(update.shape()[axis]) {}

  // Whether all entries have a place. Circular ones lack one only where there
  // is none at all.
  Expr HasRoom(const Expr& start) const {
    if (circular) return Or(Gt(extent, I64(0)), Eq(count, I64(0)));
    return All({Ge(start, I64(0)), Le(start, extent - count)});
  }

  // The index of entry i, once it is known that it has a place.
  Expr Of(const Expr& start, const Expr& i) const {
    return circular ? (start % extent + i) % extent : start + i;
  }

  const te::Tensor update, starts;
  const int64_t axis;
  const bool circular, by_batch;
  const Expr extent, count;
};

// Nothing is written unless everything has a place.
Stmt CheckRoom(const Place& place) {
  return LoopNest(place.starts.shape(), "s", [&](const Indices& i) {
    return tir::MakeAssert(place.HasRoom(place.starts(i)),
                           "update_slice: there is no room for the new entries "
                           "at their start");
  });
}

// Writes the update; entries of the others stay as they are.
Stmt Write(const Place& place, const te::Tensor& out) {
  return LoopNest(place.update.shape(), "i", [&](const Indices& i) {
    const Expr start = place.starts({place.by_batch ? i[0] : I64(0)});
    Indices to = i;
    to[place.axis] = place.Of(start, i[place.axis]);
    return MakeStore(out.buffer, to, place.update(i));
  });
}

absl::StatusOr<Tensors> Compute(const ComputeContext& c) {
  const te::Tensor whole = c.inputs[kWhole];
  const bool in_place = c.attrs.Get<int64_t>("in_place") != 0;
  std::vector<te::Tensor> reads = {c.inputs[kUpdate], c.inputs[kStarts]};
  if (!in_place) reads.push_back(whole);
  return c.graph.Extern(
      c.name, {c.outputs[0].shape}, {whole.dtype()}, reads,
      [&](absl::Span<const te::Tensor> results) {
        const Place place(c, results[0]);
        const Stmt write =
            MakeSeq({CheckRoom(place), Write(place, results[0])});
        if (in_place) return write;
        const Stmt copy =
            LoopNest(c.outputs[0].shape, "c", [&](const Indices& i) {
              return MakeStore(results[0].buffer, i, whole(i));
            });
        return MakeSeq({copy, write});
      });
}

}  // namespace

absl::Status RegisterUpdate(OpRegistry* registry) {
  OpDef def;
  def.name = "update_slice";
  def.doc =
      "x with update's entries in place of its own, along axis from start on; "
      "operands x, update, starts (i64, one for all or one for each of the "
      "first dimension)";
  def.min_inputs = def.max_inputs = 3;
  def.attrs = {
      IntAttr("axis", "not negative", kRequired),
      IntAttr("circular", "1: after the last entry comes the first one", 0),
      IntAttr("in_place",
              "1: x is where the result is, and only its new entries are "
              "written",
              0)};
  def.infer = &Infer;
  def.compute = &Compute;
  return RegisterAllOf(registry, {std::move(def)});
}

}  // namespace ingot::relay::ops
