// A stream is an array of commands. The code generator writes it, and the
// simulated device runs it.
#ifndef INGOT_BACKENDS_EXAMPLE_NPU_STREAM_H_
#define INGOT_BACKENDS_EXAMPLE_NPU_STREAM_H_

#include <cstdint>

#include "runtime/data_type.h"

namespace ingot::example_npu {

// The target, the codegen of its streams and their loader.
inline constexpr char kName[] = "example_npu";

// The part of the input under a kernel must fit into the scratchpad.
constexpr int64_t kScratchpadWords = 1 << 16;

// The steps of a kernel along one dimension of an image.
struct Axis {
  int64_t input, kernel, output, stride, dilation, pad;
};

// A convolution. A matrix product is one, too: each row is an image of a single
// pixel, whose channels are the columns.
struct Command {
  int64_t images, channels, outputs;
  Axis y, x;
  DataType input, weights, output;  // 8 bits wide; the output may be i32
  int32_t transposed;               // weights are [channels, outputs]
};

// A tensor in memory. One that is left out has no bytes.
struct Buffer {
  void* data;
  uint64_t bytes;
};

// The tensors that a command works on; an array to the launcher, which is C.
struct Operands {
  Buffer input, input_zero;  // [images, channels, y, x]; i32
  Buffer weights;            // [outputs, channels, y, x], without a zero point
  Buffer bias, scale;  // i32 and f32, one for each of the outputs or for all
  Buffer step, zero;   // of the output: f32; of its type
  Buffer output;       // [images, outputs, y, x], i32: sum + bias, otherwise
                       // round((sum + bias) * scale / step) + zero
};

}  // namespace ingot::example_npu

#endif  // INGOT_BACKENDS_EXAMPLE_NPU_STREAM_H_
