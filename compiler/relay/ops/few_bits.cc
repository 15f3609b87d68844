// Products with matrices whose elements are of few bits, in blocks along the
// dimension summed over that have a scale and a zero point each.
#include <algorithm>

#include "compiler/relay/ops/common.h"
#include "compiler/te/tags.h"

namespace ingot::relay::ops {
namespace {

enum Operand { kData, kWeights, kScales, kZeros };

// Sums are made in so many lanes, or as many as a block has bytes.
constexpr int64_t kMostLanes = 16;
// A longer block is summed in several steps.
constexpr int64_t kMostBytes = 128;

// The form of the weights, u8[columns, blocks, bytes].
struct Form {
  int64_t bits, blocks, bytes;

  int64_t per_byte() const { return 8 / bits; }
  int64_t block() const { return bytes * per_byte(); }
};

absl::StatusOr<Form> ReadForm(const Attrs& attrs, const TensorType& weights) {
  Form form;
  form.bits = attrs.Get<int64_t>("bits");
  if (form.bits != 2 && form.bits != 4 && form.bits != 8) {
    return Invalid("bits=", form.bits);
  }
  if (weights.dtype != DataType::UInt(8) || weights.shape.size() != 3 ||
      !ConstDim(weights.shape[1], &form.blocks) ||
      !ConstDim(weights.shape[2], &form.bytes) || form.blocks < 1 ||
      form.bytes < 4 || (form.bytes & (form.bytes - 1)) != 0) {
    return Invalid("weights ", ToString(weights),
                   " are not bytes of columns and blocks");
  }
  return form;
}

absl::StatusOr<Types> Infer(const InferContext& c) {
  const TensorType &x = c.type(kData), &w = c.type(kWeights);
  INGOT_RETURN_IF_ERROR(ExpectFloat(x, "the data"));
  INGOT_ASSIGN_OR_RETURN(const Form form, ReadForm(c.attrs, w));
  int64_t depth;
  const int64_t data_bits = c.attrs.Get<int64_t>("data_bits");
  if (data_bits != 0 && data_bits != 8) {
    return Invalid("data_bits=", data_bits);
  }
  if (x.shape.size() < 2 || !ConstDim(x.shape.back(), &depth) || depth < 1 ||
      (depth - 1) / form.block() + 1 != form.blocks) {
    return Invalid("data ", ToString(x), " for weights ", ToString(w), " of ",
                   form.bits, " bits");
  }
  for (int i : {kScales, kZeros}) {
    if (!c.has(i)) continue;
    INGOT_RETURN_IF_ERROR(ExpectSameType(x, c.type(i)));
    if (!SameShape(c.type(i).shape, {w.shape[0], w.shape[1]})) {
      return Invalid("scales or zero points ", ToString(c.type(i)),
                     " for weights ", ToString(w));
    }
  }
  TensorType out = x;
  out.shape.back() = w.shape[0];
  return Types{out};
}

// The steps of the sum: a part of a block each.
struct Steps {
  Form form;
  int64_t bytes, lanes;

