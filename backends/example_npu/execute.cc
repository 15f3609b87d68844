#include "backends/example_npu/execute.h"

#include <cmath>
#include <cstring>
#include <vector>

namespace ingot::example_npu {
namespace {

// Element `i`; of a tensor with only one, that; 0 where there is none.
template <typename T>
T At(const Elements& elements, int64_t i) {
  T value = 0;
  if (elements.bytes == 0) return value;
  if (elements.bytes == sizeof(T)) i = 0;
  std::memcpy(&value, elements.data + i * sizeof(T), sizeof(T));
  return value;
}

// The same of 8-bit integers of either kind.
int32_t At(const Elements& elements, DataType type, int64_t i) {
  return type.is_int() ? At<int8_t>(elements, i) : At<uint8_t>(elements, i);
}

class Convolution {
 public:
  Convolution(const Command& command,
              const std::array<Elements, kNumOperands>& operands)
      : c_(command),
        operands_(operands),
        patch_(c_.channels * c_.y.kernel * c_.x.kernel) {}

  // For each pixel of the output, its patch goes into the scratchpad, to be
  // multiplied with the weights of one channel after the other.
  void Run() {
    const int64_t area = c_.y.output * c_.x.output;
    const int64_t words = static_cast<int64_t>(patch_.size());
    for (int64_t p = 0; p < c_.images * area; ++p) {
      for (int64_t k = 0; k < words; ++k) patch_[k] = PatchAt(p, k);
      for (int64_t o = 0; o < c_.outputs; ++o) {
        uint32_t sum = At<uint32_t>(operands_[kBias], o);  // wraps around
        for (int64_t k = 0; k < words; ++k) {
          const int64_t i = c_.transposed ? k * c_.outputs + o : o * words + k;
          sum += patch_[k] * At(operands_[kWeights], c_.weights, i);
        }
        Store((p / area * c_.outputs + o) * area + p % area, o,
              static_cast<int32_t>(sum));
      }
    }
  }

 private:
  // Word `k` of the part of the input that pixel `p` of the output is made of.
  uint32_t PatchAt(int64_t p, int64_t k) const {
    const Axis &y = c_.y, &x = c_.x;
    const int64_t image = p / x.output / y.output;
    const int64_t channel = k / x.kernel / y.kernel;
    const int64_t row =
        Pixel(y, p / x.output % y.output, k / x.kernel % y.kernel);
    const int64_t column = Pixel(x, p % x.output, k % x.kernel);
    // Padding.
    if (row < 0 || row >= y.input || column < 0 || column >= x.input) return 0;
    const int64_t plane = image * c_.channels + channel;
    return At(operands_[kInput], c_.input,
              (plane * y.input + row) * x.input + column) -
           At<uint32_t>(operands_[kInputZero], 0);
  }

  // The pixel of the input under `kernel`, for that of the output.
  static int64_t Pixel(const Axis& axis, int64_t output, int64_t kernel) {
    return output * axis.stride + kernel * axis.dilation - axis.pad;
  }

  // Writes element `i` of the output, which is of channel `o`.
  void Store(int64_t i, int64_t o, int32_t sum) {
    char* const output = operands_[kOutput].data;
    if (c_.output.bits == 32) {
      std::memcpy(output + i * sizeof(sum), &sum, sizeof(sum));
      return;
    }
    const float real = static_cast<float>(sum) *
                       At<float>(operands_[kScale], o) /
                       At<float>(operands_[kStep], 0);
    const float zero = At(operands_[kZero], c_.output, 0);
    const float low = c_.output.is_int() ? -128 : 0;
    const float value =
        std::fmin(std::fmax(std::nearbyint(real) + zero, low), low + 255);
    output[i] = static_cast<char>(static_cast<int>(value));
  }

  const Command& c_;
  const std::array<Elements, kNumOperands>& operands_;
  std::vector<uint32_t> patch_;
};

}  // namespace

void Execute(const Command& command,
             const std::array<Elements, kNumOperands>& operands) {
  if (operands[kOutput].bytes > 0) Convolution(command, operands).Run();
}

}  // namespace ingot::example_npu
