// Products of data that was rounded to bytes with matrices whose elements are
// of few bits and lie in panels of words, whose bytes processors multiply four
// at a time.
#include <map>
#include <string>
#include <utility>

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
  if (attrs.Get<int64_t>("tile_rows") < 0) return Invalid("tile_rows < 0");
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

// The numbers of a word in one of its layers, as bytes.
Expr Layer(const FewBitsWords& form, const Expr& word, const Expr& layer) {
  if (form.layers() == 1) return word;
  const DataType i32 = DataType::Int(32);
  Expr numbers = word;
  if (!tir::IsConstInt(layer, 0)) {
    numbers = tir::MakeBinary(tir::BinaryOp::kShr, word,
                              tir::MakeCast(i32, layer * form.bits));
  }
  return tir::MakeBinary(tir::BinaryOp::kBitAnd, numbers,
                         MakeConst(i32, form.mask()));
}

// Computes the terms of the sum, each of a group of numbers.
class Terms {
 public:
  Terms(const ComputeContext& c, const FewBitsWords& form)
      : c_(c),
        form_(form),
        per_block_(form.groups() / form.blocks),
        tile_rows_(c.attrs.Get<int64_t>("tile_rows")) {}

  // Whether there are so many rows, in the last dimension that has several,
  // that their products are made by tiles.
  bool FillsTiles() const {
    const Shape& out = c_.outputs[0].shape;
    int64_t rows = 1;
    for (size_t i = out.size() - 1; i > 0 && rows == 1; --i) {
      rows = tile_rows_;
      ConstDim(out[i - 1], &rows);
    }
    return tile_rows_ > 0 && rows >= tile_rows_;
  }

  // A term whose row and column are `i`: its words are unpacked in registers.
  Expr Term(const Indices& i, const Expr& group) const {
    Expr dot =
        c_.has(kZeros) ? MakeConst(DataType::Int(32), 0) : SumOfData(i, group);
    for (int64_t p = 0; p < form_.group_words(); ++p) {
      const Expr word = Word(i.back(), group, I64(p));
      for (int64_t layer = 0; layer < form_.layers(); ++layer) {
        const Expr bytes = Layer(form_, word, I64(layer));
        dot = MakeCall(
            Intrinsic::kDot4,
            {bytes, Data(i, group, I64(p * form_.layers() + layer)), dot});
      }
    }
    return Scaled(i, group, dot);
  }

  // The same of sums of products, [..., m, groups, n], which were made before.
  Expr TermOf(const te::Tensor& dots, const Indices& i,
              const Expr& group) const {
    Indices at(i.begin(), i.end() - 1);
    at.insert(at.end(), {group, i.back()});
    Expr dot = dots(at);
    if (!c_.has(kZeros)) dot = dot + SumOfData(i, group);
    return Scaled(i, group, dot);
  }

  // The sums of products of groups, which tiles of bytes multiply, so that a
  // word of bytes is a step: unpacked first, once for all rows.
  te::Tensor Dots() const {
    const te::Tensor bytes = form_.layers() == 1 ? te::Tensor() : Bytes();
    Shape shape = c_.outputs[0].shape;
    shape.insert(shape.end() - 1, I64(form_.groups()));
    return c_.graph.Reduce(
        SubName(c_, "dots"), shape, {I64(StepsOfGroup())},
        te::Reducer::Sum(DataType::Int(32)),
        [&](const Indices& i, const Indices& r) {
          const Expr &group = i[i.size() - 2], &column = i.back();
          Indices row(i.begin(), i.end() - 2);
          row.push_back(column);
          const Expr word = form_.layers() == 1
                                ? Word(column, group, r[0])
                                : bytes({column / I64(form_.columns), group,
                                         r[0], column % I64(form_.columns)});
          return MakeCall(Intrinsic::kDot4, {word, Data(row, group, r[0]),
                                             MakeConst(DataType::Int(32), 0)});
        },
        {{te::kAnchor, te::kDenseGroups}});
  }

