#include "compiler/frontends/onnx/layers/kernel.h"

namespace ingot::onnx_frontend {
namespace {

// More than any model has; products of a few dimensions and it fit in 64 bits.
constexpr int64_t kMostGroups = int64_t{1} << 20;

// The window's extents as the kernel or kernel_shape tells them, which must
// agree.
absl::StatusOr<std::vector<int64_t>> WindowOf(NodeContext& c, const Value& w) {
  const int n = RankOf(w) - 2;
  const std::vector<int64_t> given = c.Ints("kernel_shape");
  if (n < 1 || n > 3 ||
      (!given.empty() && given.size() != static_cast<size_t>(n))) {
    return c.Error("the kernel ", relay::ToString(w.type()), " with ",
                   given.size(), " values of kernel_shape is not one of 1 to 3",
                   " spatial dimensions");
  }
  std::vector<int64_t> extents;
  for (int d = 0; d < n; ++d) {
    int64_t known;
    const bool is_known = tir::AsConstInt(ShapeOf(w)[2 + d], &known);
    if (!is_known && given.empty()) {
      return c.NotSupported(
          "the extents of the kernel ", relay::ToString(w.type()),
          " are not known; give the node a kernel_shape, or the model's inputs "
          "their shapes (--input-shape)");
    }
    extents.push_back(given.empty() ? known : given[d]);
    if ((is_known && extents.back() != known) || extents.back() < 1) {
      return c.Error("kernel_shape does not fit the kernel ",
                     relay::ToString(w.type()));
    }
  }
  return extents;
}

// `channels` as the number `other` tells them, which they are `groups` times
// or, where `divide`, a part of.
tir::Expr Channels(const tir::Expr& channels, const tir::Expr& other,
                   int64_t groups, bool divide) {
  int64_t own, known;
  if (tir::AsConstInt(channels, &own) || !tir::AsConstInt(other, &known) ||
      (divide && known % groups != 0)) {
    return channels;
  }
  return tir::MakeInt(divide ? known / groups : known * groups);
}

}  // namespace

absl::StatusOr<ConvOperands> ReadConvOperands(NodeContext& c, Value x, Value w,
                                              Value bias, bool transposed) {
  ConvOperands in;
  INGOT_ASSIGN_OR_RETURN(in.kernel, WindowOf(c, w));
  in.groups = c.Int("group", 1);
  if (in.groups < 1 || in.groups > kMostGroups) {
    return c.Error("group=", in.groups);
  }
  Shape data = ShapeOf(x), kernel = ShapeOf(w);
  if (data.size() != kernel.size()) {
    return c.Error("the operand ", relay::ToString(x.type()), " should have ",
                   kernel.size(), " dimensions, as the kernel has");
  }
  for (size_t d = 0; d < in.kernel.size(); ++d) {
    kernel[2 + d] = tir::MakeInt(in.kernel[d]);
  }
  if (transposed) {
    kernel[0] = Channels(kernel[0], data[1], 1, false);
    data[1] = Channels(data[1], kernel[0], 1, false);
  } else {
    kernel[1] = Channels(kernel[1], data[1], in.groups, true);
    data[1] = Channels(data[1], kernel[1], in.groups, false);
  }
  if (bias) {
    if (RankOf(bias) != 1) {
      return c.Error("the bias ", relay::ToString(bias.type()),
                     " should be a vector");
    }
    tir::Expr& out = kernel[transposed ? 1 : 0];
    out = Channels(out, ShapeOf(bias)[0], transposed ? in.groups : 1, true);
    const tir::Expr count = transposed ? SimplifyDim(out * in.groups) : out;
    INGOT_ASSIGN_OR_RETURN(in.bias, c.FixShape(bias, {count}, "bias"));
  }
  INGOT_ASSIGN_OR_RETURN(in.x, c.FixShape(x, data, "data"));
  INGOT_ASSIGN_OR_RETURN(in.w, c.FixShape(w, kernel, "kernel"));
  return in;
}

}  // namespace ingot::onnx_frontend
