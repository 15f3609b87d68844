// Products of data that was rounded to bytes with matrices whose elements are
// of few bits and lie in panels of words, whose bytes processors multiply four
// at a time.
#include "compiler/relay/few_bits.h"
#include "compiler/relay/ops/common.h"
#include "compiler/te/tags.h"

namespace ingot::relay::ops {
namespace {

enum Operand { kData, kDataScales, kDataSums, kWords, kScales, kZeros };

// [panels, blocks, words, columns] of `words`, and what follows from it.
absl::StatusOr<FewBitsWords> ReadForm(const Attrs& attrs,
                                      const TensorType& words) {
  const auto shape = ConstShape(words.shape);
  const int64_t bits = attrs.Get<int64_t>("bits");
  if (words.dtype != DataType::Int(32) || !shape || shape->size() != 4) {
    return Invalid("words are ", ToString(words));
  }
  if (bits != 2 && bits != 4 && bits != 8) return Invalid("bits=", bits);
  const FewBitsWords form{bits, (*shape)[1], (*shape)[2], (*shape)[3]};
  const int64_t units = attrs.Get<int64_t>("units");
  // So few that their product, the depth, fits.
  if (form.blocks < 1 || form.blocks > (1 << 24) || form.words < 1 ||
      form.words > (1 << 20) || (form.words & (form.words - 1)) != 0 ||
      form.columns < 1 || units < 1 ||
      (units - 1) / form.columns + 1 != (*shape)[0]) {
    return Invalid("words ", ToString(words), " do not hold ", units,
                   " columns of ", bits, " bits");
  }
  return form;
}

absl::StatusOr<Types> Infer(const InferContext& c) {
  const TensorType& x = c.type(kData);
  INGOT_ASSIGN_OR_RETURN(const FewBitsWords form,
                         ReadForm(c.attrs, c.type(kWords)));
  int64_t depth;
  if (x.dtype != DataType::UInt(8) || x.shape.size() < 2 ||
      !ConstDim(x.shape.back(), &depth) || depth != form.depth()) {
    return Invalid("data ", ToString(x), " for a depth of ", form.depth());
  }
  TensorType groups{DataType::Float(32), x.shape};
  groups.shape.back() = I64(form.groups());
  INGOT_RETURN_IF_ERROR(ExpectSameType(groups, c.type(kDataScales)));
  INGOT_RETURN_IF_ERROR(
      ExpectSameType({DataType::Int(32), {}}, c.type(kDataSums)));
  for (int i : {kDataScales, kDataSums}) {
    if (!SameShape(c.type(i).shape, groups.shape)) {
      return Invalid("scales or sums ", ToString(c.type(i)), " for data ",
                     ToString(x), " in ", form.groups(), " groups");
    }
  }
  Shape of_columns = c.type(kWords).shape;
  of_columns.erase(of_columns.begin() + 2);
  for (int i : {kScales, kZeros}) {
    if (!c.has(i)) continue;
    INGOT_RETURN_IF_ERROR(ExpectSameType(groups, c.type(i)));
    if (!SameShape(c.type(i).shape, of_columns)) {
      return Invalid("scales or zero points ", ToString(c.type(i)),
                     " for words ", ToString(c.type(kWords)));
    }
  }
  TensorType out{DataType::Float(32), x.shape};
  out.shape.back() = I64(c.attrs.Get<int64_t>("units"));
  return Types{out};
}

// The term of a group of numbers, whose place in a row of the data and column
// are `i`.
Expr GroupTerm(const ComputeContext& c, const FewBitsWords& form,
               const Indices& i, const Expr& group) {
  const DataType i32 = DataType::Int(32), f32 = DataType::Float(32);
  const int64_t per_block = form.groups() / form.blocks;
  const Expr block = per_block == 1 ? group : group / I64(per_block);
  const Expr panel = i.back() / I64(form.columns),
             lane = i.back() % I64(form.columns);
  Indices row = i;
  row.back() = group;
  const Expr sum_of_data = c.inputs[kDataSums](row);
  Expr dot = c.has(kZeros) ? MakeConst(i32, 0) : sum_of_data;
  for (int64_t p = 0; p < form.group_words(); ++p) {
    const Expr first = per_block == 1
                           ? I64(p)
                           : (group % I64(per_block)) * form.group_words() + p;
    const Expr word = c.inputs[kWords]({panel, block, first, lane});
    for (int64_t layer = 0; layer < form.layers(); ++layer) {
      Expr bytes = word;
      if (layer > 0) {
        bytes = tir::MakeBinary(tir::BinaryOp::kShr, bytes,
                                MakeConst(i32, layer * form.bits));
      }
      if (form.layers() > 1) {
        bytes = tir::MakeBinary(tir::BinaryOp::kBitAnd, bytes,
                                MakeConst(i32, form.mask()));
      }
      Indices at = i;
      at.back() = group * form.group() + p * form.numbers() +
                  layer * FewBitsWords::kBytes;
      dot = MakeCall(Intrinsic::kDot4,
                     {bytes, LoadWord(c.inputs[kData], at), dot});
    }
  }
  Expr sum = MakeCast(f32, dot);
  if (c.has(kZeros)) {
    sum = sum -
          c.inputs[kZeros]({panel, block, lane}) * MakeCast(f32, sum_of_data);
  }
  return c.inputs[kDataScales](row) * c.inputs[kScales]({panel, block, lane}) *
         sum;
}

absl::StatusOr<Tensors> Compute(const ComputeContext& c) {
  INGOT_ASSIGN_OR_RETURN(
      const FewBitsWords form,
      ReadForm(c.attrs, {c.inputs[kWords].dtype(), c.inputs[kWords].shape()}));
  return Tensors{c.graph.Reduce(c.name, c.outputs[0].shape,
                                {I64(form.groups())},
                                te::Reducer::Sum(DataType::Float(32)),
                                [&](const Indices& i, const Indices& r) {
                                  return GroupTerm(c, form, i, r[0]);
                                },
                                {{te::kAnchor, te::kDenseWords}})};
}

}  // namespace

absl::Status RegisterFewBitsPacked(OpRegistry* registry) {
  OpDef def;
  def.name = "dense_bits_packed";
  def.doc =
      "what dense_bits gives of data that is rounded to bytes, in groups of 32 "
      "numbers or a block; operands signed bytes as u8[..., m, k], their "
      "scales f32[..., m, groups] and sums i32[..., m, groups] (without zeros, "
      "these times half of what the bits can say, less than 0), the matrix as "
      "words i32[panels, blocks, words, columns] of which each byte holds the "
      "numbers that meet one byte of every fourth, the first in the low bits, "
      "scales [panels, blocks, columns], zeros [panels, blocks, columns]?";
  def.min_inputs = 5;
  def.max_inputs = 6;
  def.fusion = FusionKind::kAnchor;
  def.traits = kOperandsInMemory;
  def.attrs = {IntAttr("bits", "of a number: 2, 4 or 8", kRequired),
               IntAttr("units", "n, the columns of the result", kRequired)};
  def.infer = &Infer;
  def.compute = &Compute;
  return RegisterAllOf(registry, {std::move(def)});
}

}  // namespace ingot::relay::ops
