// Products and convolutions of f32 whose operands are written as sums of bf16.
#include "compiler/relay/bf16_parts.h"
#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/packed_convolution.h"
#include "compiler/te/tags.h"

namespace ingot::relay::ops {
namespace {

constexpr int64_t kRow = Bf16Panels::kRow;
constexpr int64_t kPair = Bf16Panels::kPair;
constexpr int64_t kColumns = Bf16Panels::kColumns;

Expr ToF32(const Expr& part) { return MakeCast(DataType::Float(32), part); }

// The part with that number, counted from 0: the number that is left after the
// parts before, rounded.
Expr PartOf(Expr left, const Expr& number, int64_t parts) {
  Expr value;
  std::vector<Expr> rounded;
  for (int64_t p = 0; p < parts; ++p) {
    rounded.push_back(MakeCast(DataType::BFloat16(), left));
    left = left - ToF32(rounded.back());
  }
  value = rounded.back();
  for (int64_t p = parts - 2; p >= 0; --p) {
    value = tir::MakeSelect(tir::Le(number, I64(p)), rounded[p], value);
  }
  return value;
}

// The products of the parts of two numbers that count, added up: in an order in
// which each shares a factor with the next, which a processor then loads once.
Expr SumOfProducts(int64_t parts, const std::function<Expr(int64_t)>& data,
                   const std::function<Expr(int64_t)>& weight) {
  Expr sum;
  for (int64_t q = 0; q < parts; ++q) {
    for (int64_t n = 0; n < parts - q; ++n) {
      const int64_t p = q % 2 == 0 ? parts - q - 1 - n : n;
      const Expr product = ToF32(data(p)) * ToF32(weight(q));
      sum = sum == nullptr ? product : sum + product;
    }
  }
  return sum;
}

// Element [row, column] of weights in panels, where row = 32 * step + 2 * pair
// + element.
Expr Weight(const te::Tensor& w, const Expr& column, const Expr& step,
            int64_t part, const Expr& pair, const Expr& element) {
  return w({column / I64(kColumns), step, I64(part), pair,
            column % I64(kColumns), element});
}

// x's last dimension as rows of 32: the first row's parts, the second's, and
// so on. Their number is odd, so that elements one below the other do not all
// compete for the same place in a cache.
te::Tensor SplitData(const ComputeContext& c, const te::Tensor& x,
                     int64_t steps, int64_t parts) {
  Shape shape(x.shape().begin(), x.shape().end() - 1);
  const Expr k = x.shape().back();
  shape.push_back(I64(steps * parts | 1));
  shape.push_back(I64(kRow));
  return c.graph.Compute(SubName(c, "parts"), shape,
                         [&](const Indices& i) {
                           const Expr row = i[i.size() - 2];
                           Indices at(i.begin(), i.end() - 2);
                           at.push_back(row / I64(parts) * kRow + i.back());
                           const Expr element = tir::MakeSelect(
                               tir::Lt(at.back(), k), x(at),
                               tir::MakeFloat(0, DataType::Float(32)));
                           return PartOf(element, row % I64(parts), parts);
                         },
                         {{te::kParts, "1"}});
}

OpDef DenseParts() {
  OpDef def;
  def.name = "dense_parts";
  def.doc =
      "x[..., m, k] times w, both of f32 as sums of bf16 parts, w packed as "
      "[ceil(n / 16), ceil(k / 32), parts, 16, 16, 2], zero-padded; products "
      "of two parts that are as small as what the parts leave out are left out";
  def.min_inputs = def.max_inputs = 2;
  def.fusion = FusionKind::kAnchor;
  def.traits = kOperandsInMemory | kTimesPacked;
  def.attrs = {IntAttr("units", "n, the columns of the result", kRequired)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    const TensorType &x = c.type(0), &w = c.type(1);
    if (x.shape.size() < 2) return Invalid("x must have at least rank 2");
    if (x.dtype != DataType::Float(32)) return Invalid("x must be of f32");
    if (w.dtype != DataType::BFloat16()) return Invalid("w must be of bf16");
    INGOT_RETURN_IF_ERROR(ExpectRank(w, 6, "w"));
    const auto packed = ConstShape(w.shape);
    const int64_t units = c.attrs.Get<int64_t>("units");
    int64_t k = 0;
    if (!packed || !ConstDim(x.shape.back(), &k) || k < 1 || units < 1 ||
        *packed != Bf16Panels{k, units, (*packed)[2]}.shape() ||
        (*packed)[2] < 1 || (*packed)[2] > Bf16Panels::kMostParts) {
      return Invalid("w ", ToString(w), " does not hold ", units,
                     " columns for x ", ToString(x));
    }
    TensorType out{x.dtype, x.shape};
    out.shape.back() = I64(units);
    return Types{out};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0], w = c.inputs[1];
    const std::vector<int64_t> packed = *ConstShape(w.shape());
    const int64_t steps = packed[1], parts = packed[2];
    const te::Tensor split = SplitData(c, x, steps, parts);
    return Tensors{c.graph.Reduce(
        c.name, c.outputs[0].shape, {I64(steps), I64(kRow / kPair), I64(kPair)},
        te::Reducer::Sum(DataType::Float(32)),
        [&](const Indices& i, const Indices& r) {
          return SumOfProducts(
              parts,
              [&](int64_t part) {
                Indices at(i.begin(), i.end() - 1);
                at.push_back(r[0] * parts + part);
                at.push_back(r[1] * kPair + r[2]);
                return split(at);
              },
              [&](int64_t part) {
                return Weight(w, i.back(), r[0], part, r[1], r[2]);
              });
        },
        {{te::kAnchor, te::kDenseParts}})};
  };
  return def;
}

// The bf16 parts of each weight.
int64_t PartsOf(const TensorType& w) {
  int64_t parts = 0;
  return w.shape.size() == 6 && ConstDim(w.shape[2], &parts) ? parts : 0;
}

absl::StatusOr<PackedConvolution> ReadConvolution(const TensorType& x,
                                                  const TensorType& w,
                                                  const Attrs& attrs) {
  if (x.dtype != DataType::Float(32)) return Invalid("x must be of f32");
  if (w.dtype != DataType::BFloat16()) return Invalid("w must be of bf16");
  INGOT_RETURN_IF_ERROR(ExpectRank(w, 6, "w"));
  INGOT_ASSIGN_OR_RETURN(const PackedConvolution conv,
                         ReadPackedConvolution(x, attrs, kRow));
  const auto packed = ConstShape(w.shape);
  const int64_t parts = PartsOf(w);
  if (!packed || parts < 1 || parts > Bf16Panels::kMostParts ||
      *packed != Bf16Panels{conv.steps() * kRow, (*packed)[0] * kColumns, parts}
                     .shape()) {
    return Invalid("w ", ToString(w), " does not fit x ", ToString(x));
  }
  return conv;
}

// The data's parts: [n, channels / 32, y, x, part, 32], padded.
te::Tensor SplitPixels(const ComputeContext& c, const PackedConvolution& conv,
                       int64_t parts) {
  Shape shape = conv.PixelShape(c);
  shape.insert(shape.end(), {I64(parts), I64(kRow)});
  const Expr zero = tir::MakeFloat(0, DataType::Float(32));
  return c.graph.Compute(SubName(c, "parts"), shape,
                         [&](const Indices& i) {
                           return PartOf(conv.ElementAt(c, i, i[5], zero), i[4],
                                         parts);
                         },
                         {{te::kParts, "1"}});
}

OpDef Conv2dParts() {
  OpDef def;
  def.name = "conv2d_parts";
  def.doc =
      "convolution of x NCHW16c, as dense_parts multiplies: the rows of w are, "
      "for 32 input channels after the other, the taps in order, of 32 each; "
      "its columns are the output channels";
  def.min_inputs = def.max_inputs = 2;
  def.fusion = FusionKind::kAnchor;
  def.traits = kOperandsInMemory | kConvolvesPacked;
  def.attrs = PackedConvolutionAttrs();
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    const TensorType &x = c.type(0), &w = c.type(1);
    INGOT_ASSIGN_OR_RETURN(const PackedConvolution conv,
                           ReadConvolution(x, w, c.attrs));
    INGOT_ASSIGN_OR_RETURN(TensorType out, ResultOfPackedConvolution(
                                               conv, x, w.shape[0], x.dtype));
    return Types{std::move(out)};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor& w = c.inputs[1];
    const TensorType w_type{w.dtype(), w.shape()};
    INGOT_ASSIGN_OR_RETURN(
        const PackedConvolution conv,
        ReadConvolution({c.inputs[0].dtype(), c.inputs[0].shape()}, w_type,
                        c.attrs));
    const int64_t parts = PartsOf(w_type);
    const te::Tensor split = SplitPixels(c, conv, parts);
    return Tensors{c.graph.Reduce(
        c.name, c.outputs[0].shape,
        {I64(conv.rows), I64(conv.window.kernel[0]), I64(conv.window.kernel[1]),
         I64(kRow / kPair), I64(kPair)},
        te::Reducer::Sum(DataType::Float(32)),
        [&](const Indices& i, const Indices& r) {
          const Indices at = conv.RowOf(i, r);
          const Expr step = conv.StepOf(r);
          return SumOfProducts(
              parts,
              [&](int64_t part) {
                Indices of_part = at;
                of_part.push_back(I64(part));
                of_part.push_back(r[3] * kPair + r[4]);
                return split(of_part);
              },
              [&](int64_t part) {
                return w({i[1], step, I64(part), r[3], i[4], r[4]});
              });
        },
        {{te::kAnchor, te::kConv2dParts}})};
  };
  return def;
}

}  // namespace

absl::Status RegisterBf16Products(OpRegistry* registry) {
  return RegisterAllOf(registry, {DenseParts(), Conv2dParts()});
}

}  // namespace ingot::relay::ops
