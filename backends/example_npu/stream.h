// A command stream: what the device does for one region of a model. The code
// generator writes it, read_stream.h reads it, and execute.h runs its commands.
#ifndef INGOT_BACKENDS_EXAMPLE_NPU_STREAM_H_
#define INGOT_BACKENDS_EXAMPLE_NPU_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/data_type.h"

namespace ingot::example_npu {

// The target, the codegen of its streams, their loader and the kind of device.
inline constexpr char kName[] = "example_npu";

// The part of the input under a kernel must fit into the scratchpad.
constexpr int64_t kScratchpadWords = 1 << 16;

// Tensors lie at multiples of so many bytes.
constexpr uint64_t kTensorAlignment = 16;

// The steps of a kernel along one dimension of an image.
struct Axis {
  int64_t input, kernel, output, stride, dilation, pad;
};

enum class Place : uint32_t {
  kNone,      // of an operand that is left out
  kArgument,  // of the call: inputs, then outputs
  kTemporary,
  kConstant,  // in the stream itself
};

struct Operand {
  Place place;
  uint32_t argument;  // which one
  uint64_t offset, bytes;
};

enum OperandIndex {
  kInput,      // [images, channels, y, x]
  kInputZero,  // i32
  kWeights,    // [outputs, channels, y, x], without a zero point
  kBias,       // i32, one for each of the outputs or for all
  kScale,      // f32, the same
  kStep,       // of the output, f32
  kZero,       // of the output, of its type
  kOutput,     // [images, outputs, y, x], i32: sum + bias, otherwise
               // round((sum + bias) * scale / step) + zero
  kNumOperands,
};
inline constexpr const char* kOperandNames[] = {"input",
                                                "zero point of the input",
                                                "weights",
                                                "bias",
                                                "scale",
                                                "step of the output",
                                                "zero point of the output",
                                                "output"};

// A convolution. A matrix product is one, too: each row is an image of a single
// pixel, whose channels are the columns.
struct Command {
  int64_t images, channels, outputs;
  Axis y, x;
  DataType input, weights, output;  // 8 bits wide; the output may be i32
  int32_t transposed;               // weights are [channels, outputs]
  Operand operands[kNumOperands];
};

struct Stream {
  std::vector<uint64_t> arguments;  // the size of each in bytes
  uint64_t inputs = 0;              // so many of the first are only read
  uint64_t temporary_bytes = 0;     // memory for what lies between commands
  std::string constants;
  std::vector<Command> commands;
};

// The bytes of an artifact: this, the sizes of the arguments, the commands and
// the constants, as a processor with the lowest byte first has them in memory.
struct StreamHeader {
  char magic[8];
  uint64_t arguments, inputs, temporary_bytes, commands, constant_bytes;
};
inline constexpr char kMagic[] = "npu-cmd2";

std::string WriteStream(const Stream& stream);

// An argument of a call, as the launcher, which is C, hands it over: an address
// in the device's memory.
struct Buffer {
  void* address;
  uint64_t bytes;
};

}  // namespace ingot::example_npu

#endif  // INGOT_BACKENDS_EXAMPLE_NPU_STREAM_H_
