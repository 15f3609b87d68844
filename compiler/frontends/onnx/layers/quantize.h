// Integer products and scales. Internal to the ONNX frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_LAYERS_QUANTIZE_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_LAYERS_QUANTIZE_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/frontends/onnx/graph/compose.h"

namespace ingot::onnx_frontend {

// A vector of per-channel parameters shaped to run along `axis` of rank
// dimensions; one of a single element becomes a scalar.
absl::StatusOr<Value> ParamAlongAxis(NodeContext& c, Value v, int axis,
                                     int rank);

// The product of integer matrices in i32, less their zero points, which are the
// operands of these numbers, if there: a's run along rows, b's along columns.
absl::StatusOr<Value> IntegerMatmul(NodeContext& c, Value a, Value b,
                                    int a_zero, int b_zero);

// The same in floats, times the scales of a, along rows, and of b, along
// columns. Null on an error, which k keeps.
Value ScaledProduct(Compose& k, Value y, Value a_scale, Value b_scale);

// A float tensor as u8, with the scale and zero point that fit its range.
struct DynamicallyQuantized {
  Value values, scale, zero_point;
};
absl::StatusOr<DynamicallyQuantized> QuantizeDynamically(NodeContext& c,
                                                         Value x);

// x with the channels, which come last, after the batch; and the reverse.
Value ChannelsSecond(Compose& k, Value x);
Value ChannelsLast(Compose& k, Value x);

// QuantizeLinear and DequantizeLinear, which other domains have too.
absl::Status ConvertQuantize(NodeContext& c);
absl::Status ConvertDequantize(NodeContext& c);
// QLinearConv; with the attribute channels_last, com.microsoft's.
absl::Status ConvertQLinearConv(NodeContext& c);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_LAYERS_QUANTIZE_H_
