#include "compiler/relay/ops/packed_convolution.h"

#include "base/status_macros.h"
#include "compiler/relay/dim.h"

namespace ingot::relay::ops {
namespace {

constexpr int64_t kMaxKernel = 1 << 10;

}  // namespace

Shape PackedConvolution::PixelShape(const ComputeContext& c) const {
  const Shape& in = c.inputs[0].shape();
  Shape shape = {in[0], I64(rows)};
  for (int d = 0; d < 2; ++d) {
    shape.push_back(is_pointwise()
                        ? c.outputs[0].shape[2 + d]
                        : SimplifyDim(in[2 + d] + I64(window.pads_begin[d]) +
                                      I64(window.pads_end[d])));
  }
  return shape;
}

Expr PackedConvolution::ElementAt(const ComputeContext& c, const Indices& i,
                                  const Expr& lane, const Expr& outside) const {
  const te::Tensor& x = c.inputs[0];
  const Shape& in = x.shape();
  Indices at = {i[0], i[1] * (row / block) + lane / I64(block)};
  std::vector<Expr> inside;
  for (int d = 0; d < 2; ++d) {
    const int64_t stride = is_pointwise() ? window.strides[d] : 1;
    const int64_t pad = window.pads_begin[d];
    at.push_back(i[2 + d] * stride - pad);
    if (pad > 0) inside.push_back(Ge(i[2 + d] * stride, I64(pad)));
    if (pad > 0 || window.pads_end[d] > 0) {
      inside.push_back(Lt(i[2 + d] * stride, in[2 + d] + I64(pad)));
    }
  }
  if (channels % block == 0) {
    inside.push_back(tir::Lt(at[1], in[1]));
  } else {
    inside.push_back(Lt(i[1] * row + lane, I64(channels)));
  }
  at.push_back(lane % I64(block));
  return tir::MakeSelect(All(inside), x(at), outside);
}

Indices PackedConvolution::RowOf(const Indices& i, const Indices& r) const {
  Indices at = {i[0], r[0]};
  for (int d = 0; d < 2; ++d) {
    const int64_t stride = is_pointwise() ? 1 : window.strides[d];
    at.push_back(i[2 + d] * stride + r[1 + d] * window.dilations[d]);
  }
  return at;
}

Expr PackedConvolution::StepOf(const Indices& r) const {
  return (r[0] * window.kernel[0] + r[1]) * window.kernel[1] + r[2];
}

std::vector<AttrSpec> PackedConvolutionAttrs() {
  return {
      IntsAttr("kernel", "its height and width", kRequired), StridesAttr(),
      PadsAttr(), DilationsAttr(),
      IntAttr("channels",
              "of x, without those that fill up its last block; 0: all", 0)};
}

absl::StatusOr<PackedConvolution> ReadPackedConvolution(const TensorType& x,
                                                        const Attrs& attrs,
                                                        int64_t row) {
  PackedConvolution conv;
  conv.row = row;
  INGOT_RETURN_IF_ERROR(ExpectRank(x, 5, "x"));
  if (!ConstDim(x.shape[4], &conv.block) || conv.block < 1 ||
      row % conv.block != 0) {
    return Invalid("x ", ToString(x), " must be in blocks that divide ", row);
  }
  const std::vector<int64_t> kernel = attrs.GetEach("kernel", 2);
  if (kernel.size() != 2 || kernel[0] < 1 || kernel[1] < 1 ||
      kernel[0] > kMaxKernel || kernel[1] > kMaxKernel) {
    return Invalid("kernel must be two numbers from 1 to ", kMaxKernel);
  }
  INGOT_ASSIGN_OR_RETURN(conv.window, ReadWindow(attrs, kernel));
  int64_t blocks = 0;
  if (!ConstDim(x.shape[1], &blocks)) return Invalid("channels must be static");
  const int64_t channels = attrs.Get<int64_t>("channels");
  conv.channels = channels == 0 ? blocks * conv.block : channels;
  if (conv.channels <= (blocks - 1) * conv.block ||
      conv.channels > blocks * conv.block) {
    return Invalid("x ", ToString(x), " does not hold channels=", channels);
  }
  conv.rows = (blocks * conv.block + row - 1) / row;
  return conv;
}

absl::StatusOr<TensorType> ResultOfPackedConvolution(
    const PackedConvolution& conv, const TensorType& x, const Dim& blocks,
    DataType dtype) {
  TensorType out{dtype, {x.shape[0], blocks}};
  for (int d = 0; d < 2; ++d) {
    INGOT_ASSIGN_OR_RETURN(Dim dim,
                           WindowCount(conv.window, d, x.shape[2 + d]));
    out.shape.push_back(dim);
  }
  out.shape.push_back(I64(PackedConvolution::kColumns));
  return out;
}

}  // namespace ingot::relay::ops