 private:
  int64_t StepsOfGroup() const { return form_.group() / FewBitsWords::kBytes; }

  // i32[panels, groups, steps, columns], a byte for each number.
  te::Tensor Bytes() const {
    const Expr layers = I64(form_.layers());
    return c_.graph.Compute(
        SubName(c_, "bytes"),
        {c_.inputs[kWords].shape()[0], I64(form_.groups()), I64(StepsOfGroup()),
         I64(form_.columns)},
        [&](const Indices& i) {
          return Layer(form_, WordOf(i[0], i[1], i[2] / layers, i[3]),
                       i[2] % layers);
        },
        {{te::kParts, "1"}});
  }

  Expr BlockOf(const Expr& group) const {
    return per_block_ == 1 ? group : group / I64(per_block_);
  }

  Expr WordOf(const Expr& panel, const Expr& group, const Expr& word,
              const Expr& lane) const {
    const Expr at =
        per_block_ == 1
            ? word
            : (group % I64(per_block_)) * form_.group_words() + word;
    return c_.inputs[kWords]({panel, BlockOf(group), at, lane});
  }
  Expr Word(const Expr& column, const Expr& group, const Expr& word) const {
    return WordOf(column / I64(form_.columns), group, word,
                  column % I64(form_.columns));
  }

  // The four bytes of a row's group that meet one step.
  Expr Data(const Indices& i, const Expr& group, const Expr& step) const {
    Indices at = i;
    at.back() = group * form_.group() + step * FewBitsWords::kBytes;
    return LoadWord(c_.inputs[kData], at);
  }

  Expr SumOfData(const Indices& i, const Expr& group) const {
    Indices row = i;
    row.back() = group;
    return c_.inputs[kDataSums](row);
  }

  Expr Scaled(const Indices& i, const Expr& group, const Expr& dot) const {
    const DataType f32 = DataType::Float(32);
    Indices row = i;
    row.back() = group;
    const Indices of_block = {i.back() / I64(form_.columns), BlockOf(group),
                              i.back() % I64(form_.columns)};
    Expr sum = MakeCast(f32, dot);
    if (c_.has(kZeros)) {
      sum = sum -
            c_.inputs[kZeros](of_block) * MakeCast(f32, SumOfData(i, group));
    }
    return c_.inputs[kDataScales](row) * c_.inputs[kScales](of_block) * sum;
  }

  const ComputeContext& c_;
  const FewBitsWords& form_;
  const int64_t per_block_;  // groups
  const int64_t tile_rows_;
};

absl::StatusOr<Tensors> Compute(const ComputeContext& c) {
  INGOT_ASSIGN_OR_RETURN(
      const FewBitsWords form,
      ReadForm(c.attrs, {c.inputs[kWords].dtype(), c.inputs[kWords].shape()}));
  const Terms terms(c, form);
  const auto sum = [&](const auto& term,
                       std::map<std::string, std::string> tags) {
    return Tensors{c.graph.Reduce(
        c.name, c.outputs[0].shape, {I64(form.groups())},
        te::Reducer::Sum(DataType::Float(32)),
        [&](const Indices& i, const Indices& r) { return term(i, r[0]); },
        std::move(tags))};
  };
  if (!terms.FillsTiles()) {
    return sum(
        [&](const Indices& i, const Expr& g) { return terms.Term(i, g); },
        {{te::kAnchor, te::kDenseWords}});
  }
  const te::Tensor dots = terms.Dots();
  return sum(
      [&](const Indices& i, const Expr& g) { return terms.TermOf(dots, i, g); },
      {});
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
               IntAttr("units", "n, the columns of the result", kRequired),
               IntAttr("tile_rows",
                       "from so many rows on, numbers are unpacked to bytes "
                       "once for all rows, and multiplied by tiles of them; 0: "
                       "never",
                       0)};
  def.infer = &Infer;
  def.compute = &Compute;
  return RegisterAllOf(registry, {std::move(def)});
}

}  // namespace ingot::relay::ops
