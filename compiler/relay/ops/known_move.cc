// Copies of known tensors.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "base/status_macros.h"
#include "compiler/relay/ops/known.h"
#include "compiler/relay/strided.h"

namespace ingot::relay::ops {
namespace {

using Ints = std::vector<int64_t>;

absl::StatusOr<Tensor> Gather(const Tensor& x, int64_t offset,
                              const Ints& strides,
                              absl::Span<const int64_t> shape) {
  INGOT_ASSIGN_OR_RETURN(Tensor y, Tensor::Empty(x.dtype(), shape));
  const size_t element = x.dtype().bytes();
  CopyStrided(static_cast<const char*>(x.raw_data()) + offset * element,
              strides, y.mutable_raw_data(), DenseStrides(shape), shape,
              element);
  return y;
}

}  // namespace

absl::StatusOr<Tensor> Zeros(DataType dtype, absl::Span<const int64_t> shape) {
  INGOT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Empty(dtype, shape));
  std::memset(tensor.mutable_raw_data(), 0, tensor.bytes());
  return tensor;
}

Ints BroadcastStrides(absl::Span<const int64_t> from,
                      absl::Span<const int64_t> to) {
  const Ints dense = DenseStrides(from);
  Ints strides(to.size(), 0);
  const size_t missing = to.size() - from.size();
  for (size_t d = 0; d < from.size(); ++d) {
    if (from[d] != 1) strides[missing + d] = dense[d];
  }
  return strides;
}

MaybeTensor CopyTransposed(const KnownCall& c) {
  const Ints dense = DenseStrides(c.operands[0].shape());
  Ints strides;
  for (int64_t axis : c.node.attrs.Get<Ints>("axes")) {
    strides.push_back(dense[axis]);
  }
  return Gather(c.operands[0], 0, strides, c.shape);
}

MaybeTensor CopySliced(const KnownCall& c) {
  const Attrs& attrs = c.node.attrs;
  const auto starts = ConstShape(attrs.Get<Shape>("starts"));
  if (!starts) return std::nullopt;
  const Ints& axes = attrs.Get<Ints>("axes");
  const Ints steps = attrs.GetEach("steps", axes.size());
  Ints strides = DenseStrides(c.operands[0].shape());
  int64_t offset = 0;
  for (size_t k = 0; k < axes.size(); ++k) {
    // An empty result may start outside; nothing is read then.
    if (c.shape[axes[k]] == 0) continue;
    offset += (*starts)[k] * strides[axes[k]];
    strides[axes[k]] *= steps[k];
  }
  return Gather(c.operands[0], offset, strides, c.shape);
}

MaybeTensor CopyConcatenated(const KnownCall& c) {
  int64_t axis = c.node.attrs.Get<int64_t>("axis");
  if (axis < 0) axis += static_cast<int64_t>(c.shape.size());
  INGOT_ASSIGN_OR_RETURN(Tensor y,
                         Tensor::Empty(c.operands[0].dtype(), c.shape));
  const size_t element = y.dtype().bytes();
  const Ints strides = DenseStrides(c.shape);
  auto* to = static_cast<char*>(y.mutable_raw_data());
  for (const Tensor& x : c.operands) {
    CopyStrided(x.raw_data(), DenseStrides(x.shape()), to, strides, x.shape(),
                element);
    to += x.shape()[axis] * strides[axis] * element;
  }
  return y;
}

MaybeTensor CopyExpanded(const KnownCall& c) {
  const Tensor& x = c.operands[0];
  return Gather(x, 0, BroadcastStrides(x.shape(), c.shape), c.shape);
}

MaybeTensor CopyPadded(const KnownCall& c) {
  const Attrs& attrs = c.node.attrs;
  const Tensor& x = c.operands[0];
  const Ints& pads = attrs.Get<Ints>("pads");
  const double value = attrs.Get<double>("value");
  if (attrs.Get<std::string>("mode") != "constant" || value != 0 ||
      std::signbit(value) ||
      std::any_of(pads.begin(), pads.end(), [](int64_t p) { return p < 0; })) {
    return std::nullopt;
  }
  INGOT_ASSIGN_OR_RETURN(Tensor y, Zeros(x.dtype(), c.shape));
  const Ints strides = DenseStrides(c.shape);
  int64_t offset = 0;
  for (size_t d = 0; d < c.shape.size(); ++d) offset += pads[d] * strides[d];
  CopyStrided(
      x.raw_data(), DenseStrides(x.shape()),
      static_cast<char*>(y.mutable_raw_data()) + offset * x.dtype().bytes(),
      strides, x.shape(), x.dtype().bytes());
  return y;
}

MaybeTensor CopyCast(const KnownCall& c) {
  if (c.operands[0].dtype() != c.node.outputs[0].dtype) return std::nullopt;
  return c.operands[0];
}

}  // namespace ingot::relay::ops
