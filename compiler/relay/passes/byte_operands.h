// Operands of products that are bytes with a zero point, perhaps a scale.
// Private to this folder.
#ifndef INGOT_COMPILER_RELAY_PASSES_BYTE_OPERANDS_H_
#define INGOT_COMPILER_RELAY_PASSES_BYTE_OPERANDS_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/relay/ir.h"
#include "compiler/relay/passes/rules.h"

namespace ingot::relay {

// Sums of more products of bytes, less their zero points, may not fit i32.
inline constexpr int64_t kMaxByteTerms = int64_t{1} << 15;

// Added to an i8, this makes it a u8.
inline constexpr int64_t kByteOffset = 128;

bool IsByte(DataType type);

// Data as quantised: (values - zero) * scale.
struct ByteData {
  Value values;                // u8 or i8
  std::optional<Value> zero;   // one element; of i32 or of values' type
  std::optional<Value> scale;  // one element of f32; none for integers
};

// Reads x, x as i32, or that less one number, of bytes x.
std::optional<ByteData> ReadByteIntegers(const Value& x);

// Reads the floats that bytes with one scale stand for.
std::optional<ByteData> ReadDequantizedBytes(const Value& x);

// Makes the values u8 or i8, and the zero point an i32 that fits: an element of
// no dimensions, 0 where there was none.
absl::Status GiveByteType(RuleContext& c, DataType type, ByteData* data);

// Lets i8 that are rounded here and only dequantised afterwards be u8: 128
// more, and so are their zero points. Products then need not add that to their
// data.
absl::StatusOr<bool> MakeBytesUnsigned(Function* function);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_PASSES_BYTE_OPERANDS_H_
