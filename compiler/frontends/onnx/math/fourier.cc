#include "compiler/frontends/onnx/math/fourier.h"

#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "compiler/frontends/onnx/graph/context.h"
#include "compiler/frontends/onnx/model/tensor_proto.h"
#include "compiler/relay/interpreter/constant_value.h"

namespace ingot::onnx_frontend {
namespace {

using tir::Expr;

constexpr int64_t kMaxMatrix = int64_t{1} << 25;

const DataType kF64 = DataType::Float(64);

// The angle between each part of an element and each part of the result.
Value QuarterTurns(Compose& k, int64_t parts, int64_t result_parts) {
  std::vector<double> turns;
  for (int64_t p = 0; p < parts; ++p) {
    for (int64_t q = 0; q < result_parts; ++q) {
      turns.push_back(static_cast<double>(p - q) * M_PI / 2);
    }
  }
  return k.Constant(MakeTensor<double>(kF64, {1, parts, result_parts}, turns));
}

// Returns how much each part of an element adds to each part of the result, by
// the angle between the two elements in parts of a turn: [length, parts,
// ResultParts].
Value Shares(Compose& k, const Fourier& f, DataType dtype) {
  const Value length = k.Cast(k.Number(f.length), kF64);
  const Value turn =
      k.Reshape(k.Cast(k.CountUp(f.length), kF64), {f.length, I(1), I(1)});
  const Value angle = k.Mul(k.Div(turn, length), (f.inverse ? 2 : -2) * M_PI);
  Value shares =
      k.Call("cos", {k.Add(angle, QuarterTurns(k, f.parts, f.ResultParts()))});
  if (f.inverse) shares = k.Div(shares, length);
  return k.Cast(shares, dtype);
}

// Returns how often each of `used` elements of half of a spectrum counts: the
// other half mirrors all but the first and, where the length is even, the last.
Value MirrorWeights(Compose& k, const Expr& used, const Expr& length,
                    DataType dtype) {
  const Value at = k.CountUp(used);
  const Value alone =
      k.Call("logical_or", {k.Call("equal", {at, k.Like(at, 0)}),
                            k.Call("equal", {k.Mul(at, 2), k.Number(length)})});
  return k.Reshape(k.Sub(k.Full(dtype, {used}, 2), k.Cast(alone, dtype)),
                   {used, I(1)});
}

// The matrix that has the shares of each element in each one of the result,
// [used * parts, results * ResultParts], from shares that are known.
absl::StatusOr<Tensor> Arranged(const Tensor& shares, int64_t used,
                                int64_t results) {
  const int64_t length = shares.shape()[0], parts = shares.shape()[1];
  const int64_t result_parts = shares.shape()[2];
  INGOT_ASSIGN_OR_RETURN(
      Tensor matrix,
      Tensor::Empty(shares.dtype(), {used * parts, results * result_parts}));
  const size_t bytes = shares.dtype().bytes() * result_parts;
  const char* from = static_cast<const char*>(shares.raw_data());
  char* to = static_cast<char*>(matrix.mutable_raw_data());
  for (int64_t j = 0; j < used; ++j) {
    for (int64_t p = 0; p < parts; ++p) {
      for (int64_t r = 0; r < results; ++r, to += bytes) {
        std::memcpy(to, from + (j * r % length * parts + p) * bytes, bytes);
      }
    }
  }
  return matrix;
}

// The same matrix: a constant where importing knows its extents, since folding
// leaves what is large and made from little to each run.
absl::StatusOr<Value> Matrix(Compose& k, const Fourier& f, const Expr& used,
                             DataType dtype) {
  const Expr result = f.ResultLength();
  const Value shares = Shares(k, f, dtype);
  INGOT_RETURN_IF_ERROR(k.status());
  int64_t rows, columns;
  if (tir::AsConstInt(used, &rows) && tir::AsConstInt(result, &columns)) {
    if (rows * f.parts > kMaxMatrix / (columns * f.ResultParts())) {
      return k.context().NotSupported("a transform of ", columns, " elements");
    }
    INGOT_ASSIGN_OR_RETURN(const Tensor known, relay::ConstantValue(shares));
    INGOT_ASSIGN_OR_RETURN(Tensor matrix, Arranged(known, rows, columns));
    return k.context().Constant(std::move(matrix), "fourier");
  }
  const Value element = k.Reshape(k.CountUp(used), {used, I(1)});
  const Value turns =
      k.Call("mod", {k.Mul(element, k.CountUp(result)), k.Number(f.length)});
  const Value matrix =
      k.Transpose(k.Call("gather", {shares, turns}), {0, 2, 1, 3});
  return k.Reshape(matrix, {SimplifyDim(used * f.parts),
                            SimplifyDim(result * f.ResultParts())});
}

}  // namespace

Expr Fourier::ResultLength() const {
  if (!onesided || inverse) return length;
  return SimplifyDim(length / I(2) + 1);
}

absl::StatusOr<Value> Transformed(Compose& k, Value x, const Fourier& f) {
  const Expr rows = ShapeOf(x)[0], given = ShapeOf(x)[1];
  const Expr most =
      f.IsRealInverse() ? SimplifyDim(f.length / I(2) + 1) : f.length;
  const Expr used = SimplifyDim(Min(given, most));
  if (!relay::SameShape({used}, {given})) x = k.Slice(x, 1, I(0), used);
  INGOT_RETURN_IF_ERROR(k.status());
  const DataType dtype = x.type().dtype;
  if (f.IsRealInverse()) {
    x = k.Mul(x, MirrorWeights(k, used, f.length, dtype));
  }
  x = k.Reshape(x, {rows, SimplifyDim(used * f.parts)});
  INGOT_ASSIGN_OR_RETURN(const Value matrix, Matrix(k, f, used, dtype));
  const Value y = k.Reshape(k.Call("matmul", {x, matrix}),
                            {rows, f.ResultLength(), I(f.ResultParts())});
  INGOT_RETURN_IF_ERROR(k.status());
  return y;
}

}  // namespace ingot::onnx_frontend
