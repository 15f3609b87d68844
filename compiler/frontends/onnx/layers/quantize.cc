// Quantised operators, taken apart into integer products and scales.
#include "compiler/frontends/onnx/layers/quantize.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/frontends/onnx/graph/compose.h"
#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/layers/kernel.h"
#include "compiler/frontends/onnx/layers/matmul.h"
#include "compiler/frontends/onnx/layers/window.h"
#include "compiler/frontends/onnx/model/storage_type.h"
#include "compiler/frontends/onnx/model/tensor_proto.h"
#include "compiler/relay/import/convert_elements.h"

namespace ingot::onnx_frontend {

namespace {

// Scales or zero points that have an element for each block of `size` along
// `axis`, repeated so that there is one for each element of x.
absl::StatusOr<Value> SpreadBlocks(NodeContext& c, Value v, const Value& x,
                                   int64_t axis, int64_t size) {
  const auto no_fit = [&] {
    return c.Error("blocks of ", size, " along axis ", axis, " of ",
                   relay::ToString(x.type()), " do not fit scales ",
                   relay::ToString(v.type()));
  };
  if (RankOf(v) != RankOf(x) || size < 1) return no_fit();
  const relay::Dim extent = ShapeOf(x)[axis];
  int64_t known;
  if (tir::AsConstInt(extent, &known) && (known > (1 << 24) || size > known)) {
    return no_fit();
  }
  Shape fitting = ShapeOf(v);
  fitting[axis] = relay::SimplifyDim((extent + (size - 1)) / I(size));
  const absl::StatusOr<Value> fixed = c.FixShape(v, fitting, "scales");
  if (!fixed.ok()) return no_fit();
  Compose k(c);
  const Value indices = k.Div(k.CountUp(extent), static_cast<double>(size));
  INGOT_RETURN_IF_ERROR(k.status());
  Attrs attrs;
  attrs.Set("axis", axis);
  return c.Emit("gather", {*fixed, indices}, std::move(attrs), "spread");
}

// The scales or zero points `v` in a shape that broadcasts to x's.
absl::StatusOr<Value> ParamOf(NodeContext& c, Value v, const Value& x) {
  const int rank = RankOf(x);
  const int64_t block = c.Int("block_size", 0);
  int64_t axis = c.Int("axis", 1);
  if (axis < 0) axis += rank;
  const bool one =
      RankOf(v) == 0 || (RankOf(v) == 1 && tir::IsConstInt(ShapeOf(v)[0], 1));
  if (block == 0 && one) return ParamAlongAxis(c, v, 0, rank);
  if (axis < 0 || axis >= rank) return c.Error("axis ", c.Int("axis", 1));
  if (block != 0) return SpreadBlocks(c, v, x, axis, block);
  return ParamAlongAxis(c, v, static_cast<int>(axis), rank);
}

// Scales in blocks, and types that are carried in others, as calls that work
// element by element. `zero` may be null.
absl::Status QuantizeInSteps(NodeContext& c, Value x, Value scale, Value zero,
                             const ElementType& to) {
  const DataType f32 = DataType::Float(32);
  INGOT_ASSIGN_OR_RETURN(scale, ParamOf(c, scale, x));
  Compose k(c);
  Value q = k.Div(k.Cast(x, f32), k.Cast(scale, f32));
  const bool is_float = IsSmallFloat(to.storage);
  if (!is_float) {
    q = k.Call("round", {q});
    if (zero) {
      INGOT_ASSIGN_OR_RETURN(zero, ParamOf(c, zero, x));
      q = k.Add(q, k.Cast(zero, f32));
    }
  }
  INGOT_RETURN_IF_ERROR(k.status());
  INGOT_ASSIGN_OR_RETURN(
      q, ConvertElements(c, q, {f32}, to,
                         {!is_float || c.Int("saturate", 1) != 0}));
  c.SetStoredOutput(0, q, to.storage);
  return absl::OkStatus();
}

absl::Status DequantizeInSteps(NodeContext& c, Value x, Value scale, Value zero,
                               const ElementType& from, DataType dtype) {
  const DataType f32 = DataType::Float(32), i32 = DataType::Int(32);
  INGOT_ASSIGN_OR_RETURN(scale, ParamOf(c, scale, x));
  Compose k(c);
  Value v;
  if (IsSmallFloat(from.storage)) {
    INGOT_ASSIGN_OR_RETURN(v, ConvertElements(c, x, from, {f32}));
  } else {
    v = k.Cast(x, i32);
    if (zero) {
      INGOT_ASSIGN_OR_RETURN(zero, ParamOf(c, zero, x));
      v = k.Sub(v, k.Cast(zero, i32));
    }
    v = k.Cast(v, f32);
  }
  c.SetOutput(0, k.Cast(k.Mul(v, k.Cast(scale, f32)), dtype));
  return k.status();
}

// Operand 1. Scales of an exponent alone become f32.
absl::StatusOr<Value> ReadScale(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value scale, c.StoredInput(1));
  if (c.storage(1) == StorageType::kFloat8E8M0) {
    return ConvertElements(c, scale, c.ElementTypeOf(1, scale),
                           {DataType::Float(32)});
  }
  return c.Input(1);
}

}  // namespace

