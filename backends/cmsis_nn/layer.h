// Private to this folder: what one call of CMSIS-NN is to compute.
#ifndef INGOT_BACKENDS_CMSIS_NN_LAYER_H_
#define INGOT_BACKENDS_CMSIS_NN_LAYER_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/codegen/region.h"
#include "compiler/relay/ir.h"

namespace ingot::cmsis_nn {

enum class Function {
  kConvolve,
  kDepthwise,
  kFullyConnected,
  kAveragePool,
  kMaxPool,
  kSoftmax,
  kAdd,
};

// Images [batch, h, w, c], and what moves over them. Rows of a matrix are
// images of one pixel for fully connected layers, and pixels of one row where a
// convolution stands for such a layer.
struct Window {
  int64_t batch = 1;
  int64_t in_h = 1, in_w = 1, in_c = 1;
  int64_t out_h = 1, out_w = 1, out_c = 1;
  int64_t kernel_h = 1, kernel_w = 1;
  int64_t stride_h = 1, stride_w = 1;
  int64_t pad_h = 0, pad_w = 0;  // at the top and on the left
  int64_t dilation_h = 1, dilation_w = 1;
};

// (q - zero) * scale. The library's bytes are signed: those of a u8 tensor are
// less by 128, and so is its zero point here.
struct Quantization {
  double scale = 1;
  int32_t zero = 0;
};

struct Layer {
  Function function;
  // One operand, or two of kAdd: bytes, in the region.
  std::vector<relay::Value> inputs;
  std::vector<Quantization> input_quantizations;  // parallel to them
  Quantization output_quantization;
  // Whether the operand's elements are read in the model's order, not with
  // channels last: it is reshaped before it is multiplied.
  bool reads_flat = false;
  Window window;
  // Limits of the result's bytes.
  int32_t minimum = -128, maximum = 127;

  // Products have bytes [out_c, kernel_h, kernel_w, in_c], of depthwise
  // convolutions [kernel_h, kernel_w, out_c]; for each output channel the bias,
  // and by what its sums are multiplied.
  std::vector<int8_t> weights;
  std::vector<int32_t> bias;
  std::vector<double> factors;
};

// Whether a value's elements are in the same order with channels last.
bool IsSameOrder(const std::vector<int64_t>& dims);

// Reads the operators of a composite, or a single one. Unimplemented or
// InvalidArgument say why CMSIS-NN does not compute that.
absl::StatusOr<Layer> ReadLayer(const codegen::RegionCall& call);

}  // namespace ingot::cmsis_nn

#endif  // INGOT_BACKENDS_CMSIS_NN_LAYER_H_