  int64_t per_block() const { return form.bytes / bytes; }
  int64_t count() const { return form.blocks * per_block(); }
  // Vectors of bytes in a step.
  int64_t chunks() const { return bytes / lanes; }
};

// The data as weights of a step meet it: [..., m, steps, per byte, bytes], of
// f32. A byte holds the first of its numbers in its low bits.
te::Tensor SplitData(const ComputeContext& c, const Steps& s) {
  const te::Tensor x = c.inputs[kData];
  const int64_t numbers = s.form.per_byte();
  Shape shape(x.shape().begin(), x.shape().end() - 1);
  shape.insert(shape.end(), {I64(s.count()), I64(numbers), I64(s.bytes)});
  int64_t depth = 0;
  ConstDim(x.shape().back(), &depth);
  const bool whole = depth == s.count() * s.bytes * numbers;
  return c.graph.Compute(
      SubName(c, "split"), shape,
      [&](const Indices& i) {
        const size_t rows = x.shape().size() - 1;
        Indices at(i.begin(), i.begin() + rows);
        Expr k =
            i[rows] * (s.bytes * numbers) + i[rows + 2] * numbers + i[rows + 1];
        at.push_back(whole ? k : tir::Min(k, I64(depth - 1)));
        const Expr value = MakeCast(DataType::Float(32), x(at));
        if (whole) return value;
        return MakeSelect(tir::Lt(k, I64(depth)), value,
                          MakeConst(value->dtype, 0));
      },
      {{te::kParts, "1"}});
}

// The sums of what meets each lane, by which the zero point is multiplied:
// [..., m, steps, lanes].
te::Tensor SumData(const ComputeContext& c, const Steps& s,
                   const te::Tensor& split) {
  Shape shape(split.shape().begin(), split.shape().end() - 1);
  shape.back() = I64(s.lanes);
  return c.graph.Compute(
      SubName(c, "sums"), shape,
      [&](const Indices& i) {
        Expr sum;
        for (int64_t chunk = 0; chunk < s.chunks(); ++chunk) {
          for (int64_t n = 0; n < s.form.per_byte(); ++n) {
            Indices at(i.begin(), i.end() - 1);
            at.insert(at.end(), {I64(n), i.back() + chunk * s.lanes});
            const Expr term = split(at);
            sum = sum == nullptr ? term : sum + term;
          }
        }
        return sum;
      },
      {{te::kParts, "1"}});
}

// The terms of one step in one lane, zero points and scales included.
Expr StepTerm(const ComputeContext& c, const Steps& s, const te::Tensor& split,
              const te::Tensor& sums, const Indices& i, const Expr& step) {
  const DataType i32 = DataType::Int(32), f32 = DataType::Float(32);
  const size_t rows = i.size() - 2;
  const Expr &column = i[rows], &lane = i[rows + 1];
  const Expr block = s.per_block() == 1 ? step : step / I64(s.per_block());
  const Expr first = (step % I64(s.per_block())) * s.bytes;
  Indices data(i.begin(), i.begin() + rows);
  data.push_back(step);
  Expr zero = MakeConst(f32, static_cast<double>(1 << (s.form.bits - 1)));
  if (c.has(kZeros)) zero = MakeCast(f32, c.inputs[kZeros]({column, block}));
  Indices at = data;
  at.push_back(lane);
  Expr sum = -(zero * sums(at));
  for (int64_t chunk = 0; chunk < s.chunks(); ++chunk) {
    const Expr byte = lane + chunk * s.lanes;
    const Expr bits =
        MakeCast(i32, c.inputs[kWeights]({column, block, first + byte}));
    for (int64_t n = 0; n < s.form.per_byte(); ++n) {
      Expr number = bits;
      if (n > 0) {
        number = tir::MakeBinary(tir::BinaryOp::kShr, number,
                                 MakeConst(i32, n * s.form.bits));
      }
      if (n + 1 < s.form.per_byte()) {
        number = tir::MakeBinary(tir::BinaryOp::kBitAnd, number,
                                 MakeConst(i32, (1 << s.form.bits) - 1));
      }
      Indices to = data;
      to.insert(to.end(), {I64(n), byte});
      sum =
          MakeCall(Intrinsic::kMulAdd, {MakeCast(f32, number), split(to), sum});
    }
  }
  return MakeCast(f32, c.inputs[kScales]({column, block})) * sum;
}

// The numbers that the weights stand for, in the order of the data: [columns,
// steps, per byte, bytes] of f32.
te::Tensor Numbers(const ComputeContext& c, const Steps& s) {
  const DataType i32 = DataType::Int(32), f32 = DataType::Float(32);
  const te::Tensor weights = c.inputs[kWeights];
  const Shape shape = {weights.shape()[0], I64(s.count()),
                       I64(s.form.per_byte()), I64(s.bytes)};
  return c.graph.Compute(
      SubName(c, "numbers"), shape,
      [&](const Indices& i) {
        const Expr block = i[1] / I64(s.per_block());
        const Expr byte = (i[1] % I64(s.per_block())) * s.bytes + i[3];
        Expr zero = MakeConst(f32, static_cast<double>(1 << (s.form.bits - 1)));
        if (c.has(kZeros))
          zero = MakeCast(f32, c.inputs[kZeros]({i[0], block}));
        const Expr bits = MakeCast(i32, weights({i[0], block, byte}));
        const Expr number =
            tir::MakeBinary(tir::BinaryOp::kBitAnd,
                            tir::MakeBinary(tir::BinaryOp::kShr, bits,
                                            MakeCast(i32, i[2] * s.form.bits)),
                            MakeConst(i32, (1 << s.form.bits) - 1));
        return MakeCast(f32, c.inputs[kScales]({i[0], block})) *
               (MakeCast(f32, number) - zero);
      },
      {{te::kParts, "1"}});
}

// Products of many rows: weights are unpacked first, once for all of them.
Tensors ManyRows(const ComputeContext& c, const Steps& s,
                 const te::Tensor& split) {
  const te::Tensor numbers = Numbers(c, s);
  const te::Tensor sum =
      c.graph.Reduce(SubName(c, "sum"), c.outputs[0].shape,
                     {I64(s.count()), I64(s.form.per_byte()), I64(s.bytes)},
                     te::Reducer::Sum(DataType::Float(32)),
                     [&](const Indices& i, const Indices& r) {
                       Indices x(i.begin(), i.end() - 1), w = {i.back()};
                       x.insert(x.end(), r.begin(), r.end());
                       w.insert(w.end(), r.begin(), r.end());
                       return split(x) * numbers(w);
                     },
                     {{te::kAnchor, te::kMatmul}});
  return {c.graph.Compute(c.name, c.outputs[0].shape, [&](const Indices& i) {
    return MakeCast(c.outputs[0].dtype, sum(i));
  })};
}

absl::StatusOr<Tensors> Compute(const ComputeContext& c) {
  INGOT_ASSIGN_OR_RETURN(const Form form,
                         ReadForm(c.attrs, {c.inputs[kWeights].dtype(),
                                            c.inputs[kWeights].shape()}));
  Steps s{form, std::min(form.bytes, kMostBytes), 0};
  s.lanes = std::min(s.bytes, kMostLanes);
  const te::Tensor split = SplitData(c, s);
  const Shape& out = c.outputs[0].shape;
  // Few rows would not pay for writing and reading what is unpacked.
  constexpr int64_t kFewRows = 4;
  int64_t rows = 0;
  const bool has_few = ConstDim(out[out.size() - 2], &rows) && rows <= kFewRows;
  if (!has_few && s.lanes == kMostLanes) return ManyRows(c, s, split);
  const te::Tensor sums = SumData(c, s, split);
  Shape shape = c.outputs[0].shape;
  shape.push_back(I64(s.lanes));
  const te::Tensor lanes =
      c.graph.Reduce(SubName(c, "lanes"), shape, {I64(s.count())},
                     te::Reducer::Sum(DataType::Float(32)),
                     [&](const Indices& i, const Indices& r) {
                       return StepTerm(c, s, split, sums, i, r[0]);
                     },
                     {{te::kAnchor, te::kDenseBits}});
  return Tensors{
      c.graph.Compute(c.name, c.outputs[0].shape, [&](const Indices& i) {
        std::vector<Expr> sum;
        for (int64_t lane = 0; lane < s.lanes; ++lane) {
          Indices at = i;
          at.push_back(I64(lane));
          sum.push_back(lanes(at));
        }
        for (size_t half = sum.size() / 2; half > 0; half /= 2) {
          for (size_t k = 0; k < half; ++k) sum[k] = sum[k] + sum[k + half];
        }
        return MakeCast(c.outputs[0].dtype, sum[0]);
      })};
}

}  // namespace

absl::Status RegisterFewBits(OpRegistry* registry) {
  OpDef def;
  def.name = "dense_bits";
  def.doc =
      "x[..., m, k] times the transpose of w[n, k], whose elements are "
      "(number - zero) * scale; operands x, bytes of numbers u8[n, blocks, "
      "bytes], the first in the low bits, scales [n, blocks], zeros [n, "
      "blocks]? (else half of what the bits can say)";
  def.min_inputs = 3;
  def.max_inputs = 4;
  def.fusion = FusionKind::kAnchor;
  def.traits = kOperandsInMemory | kTimesFewBits;
  def.attrs = {
      IntAttr("bits", "of a number: 2, 4 or 8", kRequired),
      IntAttr("data_bits",
              "8: data may be rounded to bytes, with a scale for each group of "
              "up to 32 numbers of a block; 0: it is taken as it is",
              0)};
  def.infer = &Infer;
  def.compute = &Compute;
  return RegisterAllOf(registry, {std::move(def)});
}

}  // namespace ingot::relay::ops
