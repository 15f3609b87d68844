// Floats that are rounded to bytes, u8(round(x / scale) + zero), and what is
// made of such a byte as a float again: how code generators find them, and what
// computes them without becoming an integer between.
//
// x is brought into the range whose ends become the first and the last byte
// before it is divided, so that whatever comes out is a small number, and
//
//   1.5 * 2^23 + x / scale
//
// has the quotient, rounded to even, in its last digits.
#ifndef INGOT_COMPILER_CODEGEN_QUANTIZATION_H_
#define INGOT_COMPILER_CODEGEN_QUANTIZATION_H_

#include <map>
#include <optional>
#include <utility>

#include "compiler/codegen/byte_reciprocal.h"
#include "compiler/tir/ir.h"

namespace ingot::codegen {

// The last digit of numbers around it is worth 1, and half of the next power of
// two lies below and above it.
inline constexpr double kWholeNumbers = 0x1.8p23;

// A conversion as quantisation has it.
struct Quantization {
  // Without limits of its own, such as those of a relu, which `least` and
  // `most` have instead. NaN is 0 as a signed byte, and `least` as another.
  tir::Expr x;
  float least, most;
  float scale;
  ByteReciprocal reciprocal;
  int zero;
  DataType to;

  // Whether `least` becomes another byte than the first.
  bool HasLimitBelow() const;
};

// f32(i32(a quantisation) - zero).
struct Dequantization {
  Quantization rounded;
  int zero;
};

class QuantizationFinder {
 public:
  // Nothing where `e` is something else, or no reciprocal does.
  std::optional<Quantization> Find(const tir::Cast& e);
  std::optional<Dequantization> FindDequantization(const tir::Cast& e);

 private:
  // By scale and the first byte less the zero.
  std::map<std::pair<float, int>, std::optional<ByteReciprocal>> reciprocals_;
};

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_QUANTIZATION_H_
