// Quantised operators of the domain com.microsoft: what computes on floats is
// put between a dequantize and a quantize.
#include <functional>
#include <utility>
#include <vector>

#include "compiler/frontends/onnx/graph/compose.h"
#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/layers/quantize.h"
#include "compiler/frontends/onnx/layers/window.h"

namespace ingot::onnx_frontend {
namespace {

// The operand of number `at`, whose scale and zero point follow it, as floats.
Value Dequantized(Compose& k, int at) {
  NodeContext& c = k.context();
  std::vector<Value> in = {k.Input(at), k.Input(at + 1)};
  if (c.has_input(at + 2)) in.push_back(k.Input(at + 2));
  return k.Call("dequantize", in);
}

// x with the scale of number `at` and the zero point after it. Without one the
// result is of type `otherwise`.
Value Quantized(Compose& k, Value x, int at, DataType otherwise) {
  NodeContext& c = k.context();
  std::vector<Value> in = {x, k.Input(at)};
  DataType dtype = otherwise;
  if (c.has_input(at + 1)) {
    in.push_back(k.Input(at + 1));
    if (k.ok()) dtype = in[2].type().dtype;
  }
  Attrs attrs;
  attrs.Set("dtype", dtype);
  return k.Call("quantize", in, std::move(attrs));
}

absl::Status Finish(Compose& k, Value y, int scale_at) {
  const Value first = k.Input(0);
  INGOT_RETURN_IF_ERROR(k.status());
  k.context().SetOutput(0, Quantized(k, y, scale_at, first.type().dtype));
  return k.status();
}

// a, its scale and zero point, b's, and the result's.
Converter Binary(const char* op) {
  return [op](NodeContext& c) -> absl::Status {
    Compose k(c);
    const Value a = Dequantized(k, 0), b = Dequantized(k, 3);
    return Finish(k, k.Call(op, {a, b}), 6);
  };
}

// x, its scale and zero point, and the result's.
Converter Unary(std::function<Value(Compose& k, Value x)> compute) {
  return [compute](NodeContext& c) -> absl::Status {
    Compose k(c);
    const Value x = Dequantized(k, 0);
    INGOT_RETURN_IF_ERROR(k.status());
    return Finish(k, compute(k, x), 3);
  };
}

Value LeakyRelu(Compose& k, Value x) {
  Attrs attrs;
  attrs.Set("alpha", k.context().Float("alpha", 0.01));
  return k.Call("leaky_relu", {x}, std::move(attrs));
}

Value Softmax(Compose& k, Value x) {
  NodeContext& c = k.context();
  const int rank = RankOf(x);
  int64_t axis = c.Int("axis", -1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) {
    k.Check(c.Error("axis ", c.Int("axis", -1)));
    return Value{};
  }
  Attrs attrs;
  if (c.Int("opset", 13) >= 13) {
    attrs.Set("axis", axis);
    return k.Call("softmax", {x}, std::move(attrs));
  }
  // The dimensions from the axis on are one.
  Shape flat = {tir::MakeInt(1), tir::MakeInt(1)};
  for (int d = 0; d < rank; ++d) {
    tir::Expr& extent = flat[d < axis ? 0 : 1];
    extent = SimplifyDim(extent * ShapeOf(x)[d]);
  }
  attrs.Set("axis", int64_t{1});
  const Shape shape = ShapeOf(x);
  return k.Reshape(k.Call("softmax", {k.Reshape(x, flat)}, std::move(attrs)),
                   shape);
}

// The dimensions but batch and channels.
std::vector<int64_t> Spatial(NodeContext& c, const Value& x) {
  std::vector<int64_t> axes;
  const int first = c.Int("channels_last", 0) != 0 ? 1 : 2;
  for (int d = 0; d < RankOf(x) - 2; ++d) axes.push_back(first + d);
  return axes;
}

Value GlobalAveragePool(Compose& k, Value x) {
  return k.Reduce("reduce_mean", x, Spatial(k.context(), x));
}

// A pool of data whose channels are last.
Value PoolOfLast(Compose& k, absl::string_view stem, Value x) {
  x = ChannelsSecond(k, x);
  if (!k.ok()) return Value{};
  return ChannelsLast(k, k.Take(PoolOf(k.context(), stem, x)));
}

Value AveragePool(Compose& k, Value x) {
  NodeContext& c = k.context();
  return c.Int("channels_last", 0) != 0 ? PoolOfLast(k, "avg_pool", x)
                                        : k.Take(PoolOf(c, "avg_pool", x));
}

absl::Status NhwcMaxPool(NodeContext& c) {
  Compose k(c);
  c.SetOutput(0, PoolOfLast(k, "max_pool", k.Input(0)));
  return k.status();
}

absl::Status Concat(NodeContext& c) {
  if (c.num_inputs() < 5 || (c.num_inputs() - 2) % 3 != 0) {
    return c.Error("has ", c.num_inputs(), " inputs");
  }
  Compose k(c);
  std::vector<Value> parts;
  for (int at = 2; at < c.num_inputs(); at += 3) {
    parts.push_back(Dequantized(k, at));
  }
  INGOT_RETURN_IF_ERROR(k.status());
  const int rank = RankOf(parts[0]);
  const int64_t axis = c.Int("axis", 0);
  if (axis < -rank || axis >= rank) return c.Error("axis ", axis);
  const Value y =
      k.Concat(parts, static_cast<int>(axis < 0 ? axis + rank : axis));
  c.SetOutput(0, Quantized(k, y, 0, DataType::UInt(8)));
  return k.status();
}

// condition, x, its scale and zero point, y's, and the result's.
absl::Status Where(NodeContext& c) {
  Compose k(c);
  const Value x = Dequantized(k, 1), y = Dequantized(k, 4);
  const Value z = k.Call("where", {k.Input(0), x, y});
  const Value first = k.Input(1);
  INGOT_RETURN_IF_ERROR(k.status());
  c.SetOutput(0, Quantized(k, z, 7, first.type().dtype));
  return k.status();
}

// a, its scale and zero point, b's, a bias of integers, and the result's scale
// and zero point. Without these the result is floats.
absl::Status Gemm(NodeContext& c) {
  Compose k(c);
  Value a = k.Input(0), b = k.Input(3);
  INGOT_RETURN_IF_ERROR(k.status());
  if (RankOf(a) != 2 || RankOf(b) != 2) {
    return c.Error("operands ", relay::ToString(a.type()), " and ",
                   relay::ToString(b.type()), " must be matrices");
  }
  if (c.Int("transA", 0) != 0) a = k.Transpose(a, {1, 0});
  if (c.Int("transB", 0) != 0) b = k.Transpose(b, {1, 0});
  INGOT_RETURN_IF_ERROR(k.status());
  INGOT_ASSIGN_OR_RETURN(Value y, IntegerMatmul(c, a, b, 2, 5));
  if (c.has_input(6)) y = k.Add(y, k.Input(6));
  y = k.Mul(ScaledProduct(k, y, k.Input(1), k.Input(4)), c.Float("alpha", 1));
  c.SetOutput(0, c.has_input(7) ? Quantized(k, y, 7, DataType::UInt(8)) : y);
  return k.status();
}

// a, b, their scales, their zero points, a bias.
absl::Status MatMulIntegerToFloat(NodeContext& c) {
  Compose k(c);
  const Value a = k.Input(0), b = k.Input(1);
  INGOT_RETURN_IF_ERROR(k.status());
  if (RankOf(a) < 2 || RankOf(b) < 2) return c.Error("operands of rank 1");
  INGOT_ASSIGN_OR_RETURN(Value y, IntegerMatmul(c, a, b, 4, 5));
  y = ScaledProduct(k, y, k.Input(2), k.Input(3));
  if (c.has_input(6)) y = k.Add(y, k.Input(6));
  c.SetOutput(0, y);
  return k.status();
}

// Floats, quantised to what fits their range, times an integer matrix.
absl::Status DynamicQuantizeMatMul(NodeContext& c) {
  Compose k(c);
  const Value a = k.Input(0), b = k.Input(1);
  INGOT_RETURN_IF_ERROR(k.status());
  if (RankOf(a) < 2 || RankOf(b) < 2) return c.Error("operands of rank 1");
  INGOT_ASSIGN_OR_RETURN(DynamicallyQuantized q, QuantizeDynamically(c, a));
  const DataType i32 = DataType::Int(32);
  const Value centred = k.Sub(k.Cast(q.values, i32), k.Cast(q.zero_point, i32));
  INGOT_RETURN_IF_ERROR(k.status());
  // There is no operand for a's zero point: it is taken off already.
  INGOT_ASSIGN_OR_RETURN(Value y,
                         IntegerMatmul(c, centred, b, c.num_inputs(), 3));
  y = ScaledProduct(k, y, q.scale, k.Input(2));
  if (c.has_input(4)) y = k.Add(y, k.Input(4));
  c.SetOutput(0, y);
  return k.status();
}

}  // namespace

void AddMicrosoftQuantizeConverters(ConverterTable* t) {
  const auto add = [t](absl::string_view op, Converter converter) {
    t->Add(op, 1, std::move(converter), kMicrosoftDomain);
  };
  add("QuantizeLinear", &ConvertQuantize);
  add("DequantizeLinear", &ConvertDequantize);
  add("QLinearAdd", Binary("add"));
  add("QLinearMul", Binary("mul"));
  add("QLinearLeakyRelu", Unary(&LeakyRelu));
  add("QLinearSigmoid",
      Unary([](Compose& k, Value x) { return k.Call("sigmoid", {x}); }));
  add("QLinearSoftmax", Unary(&Softmax));
  add("QLinearGlobalAveragePool", Unary(&GlobalAveragePool));
  add("QLinearAveragePool", Unary(&AveragePool));
  add("NhwcMaxPool", &NhwcMaxPool);
  add("QLinearConcat", &Concat);
  add("QLinearWhere", &Where);
  add("QLinearConv", &ConvertQLinearConv);
  add("QGemm", &Gemm);
  add("MatMulIntegerToFloat", &MatMulIntegerToFloat);
  add("DynamicQuantizeMatMul", &DynamicQuantizeMatMul);
}

}  // namespace ingot::onnx_frontend
