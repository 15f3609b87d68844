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

// Writes the update; entries of the others stay as they are.
Stmt Write(const ComputeContext& c, const te::Tensor& out) {
  const te::Tensor update = c.inputs[kUpdate], starts = c.inputs[kStarts];
  const int64_t axis = c.attrs.Get<int64_t>("axis");
  const bool circular = c.attrs.Get<int64_t>("circular") != 0;
  const bool by_batch = !SameDim(starts.shape()[0], I64(1));
  const Expr extent = out.shape()[axis], count = update.shape()[axis];
  // The first dimension is that of batches, each of which has a start.
  const Shape batches = by_batch ? Shape{update.shape()[0]} : Shape{I64(1)};
  return Loop("b", batches[0], [&](const Expr& batch) {
    const Expr start = starts({by_batch ? batch : I64(0)});
    const Expr is_room =
        All({tir::Ge(start, I64(0)), tir::Le(start, extent - count)});
    Shape shape = update.shape();
    if (by_batch) shape[0] = I64(1);
    const Stmt write = LoopNest(shape, "i", [&](Indices i) {
      if (by_batch) i[0] = batch;
      Indices to = i;
      to[axis] = start + i[axis];
      if (circular) to[axis] = to[axis] % extent;
      return MakeStore(out.buffer, to, update(i));
    });
    if (circular) return write;
    return MakeSeq({tir::MakeAssert(is_room,
                                    "update_slice: there is no room for the "
                                    "new entries at their start"),
                    write});
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
        const Stmt write = Write(c, results[0]);
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
