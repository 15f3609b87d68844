// Between floats and integers with a scale and a zero point.
#include "compiler/relay/ops/common.h"
namespace ingot::relay::ops {
namespace {

// Scale and zero point: scalars, or one element for each of axis's.
absl::Status CheckParams(const InferContext& c) {
  const TensorType& x = c.type(0);
  const int rank = static_cast<int>(x.shape.size());
  for (int k = 1; k < 3; ++k) {
    if (!c.has(k)) continue;
    const Shape& shape = c.type(k).shape;
    if (shape.empty() || (shape.size() == 1 && tir::IsConstInt(shape[0], 1))) {
      continue;
    }
    INGOT_ASSIGN_OR_RETURN(int axis,
                           NormalizeAxis(c.attrs.Get<int64_t>("axis"), rank));
    if (shape.size() != 1 || !MayBeEqual(shape[0], x.shape[axis], c.assumed)) {
      return Invalid("scale or zero point ", ToString(c.type(k)),
                     " does not fit axis ", axis, " of ", ToString(x));
    }
  }
  return absl::OkStatus();
}

Expr ParamAt(const ComputeContext& c, int k, const Indices& i) {
  const te::Tensor p = c.inputs[k];
  if (p.rank() == 0) return p({});
  if (tir::IsConstInt(p.shape()[0], 1)) return p({I64(0)});
  int64_t axis = c.attrs.Get<int64_t>("axis");
  if (axis < 0) axis += static_cast<int64_t>(i.size());
  return p({i[axis]});
}

OpDef Quantize() {
  OpDef def;
  def.name = "quantize";
  def.doc =
      "round(x / scale) + zero_point, saturated; operands x, scale, "
      "zero_point";
  def.min_inputs = 2;
  def.max_inputs = 3;
  def.traits = kJumps;
  def.fusion = FusionKind::kBroadcast;
  def.layout_rule = LayoutRule::kFollows;
  def.attrs = {TypeAttr("dtype", "of the result, an integer", kRequired),
               IntAttr("axis", "that scales run along", 1)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    const DataType t = c.attrs.Get<DataType>("dtype");
    if (!t.is_integer() || t.bits > 32) {
      return Invalid("cannot quantize to ", t.ToString());
    }
    INGOT_RETURN_IF_ERROR(CheckParams(c));
    if (c.has(2) && c.type(2).dtype != t) {
      return Invalid("the zero point is of ", c.type(2).dtype.ToString());
    }
    return Types{{t, c.type(0).shape}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0];
    const DataType t = c.outputs[0].dtype, f32 = DataType::Float(32);
    return Tensors{c.graph.Compute(c.name, x.shape(), [&](const Indices& i) {
      Expr q = MakeCall(Intrinsic::kRound, {MakeCast(f32, x(i)) /
                                            MakeCast(f32, ParamAt(c, 1, i))});
      if (c.has(2)) q = q + MakeCast(f32, ParamAt(c, 2, i));
      // Casts saturate at the type's own limits.
      return MakeCast(t, q);
    })};
  };
  return def;
}

OpDef Dequantize() {
  OpDef def;
  def.name = "dequantize";
  def.doc = "(x - zero_point) * scale; operands x, scale, zero_point";
  def.min_inputs = 2;
  def.max_inputs = 3;
  def.traits = kDequantizes;
  def.fusion = FusionKind::kBroadcast;
  def.layout_rule = LayoutRule::kFollows;
  def.attrs = {IntAttr("axis", "that scales run along", 1)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_RETURN_IF_ERROR(ExpectInteger(c.type(0), "x"));
    INGOT_RETURN_IF_ERROR(ExpectFloat(c.type(1), "scale"));
    INGOT_RETURN_IF_ERROR(CheckParams(c));
    return Types{{c.type(1).dtype, c.type(0).shape}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0];
    const DataType t = c.outputs[0].dtype, acc = ComputeType(t);
    const DataType i32 = DataType::Int(32);
    return Tensors{c.graph.Compute(c.name, x.shape(), [&](const Indices& i) {
      Expr q = MakeCast(i32, x(i));
      if (c.has(2)) q = q - MakeCast(i32, ParamAt(c, 2, i));
      return MakeCast(t, MakeCast(acc, q) * MakeCast(acc, ParamAt(c, 1, i)));
    })};
  };
  return def;
}

OpDef LookUp() {
  OpDef def;
  def.name = "look_up";
  def.doc =
      "the element of a table that the bits of a byte say; operands x, and a "
      "table of 256";
  def.min_inputs = def.max_inputs = 2;
  def.traits = kLooksUp | kCheap;
  def.fusion = FusionKind::kElementwise;
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    const TensorType &x = c.type(0), &table = c.type(1);
    INGOT_RETURN_IF_ERROR(ExpectInteger(x, "x"));
    if (x.dtype.bits != 8) return Invalid("x is ", ToString(x), ", not bytes");
    if (table.shape.size() != 1 || !tir::IsConstInt(table.shape[0], 256)) {
      return Invalid("the table is ", ToString(table), ", not of 256 elements");
    }
    return Types{{table.dtype, x.shape}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0], table = c.inputs[1];
    return Tensors{c.graph.Compute(c.name, x.shape(), [&](const Indices& i) {
      const Expr bits = MakeCast(DataType::UInt(8), x(i));
      return table({MakeCast(DataType::Int(64), bits)});
    })};
  };
  return def;
}

}  // namespace

absl::Status RegisterQuantize(OpRegistry* registry) {
  return RegisterAllOf(registry, {Quantize(), Dequantize(), LookUp()});
}

}  // namespace ingot::relay::ops
