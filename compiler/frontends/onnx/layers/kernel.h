// The kernels of convolutions. Internal to the ONNX frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_LAYERS_KERNEL_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_LAYERS_KERNEL_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontends/onnx/graph/context.h"

namespace ingot::onnx_frontend {

// A convolution's operands. Dimensions that only one of them has as a number,
// or an attribute tells, are known of the others too.
struct ConvOperands {
  Value x, w;
  Value bias;                   // null: none
  std::vector<int64_t> kernel;  // the window's extents, 1 to 3
  int64_t groups = 1;
};

// Checks x, w and bias (which may be null) of a node with the attributes
// kernel_shape and group. A transposed convolution's kernel has the data's
// channels first, others' the result's. Unimplemented where nothing tells the
// window's extents.
absl::StatusOr<ConvOperands> ReadConvOperands(NodeContext& c, Value x, Value w,
                                              Value bias, bool transposed);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_LAYERS_KERNEL_H_
