// Quantised operators. Scales are powers of two wherever a result is rounded to
// bytes, so that there is one right result.
#include <cmath>
#include <optional>
#include <string>

#include "tests/fuzz/onnx/elements.h"
#include "tests/fuzz/onnx/samplers.h"

namespace ingot::fuzz {
namespace {

DataType ByteType(Grower* g) {
  return g->random().Chance(50) ? DataType::UInt(8) : DataType::Int(8);
}

Fill Bytes(DataType t) {
  return t.is_int() ? Fill::Whole(-128, 127) : Fill::Whole(0, 255);
}

// One scale, or one for each of `count`.
std::string Scale(Grower* g, int64_t count, bool per_axis, int least = -6) {
  std::vector<double> scales(per_axis ? count : 1);
  for (double& scale : scales) {
    scale = std::ldexp(1, static_cast<int>(g->random().Between(least, -3)));
  }
  return g->Initializer(
      TensorOf(DataType::Float(32), per_axis ? Shape{count} : Shape{}, scales));
}

std::string Zero(Grower* g, DataType t, int64_t count, bool per_axis,
                 bool nought = false) {
  std::vector<double> zeros(per_axis ? count : 1);
  for (double& zero : zeros) {
    zero =
        nought
            ? 0
            : static_cast<double>(g->random().Between(t.is_int() ? -5 : 0, 9));
  }
  return g->Initializer(TensorOf(t, per_axis ? Shape{count} : Shape{}, zeros));
}

void AddQuantize(Grower* g, const std::string& op) {
  Random& r = g->random();
  const DataType t = ByteType(g);
  const std::string x = op == "QuantizeLinear"
                            ? g->Some(DataType::Float(32), 1, 4)
                            : g->Some(t, 1, 4);
  const bool per_axis = r.Chance(40);
  const int64_t axis = g->Axis(x);
  const int64_t extent = g->ShapeOf(x)[axis < 0 ? axis + g->RankOf(x) : axis];
  if (extent == 0) return;
  Call call(op, {x, Scale(g, extent, per_axis, -5)});
  if (op != "QuantizeLinear" || r.Chance(80)) {
    call.operands.push_back(Zero(g, t, extent, per_axis));
  }
  if (per_axis) call.Int("axis", axis);
  g->Try(call);
}

void AddDynamicQuantize(Grower* g, const std::string& op) {
  g->Add(Call(op, {g->Some(DataType::Float(32), 0, 4)}).Results(3));
}

void AddQLinearMatMul(Grower* g, const std::string& op) {
  Random& r = g->random();
  const DataType t = ByteType(g), u = t.is_int() ? t : ByteType(g);
  const std::string a = g->Some(t, 2, 3);
  const Shape left = g->ShapeOf(a);
  const int64_t n = r.OneOf<int64_t>({1, 3, 16, 17, 32, 40});
  const std::string b = r.Chance(12) && left.size() == 2 && left[0] == left[1]
                            ? a
                            : g->New(u, {left.back(), n}, Bytes(u));
  const DataType right = g->TypeOf(b);
  g->Try(Call(op, {a, Scale(g, 1, false), Zero(g, t, 1, false), b,
                   Scale(g, 1, false), Zero(g, right, 1, false),
                   Scale(g, 1, false), Zero(g, t, 1, false)}));
}

void AddQLinearConv(Grower* g, const std::string& op) {
  Random& r = g->random();
  const DataType t = ByteType(g), u = t.is_int() ? t : ByteType(g);
  const int64_t channels = r.OneOf<int64_t>({1, 2, 3, 8, 16, 17, 32});
  const bool depthwise = r.Chance(25);
  const int64_t out =
      depthwise ? channels : r.OneOf<int64_t>({1, 3, 8, 16, 17});
  const int64_t k = r.OneOf<int64_t>({1, 3});
  const bool per_axis = r.Chance(50);
  Call call(
      op, {g->Like(t, {1 + r.Next(2), channels, 3 + r.Next(9), 3 + r.Next(9)}),
           Scale(g, 1, false), Zero(g, t, 1, false),
           g->New(u, {out, depthwise ? 1 : channels, k, k}, Bytes(u)),
           Scale(g, out, per_axis), Zero(g, u, out, per_axis && false, true),
           Scale(g, 1, false), Zero(g, t, 1, false)});
  if (r.Chance(50)) {
    call.operands.push_back(
        g->New(DataType::Int(32), {out}, Fill::Whole(-200, 200)));
  }
  if (depthwise) call.Int("group", channels);
  if (r.Chance(50)) call.Ints("pads", {k / 2, k / 2, k / 2, k / 2});
  if (r.Chance(30)) call.String("auto_pad", "SAME_UPPER");
  if (r.Chance(30)) call.Ints("strides", {2, 2});
  g->Try(call);
}

// Quantising exporters write such a pair around each operator.
void AddQdq(Grower* g, const std::string&) {
  const std::string x = g->Some(DataType::Float(32), 1, 4);
  const std::string scale = Scale(g, 1, false, -5);
  const DataType t = ByteType(g);
  const std::string zero = Zero(g, t, 1, false);
  const auto q = g->Try(Call("QuantizeLinear", {x, scale, zero}));
  if (q) g->Try(Call("DequantizeLinear", {*q, scale, zero}));
}

// Adds bytes as floats; with a scale and a zero point for each of `axis` where
// `per_axis`.
std::optional<std::string> Dequantized(Grower* g, const std::string& bytes,
                                       int64_t axis, bool per_axis) {
  const int64_t extent = g->ShapeOf(bytes)[axis];
  const DataType t = g->TypeOf(bytes);
  Call call("DequantizeLinear", {bytes, Scale(g, extent, per_axis)});
  if (g->random().Chance(70)) {
    call.operands.push_back(Zero(g, t, extent, per_axis));
  }
  if (per_axis) call.Int("axis", axis);
  return g->Try(call);
}

// A product or convolution whose operands were both dequantised just before.
void AddQdqProduct(Grower* g, const std::string& op) {
  Random& r = g->random();
  const DataType t = ByteType(g), u = r.Chance(70) ? DataType::Int(8) : t;
  const int64_t n = r.OneOf<int64_t>({1, 3, 8, 16, 17, 40});
  const int64_t k = r.OneOf<int64_t>({1, 3, 4, 8, 16, 33});
  const bool conv = op == "Conv";
  const bool transposed = op == "Gemm" && r.Chance(50);
  const Shape x = conv ? Shape{1, k, 3 + r.Next(6), 3 + r.Next(6)}
                       : Shape{1 + r.Next(20), k};
  const int64_t window = r.OneOf<int64_t>({1, 3});
  const Shape w = conv         ? Shape{n, k, window, window}
                  : transposed ? Shape{n, k}
                               : Shape{k, n};
  const auto a = Dequantized(g, g->Like(t, x, Bytes(t)), 0, false);
  const auto b = Dequantized(g, g->Weight(u, w, Bytes(u)),
                             conv || transposed ? 0 : 1, r.Chance(50));
  if (!a || !b) return;
  Call call(op, {*a, *b});
  if (conv && r.Chance(50)) {
    call.Ints("pads", {window / 2, window / 2, window / 2, window / 2});
  }
  if (conv && r.Chance(30)) call.Ints("strides", {2, 2});
  if (transposed) call.Int("transB", 1);
  g->Try(call);
}

}  // namespace

void AddQuantized(std::vector<OnnxSampler>* samplers) {
  samplers->push_back({{"QuantizeLinear", "DequantizeLinear"}, AddQuantize, 2});
  samplers->push_back({{"QuantizeLinear"}, AddQdq});
  samplers->push_back({{"MatMul", "Gemm", "Conv"}, AddQdqProduct});
  samplers->push_back({{"DynamicQuantizeLinear"}, AddDynamicQuantize});
  samplers->push_back({{"QLinearMatMul"}, AddQLinearMatMul});
  samplers->push_back({{"QLinearConv"}, AddQLinearConv});
}

}  // namespace ingot::fuzz
