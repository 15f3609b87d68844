// DFT and STFT.
#include <utility>
#include <vector>

#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/math/fourier.h"

namespace ingot::onnx_frontend {
namespace {

using tir::Expr;

const DataType kI64 = DataType::Int(64);

// The dimensions of a tensor but the last, around one of them.
struct Split {
  Expr before, extent, after;  // products, and the dimension itself
  Value dims;                  // i64: all of them
  Value is_axis;               // bool: which of them it is
};

// Around the axis that a scalar says, negative ones from the end of all `rank`
// dimensions. A run fails where there is no such axis.
absl::StatusOr<Split> SplitAt(Compose& k, const Shape& dims, Value axis,
                              int rank) {
  NodeContext& c = k.context();
  Split split;
  split.dims =
      k.Take(c.builder().DimsTensor(dims, absl::StrCat(c.name(), "_dims")));
  const Value zero = k.Like(split.dims, 0), one = k.Like(split.dims, 1);
  const Value number = k.CountUp(I(static_cast<int64_t>(dims.size())));
  axis = k.Reshape(k.Cast(axis, kI64), {I(1)});
  axis =
      k.Call("where", {k.Call("less", {axis, zero}), k.Add(axis, rank), axis});
  split.is_axis = k.Call("equal", {number, axis});
  auto product = [&](absl::string_view side) {
    return k.Reduce(
        "reduce_prod",
        k.Call("where", {k.Call(side, {number, axis}), split.dims, one}), {0});
  };
  const Value extent = k.Reduce(
      "reduce_max",
      k.Call("where", {split.is_axis, split.dims, k.Sub(zero, one)}), {0});
  const Value sizes =
      k.Concat({product("less"), extent, product("greater")}, 0);
  INGOT_RETURN_IF_ERROR(k.status());
  INGOT_ASSIGN_OR_RETURN(
      const Shape bound,
      c.builder().BindDims(sizes, absl::StrCat(c.name(), "_split")));
  int64_t value;
  if (tir::AsConstInt(bound[1], &value) && value < 0) {
    return c.Error("there is no such axis of ", dims.size(), " dimensions");
  }
  split.before = bound[0];
  split.extent = bound[1];
  split.after = bound[2];
  return split;
}

absl::StatusOr<Value> DftAxis(NodeContext& c, Compose& k) {
  if (c.opset() >= 20 && c.has_input(2)) return c.Input(2);
  return c.Scalar(kI64,
                  static_cast<double>(c.opset() < 20 ? c.Int("axis", 1) : -2));
}

// The transforms along dimension 1 of x[before, extent, after, parts].
absl::StatusOr<Value> TransformMiddle(Compose& k, Value x, const Fourier& f) {
  const Shape in = ShapeOf(x);
  // Without anything after it, the dimension is the last of the rows already.
  const bool moves = !tir::IsConstInt(in[2], 1);
  if (moves) x = k.Transpose(x, {0, 2, 1, 3});
  x = k.Reshape(x, {SimplifyDim(in[0] * in[2]), in[1], in[3]});
  INGOT_RETURN_IF_ERROR(k.status());
  INGOT_ASSIGN_OR_RETURN(Value y, Transformed(k, x, f));
  const Expr m = f.ResultLength(), parts = I(f.ResultParts());
  if (moves) {
    y = k.Transpose(k.Reshape(y, {in[0], in[2], m, parts}), {0, 2, 1, 3});
  } else {
    y = k.Reshape(y, {in[0], m, in[2], parts});
  }
  INGOT_RETURN_IF_ERROR(k.status());
  return y;
}

absl::Status Dft(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  const int rank = RankOf(x);
  Fourier f;
  f.inverse = c.Int("inverse", 0) != 0;
  f.onesided = c.Int("onesided", 0) != 0;
  if (rank < 2 || !tir::AsConstInt(ShapeOf(x)[rank - 1], &f.parts) ||
      f.parts < 1 || f.parts > 2 || (f.IsRealInverse() && f.parts != 2)) {
    return c.Error("elements of ", relay::ToString(x.type()));
  }
  Compose k(c);
  INGOT_ASSIGN_OR_RETURN(const Value axis, DftAxis(c, k));
  const Shape dims(ShapeOf(x).begin(), ShapeOf(x).end() - 1);
  INGOT_ASSIGN_OR_RETURN(const Split split, SplitAt(k, dims, axis, rank));
  f.length =
      f.IsRealInverse() ? SimplifyDim((split.extent - 1) * 2) : split.extent;
  if (c.has_input(1)) {
    INGOT_ASSIGN_OR_RETURN(f.length,
                           c.RunTimeExtent(1, "dft_length", kLongestTransform));
  }
  int64_t length;
  if (tir::AsConstInt(f.length, &length) &&
      (length < 1 || length > kLongestTransform)) {
    return c.NotSupported("a transform of ", length, " elements");
  }
  x = k.Reshape(x, {split.before, split.extent, split.after, I(f.parts)});
  INGOT_RETURN_IF_ERROR(k.status());
  INGOT_ASSIGN_OR_RETURN(const Value y, TransformMiddle(k, x, f));
  const Value result =
      k.Call("where", {split.is_axis, k.Number(f.ResultLength()), split.dims});
  INGOT_RETURN_IF_ERROR(k.status());
  INGOT_ASSIGN_OR_RETURN(
      Shape shape,
      c.builder().BindDims(result, absl::StrCat(c.name(), "_result")));
  shape.push_back(I(f.ResultParts()));
  c.SetOutput(0, k.Reshape(y, shape));
  return k.status();
}

// The number of frames of n elements, a step apart, that a signal has. A run
// fails where there is none.
absl::StatusOr<Expr> CountFrames(Compose& k, const Expr& length, const Expr& n,
                                 Value step) {
  NodeContext& c = k.context();
  const Value one = k.Like(step, 1);
  const Value room = k.Sub(k.Number(length), k.Number(n));
  Value count = k.Add(k.Div(room, k.Call("maximum", {step, one})), 1);
  for (const Value& bad :
       {k.Call("less", {step, one}), k.Call("less", {room, k.Like(room, 0)})}) {
    count = k.Call("where", {bad, k.Like(count, -1), count});
  }
  INGOT_RETURN_IF_ERROR(k.status());
  INGOT_ASSIGN_OR_RETURN(
      const Shape bound,
      c.builder().BindDims(count, absl::StrCat(c.name(), "_frames")));
  int64_t frames;
  if (tir::AsConstInt(bound[0], &frames) && frames < 1) {
    return c.Error("there are no such frames in the signal");
  }
  return bound[0];
}

absl::Status Stft(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  Compose k(c);
  const Value step = k.Reshape(k.Cast(k.Input(1), kI64), {I(1)});
  Fourier f;
  if (RankOf(x) < 2 || RankOf(x) > 3 ||
      (RankOf(x) == 3 && !tir::AsConstInt(ShapeOf(x)[2], &f.parts)) ||
      f.parts < 1 || f.parts > 2) {
    return c.Error("a signal of ", relay::ToString(x.type()));
  }
  Value window;
  if (c.has_input(2)) {
    INGOT_ASSIGN_OR_RETURN(window, c.Input(2));
    if (RankOf(window) != 1) {
      return c.Error("a window of ", relay::ToString(window.type()));
    }
    f.length = ShapeOf(window)[0];
  }
  if (c.has_input(3)) {
    INGOT_ASSIGN_OR_RETURN(
        f.length, c.RunTimeExtent(3, "frame_length", kLongestTransform));
  }
  int64_t n;
  if (f.length == nullptr) return c.Error("has neither window nor length");
  if (tir::AsConstInt(f.length, &n) && (n < 1 || n > kLongestTransform)) {
    return c.NotSupported("frames of ", n, " elements");
  }
  f.onesided = c.Int("onesided", 1) != 0;
  const Expr batch = ShapeOf(x)[0], length = ShapeOf(x)[1];
  INGOT_RETURN_IF_ERROR(k.status());
  INGOT_ASSIGN_OR_RETURN(const Expr frames,
                         CountFrames(k, length, f.length, step));
  const Value starts =
      k.Reshape(k.Mul(k.CountUp(frames), step), {frames, I(1)});
  Attrs gather;
  gather.Set("axis", int64_t{1});
  Value y = k.Call("gather", {x, k.Add(starts, k.CountUp(f.length))},
                   std::move(gather));
  y = k.Reshape(y, {SimplifyDim(batch * frames), f.length, I(f.parts)});
  INGOT_RETURN_IF_ERROR(k.status());
  if (window) {
    INGOT_ASSIGN_OR_RETURN(window, c.FixShape(window, {f.length}, "window"));
    y = k.Mul(y, k.Reshape(window, {f.length, I(1)}));
    INGOT_RETURN_IF_ERROR(k.status());
  }
  INGOT_ASSIGN_OR_RETURN(y, Transformed(k, y, f));
  c.SetOutput(0, k.Reshape(y, {batch, frames, f.ResultLength(), I(2)}));
  return k.status();
}

}  // namespace

void AddFourierTransformsConverters(ConverterTable* t) {
  t->Add("DFT", 17, &Dft);
  t->Add("STFT", 17, &Stft);
}

}  // namespace ingot::onnx_frontend
