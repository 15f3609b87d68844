// Operators that change text.
#include "compiler/relay/ops/text.h"

#include "compiler/relay/dim.h"
#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/loops.h"

namespace ingot::relay::ops {

namespace {
const DataType kU8 = DataType::UInt(8);
}  // namespace

absl::Status ExpectText(const TensorType& type, absl::string_view what) {
  if (type.dtype == kU8 && !type.shape.empty()) return absl::OkStatus();
  return Invalid(what, " must be text, bytes of rank 1 or more, not ",
                 ToString(type));
}

Expr U8(int value) { return tir::MakeInt(value, kU8); }

Expr ByteAt(const te::Tensor& t, Indices i, const Expr& at) {
  const Expr width = t.shape().back();
  i.push_back(Max(Min(at, width - 1), I64(0)));
  return MakeSelect(And(Ge(at, I64(0)), Lt(at, width)), t(i), U8(0));
}

Expr Between(const Expr& byte, int low, int high) {
  return And(Ge(byte, U8(low)), Le(byte, U8(high)));
}

namespace {

// `byte`, which stands after `before`, with the case of letters changed:
// ASCII's, and those of two bytes that begin with 0xC3 (À to þ).
Expr ChangeCase(bool upper, const Expr& byte, const Expr& before) {
  const Expr ascii = upper ? Between(byte, 'a', 'z') : Between(byte, 'A', 'Z');
  // × and ÷ are among the letters, but are none.
  const Expr latin =
      And(Eq(before, U8(0xC3)),
          upper ? And(Between(byte, 0xA0, 0xBE), tir::Ne(byte, U8(0xB7)))
                : And(Between(byte, 0x80, 0x9E), tir::Ne(byte, U8(0x97))));
  const Expr changed = upper ? byte - U8(32) : byte + U8(32);
  return MakeSelect(Or(ascii, latin), changed, byte);
}

OpDef ChangeCaseOp() {
  OpDef def;
  def.name = "change_case";
  def.doc = "text in upper or lower case: ASCII's letters and À to þ";
  def.attrs = {StringAttr("case", "upper or lower", kRequired)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_RETURN_IF_ERROR(ExpectText(c.type(0), "the operand"));
    const std::string name = c.attrs.Get<std::string>("case");
    if (name != "upper" && name != "lower") {
      return Invalid("there is no case '", name, "'");
    }
    return Types{c.type(0)};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0];
    const bool upper = c.attrs.Get<std::string>("case") == "upper";
    return Tensors{c.graph.Compute(c.name, x.shape(), [&](const Indices& i) {
      const Indices string(i.begin(), i.end() - 1);
      return ChangeCase(upper, x(i), ByteAt(x, string, i.back() - 1));
    })};
  };
  return def;
}

OpDef WordsEqual() {
  OpDef def;
  def.name = "words_equal";
  def.doc = "whether each string of x is one of words[n, width]";
  def.min_inputs = def.max_inputs = 2;
  def.attrs = {
      IntAttr("ignore_case", "whether words count as change_case has them", 0)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_RETURN_IF_ERROR(ExpectText(c.type(0), "x"));
    INGOT_RETURN_IF_ERROR(ExpectText(c.type(1), "words"));
    INGOT_RETURN_IF_ERROR(ExpectRank(c.type(1), 2, "words"));
    const Shape& x = c.type(0).shape;
    return Types{{DataType::Bool(), {x.begin(), x.end() - 1}}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0], words = c.inputs[1];
    const bool ignore_case = c.attrs.Get<int64_t>("ignore_case") != 0;
    const Shape& out = c.outputs[0].shape;
    Shape pairs = out;
    pairs.push_back(words.shape()[0]);
    auto byte = [&](const te::Tensor& t, const Indices& string,
                    const Expr& at) {
      const Expr b = ByteAt(t, string, at);
      return ignore_case ? ChangeCase(false, b, ByteAt(t, string, at - 1)) : b;
    };
    const te::Tensor same = c.graph.Reduce(
        SubName(c, "same"), pairs,
        {SimplifyDim(Max(x.shape().back(), words.shape()[1]))},
        te::Reducer::Min(kU8), [&](const Indices& i, const Indices& r) {
          const Indices string(i.begin(), i.end() - 1);
          return MakeSelect(
              Eq(byte(x, string, r[0]), byte(words, {i.back()}, r[0])), U8(1),
              U8(0));
        });
    const te::Tensor any = c.graph.Reduce(
        SubName(c, "any"), out, {words.shape()[0]}, te::Reducer::Max(kU8),
        [&](const Indices& i, const Indices& r) {
          Indices at = i;
          at.push_back(r[0]);
          return same(at);
        });
    return Tensors{c.graph.Compute(
        c.name, out, [&](const Indices& i) { return tir::Ne(any(i), U8(0)); })};
  };
  return def;
}

OpDef ConcatText() {
  OpDef def;
  def.name = "concat_text";
  def.doc = "the strings of b after those of a; their shapes broadcast";
  def.min_inputs = def.max_inputs = 2;
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    std::vector<Shape> shapes;
    for (int k = 0; k < 2; ++k) {
      INGOT_RETURN_IF_ERROR(ExpectText(c.type(k), k == 0 ? "a" : "b"));
      const Shape& shape = c.type(k).shape;
      shapes.emplace_back(shape.begin(), shape.end() - 1);
    }
    INGOT_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes(shapes, c.assumed));
    shape.push_back(c.type(0).shape.back() + c.type(1).shape.back());
    return Types{{kU8, shape}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor a = c.inputs[0], b = c.inputs[1];
    const Shape& out = c.outputs[0].shape;
    const Shape strings(out.begin(), out.end() - 1);
    auto string = [&](const te::Tensor& t, const Indices& i) {
      return BroadcastIndices(Shape(t.shape().begin(), t.shape().end() - 1), i,
                              strings);
    };
    const te::Tensor length = c.graph.Reduce(
        SubName(c, "length"), strings, {a.shape().back()},
        te::Reducer::Max(DataType::Int(64)),
        [&](const Indices& i, const Indices& r) {
          const Expr byte = ByteAt(a, string(a, i), r[0]);
          return MakeSelect(tir::Ne(byte, U8(0)), r[0] + 1, I64(0));
        });
    return Tensors{c.graph.Compute(c.name, out, [&](const Indices& i) {
      const Indices at(i.begin(), i.end() - 1);
      const Expr first = length(at);
      return MakeSelect(Lt(i.back(), first), ByteAt(a, string(a, at), i.back()),
                        ByteAt(b, string(b, at), i.back() - first));
    })};
  };
  return def;
}

}  // namespace

absl::Status RegisterText(OpRegistry* registry) {
  return RegisterAllOf(registry, {ChangeCaseOp(), WordsEqual(), ConcatText()});
}

}  // namespace ingot::relay::ops