absl::Status ConvertQuantize(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(Value scale, ReadScale(c));
  ElementType to{DataType::UInt(8)};
  Value zero;
  if (c.has_input(2)) {
    INGOT_ASSIGN_OR_RETURN(zero, c.StoredInput(2));
    to = c.ElementTypeOf(2, zero);
  } else if (const int64_t t = c.Int("output_dtype", 0); t != 0) {
    INGOT_ASSIGN_OR_RETURN(to, ElementTypeFromOnnx(static_cast<int>(t)));
  }
  if (c.Int("block_size", 0) != 0 || to.storage != StorageType::kNone) {
    return QuantizeInSteps(c, x, scale, zero, to);
  }
  Attrs attrs;
  attrs.Set("dtype", to.dtype);
  attrs.Set("axis", c.Int("axis", 1));
  return c.Return("quantize", {x, scale, zero}, std::move(attrs));
}

absl::Status ConvertDequantize(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.StoredInput(0));
  INGOT_ASSIGN_OR_RETURN(Value scale, ReadScale(c));
  const ElementType from = c.ElementTypeOf(0, x);
  if (from.storage == StorageType::kText) return c.Error("text for a number");
  Value zero;
  if (c.has_input(2)) {
    INGOT_ASSIGN_OR_RETURN(zero, c.StoredInput(2));
  }
  // Since operator set 23 the result may have another type than the scales.
  DataType dtype = scale.type().dtype;
  if (const int64_t t = c.Int("output_dtype", 0); t != 0) {
    INGOT_ASSIGN_OR_RETURN(dtype, DataTypeFromOnnx(static_cast<int>(t)));
    if (!dtype.is_float()) return c.Error("output_dtype=", t);
  }
  if (c.Int("block_size", 0) != 0 || from.storage != StorageType::kNone ||
      dtype != scale.type().dtype) {
    return DequantizeInSteps(c, x, scale, zero, from, dtype);
  }
  Attrs attrs;
  attrs.Set("axis", c.Int("axis", 1));
  return c.Return("dequantize", {x, scale, zero}, std::move(attrs));
}

