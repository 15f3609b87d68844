// For tests: kernels of each family that templates schedule.
#ifndef INGOT_COMPILER_SCHEDULES_CPU_TEST_KERNELS_H_
#define INGOT_COMPILER_SCHEDULES_CPU_TEST_KERNELS_H_

#include <cstdint>
#include <vector>

#include "compiler/te/te.h"
#include "compiler/te/testing/check.h"

namespace ingot::te::cpu {

inline constexpr DataType kF32 = DataType::Float(32);

struct MatmulSize {
  int64_t batch, m, n, k;
};

struct ConvSize {
  int64_t n, ic, oc, size, kernel, stride, pad, groups;
  int64_t dilation = 1;
  int64_t more_pad = 0;  // at the ends

  int64_t Reach() const { return (kernel - 1) * dilation + 1; }
  // The places of windows along an axis of `length` elements.
  Expr Places(const Expr& length) const {
    return (length + (2 * pad + more_pad - Reach())) / I(stride) + 1;
  }
};

// max(x, 0), as another stage.
Tensor Relu(Graph* g, const Tensor& x);
// x [n, c, h, w, ...] with `pad` zeros around each plane, and more at the ends.
Tensor Pad(Graph* g, const Tensor& x, int64_t pad, int64_t more = 0);

// relu(a * b + bias), b [k, n], or [n, k] where transposed.
Kernel Product(const MatmulSize& s, bool transposed);
// relu(a * w), w in panels of nr columns.
Kernel PackedProduct(const MatmulSize& s, int64_t nr);
// relu(conv + bias + residual) on blocks of b channels; batch and plane may be
// symbols.
Kernel BlockedConv(const ConvSize& s, int64_t b, Expr batch, Expr height,
                   Expr width);
// The same on planes of so many columns.
Kernel BlockedConv(const ConvSize& s, int64_t b, Expr batch, Expr height);
// relu(conv), 3x3, on plain data, to blocks of 8 channels or to plain data,
// whose channels may be in groups.
Kernel PlainDataConv(const ConvSize& s, bool blocked);
// A depthwise convolution with relu, or a maximum, on blocks of 8 channels.
Kernel BlockedWindow(const ConvSize& s, bool pool);
// The same on planes that may be symbols.
Kernel BlockedWindow(const ConvSize& s, bool pool, Expr height, Expr width);
// Along `axis` of three.
Kernel Softmax(const std::vector<Expr>& shape, int axis);

}  // namespace ingot::te::cpu

#endif  // INGOT_COMPILER_SCHEDULES_CPU_TEST_KERNELS_H_
