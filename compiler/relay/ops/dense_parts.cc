// Products of matrices of f32 whose elements are written as sums of bf16.
#include "compiler/relay/bf16_parts.h"
#include "compiler/relay/dim.h"
#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/families.h"
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
    const DataType f32 = DataType::Float(32);
    return Tensors{c.graph.Reduce(
        c.name, c.outputs[0].shape, {I64(steps), I64(kRow / kPair), I64(kPair)},
        te::Reducer::Sum(f32),
        [&](const Indices& i, const Indices& r) {
          const auto data = [&](int64_t part) {
            Indices at(i.begin(), i.end() - 1);
            at.push_back(r[0] * parts + part);
            at.push_back(r[1] * kPair + r[2]);
            return ToF32(split(at));
          };
          const auto weight = [&](int64_t part) {
            return ToF32(w({i.back() / I64(kColumns), r[0], I64(part), r[1],
                            i.back() % I64(kColumns), r[2]}));
          };
          // In an order in which each shares a factor with the next.
          Expr sum;
          for (int64_t q = 0; q < parts; ++q) {
            for (int64_t n = 0; n < parts - q; ++n) {
              const int64_t p = q % 2 == 0 ? parts - q - 1 - n : n;
              const Expr product = data(p) * weight(q);
              sum = sum == nullptr ? product : sum + product;
            }
          }
          return sum;
        },
        {{te::kAnchor, te::kDenseParts}})};
  };
  return def;
}

}  // namespace

absl::Status RegisterDenseParts(OpRegistry* registry) {
  return RegisterAllOf(registry, {DenseParts()});
}

}  // namespace ingot::relay::ops