// scale = (max(0, max x) - min(0, min x)) / 255, and the zero point that puts
// the smallest element at 0. Zeros alone have the scale 1, as in ONNX Runtime:
// by the formula it would be 0, by which nothing can be divided.
absl::StatusOr<DynamicallyQuantized> QuantizeDynamically(NodeContext& c,
                                                         Value x) {
  const DataType f32 = DataType::Float(32);
  Attrs all;
  all.Set("keepdims", int64_t{0});
  INGOT_ASSIGN_OR_RETURN(Value high, c.Emit("reduce_max", {x}, all, "max"));
  INGOT_ASSIGN_OR_RETURN(Value low, c.Emit("reduce_min", {x}, all, "min"));
  INGOT_ASSIGN_OR_RETURN(Value zero, c.Scalar(f32, 0));
  INGOT_ASSIGN_OR_RETURN(high, c.Emit("maximum", {high, zero}, {}, "high"));
  INGOT_ASSIGN_OR_RETURN(low, c.Emit("minimum", {low, zero}, {}, "low"));
  INGOT_ASSIGN_OR_RETURN(Value range, c.Emit("sub", {high, low}, {}, "range"));
  INGOT_ASSIGN_OR_RETURN(Value steps, c.Scalar(f32, 255));
  INGOT_ASSIGN_OR_RETURN(Value step, c.Emit("div", {range, steps}, {}, "step"));
  INGOT_ASSIGN_OR_RETURN(Value one, c.Scalar(f32, 1));
  INGOT_ASSIGN_OR_RETURN(Value flat,
                         c.Emit("equal", {range, zero}, {}, "flat"));
  INGOT_ASSIGN_OR_RETURN(Value scale,
                         c.Emit("where", {flat, one, step}, {}, "scale"));
  INGOT_ASSIGN_OR_RETURN(Value shift, c.Emit("sub", {zero, low}, {}, "shift"));
  INGOT_ASSIGN_OR_RETURN(shift, c.Emit("div", {shift, scale}, {}, "point"));
  INGOT_ASSIGN_OR_RETURN(shift, c.Emit("round", {shift}, {}, "round"));
  Attrs limits;
  limits.Set("min", 0.0);
  limits.Set("max", 255.0);
  INGOT_ASSIGN_OR_RETURN(shift, c.Emit("clip", {shift}, limits, "clip"));
  INGOT_ASSIGN_OR_RETURN(Value point, c.Cast(shift, DataType::UInt(8)));
  Attrs quantize;
  quantize.Set("dtype", DataType::UInt(8));
  INGOT_ASSIGN_OR_RETURN(
      Value y, c.Emit("quantize", {x, scale, point}, std::move(quantize)));
  return DynamicallyQuantized{y, scale, point};
}

absl::StatusOr<Value> ParamAlongAxis(NodeContext& c, Value v, int axis,
                                     int rank) {
  if (RankOf(v) == 0) return v;
  if (RankOf(v) != 1) {
    return c.Error("scales or zero points ", relay::ToString(v.type()),
                   " must be a vector");
  }
  if (tir::IsConstInt(ShapeOf(v)[0], 1)) return c.Reshape(v, {}, "scalar");
  if (axis < 0 || axis >= rank) {
    return c.Error("scales or zero points ", relay::ToString(v.type()),
                   " of what has no channels");
  }
  Shape shape(rank, tir::MakeInt(1));
  shape[axis] = ShapeOf(v)[0];
  return c.Reshape(v, shape, "per_channel");
}

namespace {

absl::Status DynamicQuantize(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(DynamicallyQuantized q, QuantizeDynamically(c, x));
  c.SetOutput(0, q.values);
  c.SetOutput(1, q.scale);
  c.SetOutput(2, q.zero_point);
  return absl::OkStatus();
}

// Scales or zero points of matrices, as ParamAlongAxis. Those of a stack of
// matrices may have its rank, with one dimension of 1, and broadcast as they
// are.
absl::StatusOr<Value> ParamOfMatrices(NodeContext& c, Value v, int axis,
                                      int rank) {
  if (rank > 2 && RankOf(v) == rank) return v;
  return ParamAlongAxis(c, v, axis, rank);
}

// x - zero point, as i32. The operand itself where there is no zero point.
absl::StatusOr<Value> Centred(NodeContext& c, Value x, int zero_point,
                              int axis) {
  const DataType i32 = DataType::Int(32);
  const Known* k = c.known(zero_point);
  bool zero = !c.has_input(zero_point);
  if (k != nullptr) {
    zero = true;
    for (const KnownNumber& v : k->values) {
      int64_t n;
      zero = zero && v.AsInt(&n) && n == 0;
    }
  }
  if (zero) return x;
  INGOT_ASSIGN_OR_RETURN(Value point, c.Input(zero_point));
  INGOT_ASSIGN_OR_RETURN(point, ParamOfMatrices(c, point, axis, RankOf(x)));
  INGOT_ASSIGN_OR_RETURN(point, c.Cast(point, i32));
  INGOT_ASSIGN_OR_RETURN(x, c.Cast(x, i32));
  return c.Emit("sub", {x, point}, {}, "centred");
}

// A convolution of integers, in i32.
struct IntegerConv {
  Value y;  // of 1-d ones with a height
  Value bias;
  bool one_d = false;
  RunTimePads pads;

