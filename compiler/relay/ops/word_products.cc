// Convolutions of bytes that tiles multiply, in words of four.
#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/packed_convolution.h"
#include "compiler/relay/word_kernels.h"
#include "compiler/te/tags.h"

namespace ingot::relay::ops {
namespace {

using Kernels = WordKernels;

absl::StatusOr<PackedConvolution> ReadConvolution(const TensorType& x,
                                                  const TensorType& w,
                                                  const Attrs& attrs) {
  if (x.dtype != DataType::UInt(8)) return Invalid("x must be of u8");
  if (w.dtype != DataType::Int(32)) return Invalid("w must be of i32");
  INGOT_RETURN_IF_ERROR(ExpectRank(w, 4, "w"));
  INGOT_ASSIGN_OR_RETURN(const PackedConvolution conv,
                         ReadPackedConvolution(x, attrs, Kernels::kRow));
  const auto packed = ConstShape(w.shape);
  if (!packed ||
      *packed != std::vector<int64_t>{(*packed)[0], conv.steps(),
                                      Kernels::kWords, Kernels::kColumns}) {
    return Invalid("w ", ToString(w), " does not fit x ", ToString(x));
  }
  return conv;
}

OpDef Conv2dWords() {
  OpDef def;
  def.name = "conv2d_words";
  def.doc =
      "convolution of x NCHW16c, or in other blocks that divide 64, of u8, by "
      "kernels of i8 in words of four, w[ceil(oc / 16), steps, 16, 16] of i32: "
      "the steps are, for 64 input channels after the other, the taps in order";
  def.min_inputs = def.max_inputs = 2;
  def.fusion = FusionKind::kAnchor;
  def.traits = kOperandsInMemory | kConvolvesPacked;
  def.attrs = PackedConvolutionAttrs();
  def.attrs.push_back(IntAttr("pad_value", "of the elements around x", 0));
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    const TensorType &x = c.type(0), &w = c.type(1);
    INGOT_ASSIGN_OR_RETURN(const PackedConvolution conv,
                           ReadConvolution(x, w, c.attrs));
    INGOT_ASSIGN_OR_RETURN(
        TensorType out,
        ResultOfPackedConvolution(conv, x, w.shape[0], DataType::Int(32)));
    return Types{std::move(out)};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor &x = c.inputs[0], &w = c.inputs[1];
    INGOT_ASSIGN_OR_RETURN(const PackedConvolution conv,
                           ReadConvolution({x.dtype(), x.shape()},
                                           {w.dtype(), w.shape()}, c.attrs));
    const Expr outside =
        MakeConst(x.dtype(), c.attrs.Get<int64_t>("pad_value"));
    Shape shape = conv.PixelShape(c);
    shape.insert(shape.end(), {I64(1), I64(Kernels::kRow)});
    const te::Tensor rows = c.graph.Compute(
        SubName(c, "rows"), shape,
        [&](const Indices& i) { return conv.ElementAt(c, i, i[5], outside); },
        {{te::kParts, "1"}});
    return Tensors{c.graph.Reduce(
        c.name, c.outputs[0].shape,
        {I64(conv.rows), I64(conv.window.kernel[0]), I64(conv.window.kernel[1]),
         I64(Kernels::kWords)},
        te::Reducer::Sum(DataType::Int(32)),
        [&](const Indices& i, const Indices& r) {
          Indices at = conv.RowOf(i, r);
          at.insert(at.end(), {I64(0), r[3] * kBytesOfWord});
          return Dot(rows, at, w({i[1], conv.StepOf(r), r[3], i[4]}));
        },
        {{te::kAnchor, te::kConv2dParts}})};
  };
  return def;
}

}  // namespace

absl::Status RegisterWordProducts(OpRegistry* registry) {
  return RegisterAllOf(registry, {Conv2dWords()});
}

}  // namespace ingot::relay::ops
