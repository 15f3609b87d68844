#include "backends/example_npu/loader.h"

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/strip.h"
#include "backends/example_npu/stream.h"
#include "loaders/function_loader.h"
#include "runtime/host_api.h"
#include "runtime/tensor.h"

namespace ingot {
namespace example_npu {
namespace {

// Element `i`; of a tensor with only one, that; 0 where there is none.
template <typename T>
T At(const Buffer& buffer, uint64_t i) {
  const uint64_t count = buffer.bytes / sizeof(T);
  if (count == 1) i = 0;
  return i < count ? static_cast<const T*>(buffer.data)[i] : 0;
}

// The same of 8-bit integers of either kind.
int32_t At(const Buffer& buffer, DataType type, uint64_t i) {
  return type.is_int() ? At<int8_t>(buffer, i) : At<uint8_t>(buffer, i);
}

// The pixel of the input under `kernel`, for that of the output. What a hostile
// stream has in it wraps around.
int64_t Pixel(const Axis& axis, uint64_t output, uint64_t kernel) {
  return output * axis.stride + kernel * axis.dilation - axis.pad;
}

// Word `k` of the part of the input that pixel `p` of the output is made of.
uint32_t PatchAt(const Command& c, const Operands& operands, int64_t p,
                 int64_t k) {
  const Axis &y = c.y, &x = c.x;
  const int64_t image = p / x.output / y.output;
  const int64_t channel = k / x.kernel / y.kernel;
  const int64_t row =
      Pixel(y, p / x.output % y.output, k / x.kernel % y.kernel);
  const int64_t column = Pixel(x, p % x.output, k % x.kernel);
  // Padding.
  if (row < 0 || row >= y.input || column < 0 || column >= x.input) return 0;
  const int64_t plane = image * c.channels + channel;
  return At(operands.input, c.input,
            (plane * y.input + row) * x.input + column) -
         At<uint32_t>(operands.input_zero, 0);
}

// Writes element `i` of the output, which is of channel `o`.
void Store(const Command& c, const Operands& operands, int64_t i, int64_t o,
           int32_t sum) {
  if (c.output.bits == 32) {
    static_cast<int32_t*>(operands.output.data)[i] = sum;
    return;
  }
  const float real = static_cast<float>(sum) * At<float>(operands.scale, o) /
                     At<float>(operands.step, 0);
  const float zero = At(operands.zero, c.output, 0);
  const float low = c.output.is_int() ? -128 : 0;
  const float value =
      std::fmin(std::fmax(std::nearbyint(real) + zero, low), low + 255);
  static_cast<uint8_t*>(operands.output.data)[i] = static_cast<int>(value);
}

// For each pixel of the output, its patch goes into the scratchpad, to be
// multiplied with the weights of one channel after the other.
void Run(const Command& c, const Operands& operands) {
  if (operands.output.bytes == 0) return;
  const int64_t area = c.y.output * c.x.output;
  const int64_t words = *CountElements({c.channels, c.y.kernel, c.x.kernel});
  std::vector<uint32_t> patch(words);
  for (int64_t p = 0; p < c.images * area; ++p) {
    for (int64_t k = 0; k < words; ++k) patch[k] = PatchAt(c, operands, p, k);
    for (int64_t o = 0; o < c.outputs; ++o) {
      uint32_t sum = At<uint32_t>(operands.bias, o);  // wraps around
      for (int64_t k = 0; k < words; ++k) {
        const int64_t i = c.transposed ? k * c.outputs + o : o * words + k;
        sum += patch[k] * At(operands.weights, c.weights, i);
      }
      Store(c, operands, (p / area * c.outputs + o) * area + p % area, o,
            static_cast<int32_t>(sum));
    }
  }
}

// Whether the device can run a command, on operands as large as it says.
bool Fits(const Command& c, const Operands& operands) {
  const auto has = [](const Buffer& b, DataType type,
                      std::vector<int64_t> dims) {
    const auto bytes = CountBytes(type, dims);
    return bytes.ok() && *bytes == b.bytes;
  };
  const auto words = CountElements({c.channels, c.y.kernel, c.x.kernel});
  return words.ok() && *words <= kScratchpadWords &&
         has(operands.input, c.input,
             {c.images, c.channels, c.y.input, c.x.input}) &&
         has(operands.weights, c.weights, {c.outputs, *words}) &&
         has(operands.output, c.output,
             {c.images, c.outputs, c.y.output, c.x.output});
}

// A stream, and what its launcher gets as `self`; the launcher, which is C,
// knows of the first member alone.
struct Device {
  int (*submit)(const void* device, int command, const Operands* operands);
  std::vector<Command> commands;
  Function launcher;
};

int Submit(const void* device, int command, const Operands* operands) {
  const auto& commands = static_cast<const Device*>(device)->commands;
  const size_t i = command;
  if (i < commands.size() && Fits(commands[i], *operands)) {
    Run(commands[i], *operands);
    return 0;
  }
  GetHostApi()->set_error("ValueError", "the stream is not the launcher's");
  return -1;
}

absl::StatusOr<LoadedFunction> Load(const Artifact& artifact,
                                    LoadContext& context) {
  const absl::string_view bytes = artifact.content.view();
  if (bytes.size() % sizeof(Command) != 0) return Malformed("half a command");
  auto device = std::make_shared<Device>();
  device->submit = Submit;
  device->commands.resize(bytes.size() / sizeof(Command));
  bytes.copy(reinterpret_cast<char*>(device->commands.data()), bytes.size());
  const std::string name(absl::StripSuffix(artifact.file_name, ".npu"));
  std::optional<Function> launcher;
  if (context.library != nullptr) {
    launcher = context.library->GetFunction(name + "_launch");
  }
  if (!launcher) return Malformed("the set's library has no launcher for it");
  device->launcher = *launcher;
  return LoadedFunction{name, Function(launcher->call(), device.get(), device)};
}

}  // namespace
}  // namespace example_npu

absl::Status RegisterExampleNpuLoader(LoaderRegistry* registry) {
  return RegisterFunctionLoader(example_npu::kName, example_npu::Load,
                                registry);
}

}  // namespace ingot