  // y, or what is computed from it element by element, as the node's result.
  absl::Status Return(NodeContext& c, Value result) const {
    if (one_d) {
      INGOT_ASSIGN_OR_RETURN(result, DropHeight(c, result));
    }
    INGOT_ASSIGN_OR_RETURN(result, pads.Name(c, result));
    c.SetOutput(0, result);
    return absl::OkStatus();
  }
};

// Convolves x and w, less their zero points, which are the operands of these
// numbers.
absl::StatusOr<IntegerConv> ConvolveIntegers(NodeContext& c, Value x, Value w,
                                             Value bias, int x_zero,
                                             int w_zero) {
  INGOT_ASSIGN_OR_RETURN(const ConvOperands in,
                         ReadConvOperands(c, x, w, bias, false));
  IntegerConv conv;
  conv.bias = in.bias;
  conv.one_d = in.kernel.size() == 1;
  INGOT_ASSIGN_OR_RETURN(WindowAttrs window,
                         ReadWindowAttrs(c, in.x, in.kernel, &conv.pads));
  INGOT_ASSIGN_OR_RETURN(x, Centred(c, in.x, x_zero, 1));
  INGOT_ASSIGN_OR_RETURN(w, Centred(c, in.w, w_zero, 0));
  // Elements outside are the zero point, which is subtracted already.
  INGOT_ASSIGN_OR_RETURN(x, conv.pads.Pad(c, x, 0));
  if (conv.one_d) {
    window.AddHeight();
    INGOT_ASSIGN_OR_RETURN(x, AddHeight(c, x));
    INGOT_ASSIGN_OR_RETURN(w, AddHeight(c, w));
  }
  Attrs attrs = window.ToAttrs();
  attrs.Set("out_dtype", DataType::Int(32));
  if (in.groups != 1) attrs.Set("groups", in.groups);
  INGOT_ASSIGN_OR_RETURN(
      conv.y, c.Emit(absl::StrCat("conv", window.kernel.size(), "d"), {x, w},
                     std::move(attrs)));
  return conv;
}

// `real`, rounded to steps of the operand y_scale and moved to the result's
// zero point.
absl::StatusOr<Value> QuantizeResult(NodeContext& c, Value real, int y_scale,
                                     int y_zero) {
  INGOT_ASSIGN_OR_RETURN(Value scale, c.Input(y_scale));
  INGOT_ASSIGN_OR_RETURN(Value zero, c.Input(y_zero));
  Attrs attrs;
  attrs.Set("dtype", zero.type().dtype);
  return c.Emit("quantize", {real, scale, zero}, std::move(attrs));
}

// y / y_scale * x_scale * w_scale, rounded and moved to the result's zero
// point. w_scale runs along the channels when it is a vector.
absl::StatusOr<Value> Requantize(NodeContext& c, Value y, int x_scale,
                                 int w_scale, int y_scale, int y_zero) {
  const DataType f32 = DataType::Float(32);
  INGOT_ASSIGN_OR_RETURN(Value sx, c.Input(x_scale));
  INGOT_ASSIGN_OR_RETURN(Value sw, c.Input(w_scale));
  INGOT_ASSIGN_OR_RETURN(sx, ParamAlongAxis(c, sx, 1, RankOf(y)));
  INGOT_ASSIGN_OR_RETURN(sw, ParamAlongAxis(c, sw, 1, RankOf(y)));
  INGOT_ASSIGN_OR_RETURN(sx, c.Cast(sx, f32));
  INGOT_ASSIGN_OR_RETURN(sw, c.Cast(sw, f32));
  INGOT_ASSIGN_OR_RETURN(Value s, c.Emit("mul", {sx, sw}, {}, "scale"));
  INGOT_ASSIGN_OR_RETURN(Value real, c.Cast(y, f32));
  INGOT_ASSIGN_OR_RETURN(real, c.Emit("mul", {real, s}, {}, "scaled"));
  return QuantizeResult(c, real, y_scale, y_zero);
}

absl::Status ConvInteger(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(Value w, c.Input(1));
  INGOT_ASSIGN_OR_RETURN(const IntegerConv conv,
                         ConvolveIntegers(c, x, w, Value(), 2, 3));
  return conv.Return(c, conv.y);
}

}  // namespace

Value ChannelsSecond(Compose& k, Value x) {
  if (!k.ok()) return Value{};
  const int rank = RankOf(x);
  std::vector<int64_t> axes = {0, rank - 1};
  for (int d = 1; d < rank - 1; ++d) axes.push_back(d);
  return k.Transpose(x, std::move(axes));
}

