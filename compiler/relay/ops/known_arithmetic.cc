// Arithmetic on known tensors.
#include <cmath>

#include "base/status_macros.h"
#include "compiler/relay/ops/known.h"

namespace ingot::relay::ops {
namespace {

// y[i] = fn(a[i * a_stride], b[i * b_stride]) over the innermost dimension,
// for every point of the others.
template <typename T, typename F>
void Zip(const T* a, absl::Span<const int64_t> a_strides, const T* b,
         absl::Span<const int64_t> b_strides, absl::Span<const int64_t> dims,
         T** y, const F& fn) {
  if (dims.empty()) {
    *(*y)++ = fn(*a, *b);
    return;
  }
  if (dims.size() == 1) {
    for (int64_t i = 0; i < dims[0]; ++i) {
      *(*y)++ = fn(a[i * a_strides[0]], b[i * b_strides[0]]);
    }
    return;
  }
  for (int64_t i = 0; i < dims[0]; ++i) {
    Zip(a + i * a_strides[0], a_strides.subspan(1), b + i * b_strides[0],
        b_strides.subspan(1), dims.subspan(1), y, fn);
  }
}

template <typename T, typename F>
MaybeTensor ZipTensors(const KnownCall& c, const F& fn) {
  const Tensor &a = c.operands[0], &b = c.operands[1];
  INGOT_ASSIGN_OR_RETURN(Tensor y, Tensor::Empty(a.dtype(), c.shape));
  T* to = y.mutable_data<T>();
  if (y.NumElements() > 0) {
    Zip(a.data<T>(), BroadcastStrides(a.shape(), c.shape), b.data<T>(),
        BroadcastStrides(b.shape(), c.shape), c.shape, &to, fn);
  }
  return y;
}

// `fn` takes two floats, or two unsigned integers, which wrap.
template <typename F>
MaybeTensor Binary(const KnownCall& c, const F& fn) {
  const DataType t = c.operands[0].dtype();
  if (c.operands[1].dtype() != t) return std::nullopt;
  if (t == DataType::Float(32)) return ZipTensors<float>(c, fn);
  if (t != DataType::Int(64)) return std::nullopt;
  return ZipTensors<int64_t>(c, [&](int64_t a, int64_t b) {
    return static_cast<int64_t>(
        fn(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
  });
}

template <typename F>
MaybeTensor Unary(const KnownCall& c, const F& fn) {
  const Tensor& x = c.operands[0];
  if (x.dtype() != DataType::Float(32)) return std::nullopt;
  INGOT_ASSIGN_OR_RETURN(Tensor y, Tensor::Empty(x.dtype(), x.shape()));
  const float* from = x.data<float>();
  float* to = y.mutable_data<float>();
  for (int64_t i = 0; i < x.NumElements(); ++i) to[i] = fn(from[i]);
  return y;
}

}  // namespace

MaybeTensor AddKnown(const KnownCall& c) {
  return Binary(c, [](auto a, auto b) { return a + b; });
}

MaybeTensor SubtractKnown(const KnownCall& c) {
  return Binary(c, [](auto a, auto b) { return a - b; });
}

MaybeTensor MultiplyKnown(const KnownCall& c) {
  return Binary(c, [](auto a, auto b) { return a * b; });
}

MaybeTensor DivideKnown(const KnownCall& c) {
  if (c.operands[0].dtype() != DataType::Float(32)) return std::nullopt;
  if (c.operands[1].dtype() != DataType::Float(32)) return std::nullopt;
  return ZipTensors<float>(c, [](float a, float b) { return a / b; });
}

MaybeTensor NegateKnown(const KnownCall& c) {
  return Unary(c, [](float v) { return -v; });
}

MaybeTensor SquareRootKnown(const KnownCall& c) {
  return Unary(c, [](float v) { return std::sqrt(v); });
}

MaybeTensor InvertKnown(const KnownCall& c) {
  return Unary(c, [](float v) { return 1 / v; });
}

}  // namespace ingot::relay::ops
