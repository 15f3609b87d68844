// The commands of the device example_npu, which the code generator writes and
// the simulator runs.
#ifndef INGOT_BACKENDS_EXAMPLE_NPU_STREAM_H_
#define INGOT_BACKENDS_EXAMPLE_NPU_STREAM_H_

#include <cstdint>

namespace ingot::example_npu {

// The device multiplies tiles of kTile x kTile. Its scratchpad holds one of the
// input, one of weights and one of sums.
constexpr int kTile = 16;

enum Opcode : int32_t {
  kClear,      // sums = 0
  kLoadInput,  // the tile = 0; rows first_row… of it from the input, less zero
  kLoadWeights,  // the tile `offset` of the weights
  kMultiply,     // sums += input * weights
  kStore,        // the output from the sums; column 0 is `channel`
};

// Element (r, c) of a tile is element offset + r * row_stride + c *
// column_stride of the tensor.
struct Command {
  Opcode opcode;
  int32_t offset;
  int32_t rows, columns;
  int32_t row_stride, column_stride;
  int32_t first_row;
  int32_t channel;
};
static_assert(sizeof(Command) == 32);

// The driver that a launcher is handed as `self`; C code has the same.
struct Driver {
  int (*submit)(const Driver* driver, void** tensors);
};

}  // namespace ingot::example_npu

#endif  // INGOT_BACKENDS_EXAMPLE_NPU_STREAM_H_