Value ChannelsLast(Compose& k, Value x) {
  if (!k.ok()) return Value{};
  std::vector<int64_t> axes = {0};
  for (int d = 2; d < RankOf(x); ++d) axes.push_back(d);
  axes.push_back(1);
  return k.Transpose(x, std::move(axes));
}

absl::Status ConvertQLinearConv(NodeContext& c) {
  const bool channels_last = c.Int("channels_last", 0) != 0;
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(Value w, c.Input(3));
  if (channels_last && RankOf(x) < 3) {
    return c.Error("the operand is ", relay::ToString(x.type()));
  }
  Compose k(c);
  if (channels_last) x = ChannelsSecond(k, x);
  INGOT_RETURN_IF_ERROR(k.status());
  Value bias;
  if (c.has_input(8)) {
    INGOT_ASSIGN_OR_RETURN(bias, c.Input(8));
  }
  INGOT_ASSIGN_OR_RETURN(const IntegerConv conv,
                         ConvolveIntegers(c, x, w, bias, 2, 5));
  Value y = conv.y;
  if (conv.bias) {
    INGOT_ASSIGN_OR_RETURN(y, AddChannelBias(c, y, conv.bias));
  }
  INGOT_ASSIGN_OR_RETURN(y, Requantize(c, y, 1, 4, 6, 7));
  INGOT_RETURN_IF_ERROR(conv.Return(c, y));
  if (channels_last) c.SetOutput(0, ChannelsLast(k, c.outputs()[0].value));
  return k.status();
}

absl::StatusOr<Value> IntegerMatmul(NodeContext& c, Value a, Value b,
                                    int a_zero, int b_zero) {
  if (RankOf(a) < 1 || RankOf(b) < 1) return c.Error("a scalar operand");
  INGOT_ASSIGN_OR_RETURN(a, Centred(c, a, a_zero, std::max(RankOf(a) - 2, 0)));
  INGOT_ASSIGN_OR_RETURN(b, Centred(c, b, b_zero, RankOf(b) - 1));
  Attrs attrs;
  attrs.Set("out_dtype", DataType::Int(32));
  return MatmulAnyRank(c, a, b, std::move(attrs));
}

Value ScaledProduct(Compose& k, Value y, Value a_scale, Value b_scale) {
  NodeContext& c = k.context();
  if (!k.ok()) return Value{};
  const int rank = RankOf(y);
  auto shaped = [&](Value scale, int axis) {
    return k.ok() ? k.Take(ParamOfMatrices(c, scale, axis, rank)) : Value{};
  };
  const Value scale =
      k.Mul(shaped(a_scale, rank - 2), shaped(b_scale, rank - 1));
  return k.ok() ? k.Mul(k.Cast(y, scale.type().dtype), scale) : Value{};
}

namespace {

absl::Status MatMulInteger(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value a, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(Value b, c.Input(1));
  INGOT_ASSIGN_OR_RETURN(Value y, IntegerMatmul(c, a, b, 2, 3));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

absl::Status QLinearMatMul(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value a, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(Value b, c.Input(3));
  INGOT_ASSIGN_OR_RETURN(Value y, IntegerMatmul(c, a, b, 2, 5));
  const DataType f32 = DataType::Float(32);
  Compose k(c);
  y = ScaledProduct(k, y, k.Cast(k.Input(1), f32), k.Cast(k.Input(4), f32));
  INGOT_RETURN_IF_ERROR(k.status());
  INGOT_ASSIGN_OR_RETURN(y, QuantizeResult(c, y, 6, 7));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

}  // namespace

void AddQuantizeConverters(ConverterTable* t) {
  t->Add("QuantizeLinear", 10, &ConvertQuantize);
  t->Add("DequantizeLinear", 10, &ConvertDequantize);
  t->Add("DynamicQuantizeLinear", 11, &DynamicQuantize);
  t->Add("QLinearConv", 10, &ConvertQLinearConv);
  t->Add("ConvInteger", 10, &ConvInteger);
  t->Add("MatMulInteger", 10, &MatMulInteger);
  t->Add("QLinearMatMul", 10, &QLinearMatMul);
}

}  // namespace ingot::onnx_frontend
