#ifndef INGOT_RUNTIME_DATA_TYPE_H_
#define INGOT_RUNTIME_DATA_TYPE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ingot {

// The type of one tensor element or one scalar expression, laid out like
// DLPack's DLDataType so that the two convert by copying three fields.
//
// `lanes` is 1 except inside compiler IR, where a value may be a short vector.
// A value type: copy it freely.
struct DataType {
  // DLPack's type codes.
  enum Code : uint8_t {
    kInt = 0,
    kUInt = 1,
    kFloat = 2,
    kHandle = 3,
    kBFloat = 4,
    kBool = 6,
  };

  uint8_t code = kFloat;
  uint8_t bits = 32;
  uint16_t lanes = 1;

  static constexpr DataType Int(int bits, int lanes = 1) {
    return Make(kInt, bits, lanes);
  }
  static constexpr DataType UInt(int bits, int lanes = 1) {
    return Make(kUInt, bits, lanes);
  }
  static constexpr DataType Float(int bits, int lanes = 1) {
    return Make(kFloat, bits, lanes);
  }
  static constexpr DataType BFloat16(int lanes = 1) {
    return Make(kBFloat, 16, lanes);
  }
  static constexpr DataType Bool(int lanes = 1) {
    return Make(kBool, 8, lanes);
  }
  static constexpr DataType Handle() { return Make(kHandle, 64, 1); }

  // Bytes that one element occupies in a tensor: all lanes, bits rounded up.
  constexpr size_t bytes() const {
    return (static_cast<size_t>(bits) * lanes + 7) / 8;
  }
  constexpr bool is_float() const { return code == kFloat || code == kBFloat; }
  constexpr bool is_int() const { return code == kInt; }
  constexpr bool is_uint() const { return code == kUInt; }
  constexpr bool is_integer() const { return is_int() || is_uint(); }
  constexpr bool is_bool() const { return code == kBool; }
  constexpr bool is_vector() const { return lanes > 1; }

  constexpr DataType with_lanes(int n) const { return Make(code, bits, n); }
  constexpr DataType element() const { return with_lanes(1); }

  // The short name used in all text forms: f64 f32 f16 bf16 i8..i64 u8..u64
  // bool handle; a vector adds "x" and its lanes: f32x8.
  std::string ToString() const;

  // Parses what ToString prints. InvalidArgument names the bad text.
  static absl::StatusOr<DataType> Parse(absl::string_view text);

  // Whether it is a type that Parse knows.
  bool HasName() const;

  friend constexpr bool operator==(DataType a, DataType b) {
    return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
  }
  friend constexpr bool operator!=(DataType a, DataType b) { return !(a == b); }

 private:
  static constexpr DataType Make(uint8_t code, int bits, int lanes) {
    DataType t;
    t.code = code;
    t.bits = static_cast<uint8_t>(bits);
    t.lanes = static_cast<uint16_t>(lanes);
    return t;
  }
};

}  // namespace ingot

#endif  // INGOT_RUNTIME_DATA_TYPE_H_
