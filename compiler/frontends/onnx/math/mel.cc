#include <cmath>
#include <utility>

#include "compiler/frontends/onnx/graph/compose.h"
#include "compiler/frontends/onnx/graph/converters.h"
#include "runtime/onnx_tensor/element_types.h"

namespace ingot::onnx_frontend {
namespace {

using tir::Expr;

const DataType kF64 = DataType::Float(64);

Value Number(Compose& k, int i) {
  return k.Reshape(k.Cast(k.Input(i), kF64), {tir::MakeInt(1)});
}

Value Mels(Compose& k, Value hertz) {
  return k.Mul(k.Call("log", {k.Add(k.Div(hertz, 700), 1)}),
               2595 / std::log(10.0));
}

Value Hertz(Compose& k, Value mels) {
  return k.Mul(k.Sub(k.Call("exp", {k.Mul(mels, std::log(10.0) / 2595)}), 1),
               700);
}

// The bins at which triangles begin, peak and end, evenly spaced in mels; each
// begins at the peak of the one before it. i64[bands + 2].
Value Corners(Compose& k, const Expr& bands) {
  const Value length = Number(k, 1), rate = Number(k, 2);
  const Value low = Mels(k, Number(k, 3)), high = Mels(k, Number(k, 4));
  const Expr count = SimplifyDim(bands + 2);
  const Value step = k.Div(k.Sub(high, low), k.Cast(k.Number(count), kF64));
  const Value mels = k.Add(k.Mul(k.Cast(k.CountUp(count), kF64), step), low);
  const Value bin = k.Div(k.Mul(k.Add(length, 1), Hertz(k, mels)), rate);
  // Corners may lie far beyond the last bin.
  Attrs attrs;
  attrs.Set("min", -1.0);
  attrs.Set("max", std::ldexp(1.0, 40));
  return k.Cast(k.Call("clip", {k.Call("floor", {bin})}, std::move(attrs)),
                DataType::Int(64));
}

// (a - b) / (c - d), where c - d is not 0.
Value Share(Compose& k, Value a, Value b, Value c, Value d) {
  const Value whole = k.Call("maximum", {k.Sub(c, d), k.Like(c, 1)});
  return k.Div(k.Cast(k.Sub(a, b), kF64), k.Cast(whole, kF64));
}

// Triangles over the bins of a spectrum.
absl::Status MelWeights(NodeContext& c) {
  constexpr int64_t kMostBands = 4096, kLongest = 1000000;
  INGOT_ASSIGN_OR_RETURN(const Expr bands,
                         c.RunTimeExtent(0, "num_mel_bins", kMostBands));
  INGOT_ASSIGN_OR_RETURN(const Expr length,
                         c.RunTimeExtent(1, "dft_length", kLongest));
  INGOT_ASSIGN_OR_RETURN(
      DataType dtype, DataTypeFromOnnx(static_cast<int>(
                          c.Int("output_datatype", onnx::TensorProto::FLOAT))));
  const Expr bins = SimplifyDim(length / tir::MakeInt(2) + 1);
  Compose k(c);
  const Value corners = Corners(k, bands);
  auto corner = [&](int64_t first) {
    return k.Slice(corners, 0, tir::MakeInt(first), SimplifyDim(bands + first));
  };
  const Value start = corner(0), peak = corner(1), end = corner(2);
  const Value at = k.Reshape(k.CountUp(bins), {bins, tir::MakeInt(1)});
  auto is = [&](absl::string_view relation, Value a, Value b) {
    return k.Call(relation, {a, b});
  };
  auto both = [&](Value a, Value b) { return k.Call("logical_and", {a, b}); };
  const Value zero = k.Full(kF64, {}, 0), one = k.Full(kF64, {}, 1);
  // From the peak on it falls; up to the peak it rises, if it has a rise.
  const Value falls = both(is("greater_equal", at, peak), is("less", at, end));
  const Value rises =
      both(is("greater_equal", at, start), is("less_equal", at, peak));
  const Value steep = is("equal", start, peak);
  const Value rise =
      k.Call("where", {steep, one, Share(k, at, start, peak, start)});
  Value weights = k.Call("where", {rises, rise, zero});
  weights = k.Call("where", {falls, Share(k, end, at, end, peak), weights});
  c.SetOutput(0, k.Cast(weights, dtype));
  return k.status();
}

}  // namespace

void AddMelConverters(ConverterTable* t) {
  t->Add("MelWeightMatrix", 17, &MelWeights);
}

}  // namespace ingot::onnx_frontend
