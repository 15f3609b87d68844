// ONNX's element types, TensorProto.DataType, as Ingot's.
//
// Ingot has no type for some of them, and carries them in another: text (rows
// of UTF-8 bytes with zeros after, one dimension more), floats of 8 bits
// (their bytes) and integers of 4 bits (one to a byte).
#ifndef INGOT_RUNTIME_ONNX_TENSOR_ELEMENT_TYPES_H_
#define INGOT_RUNTIME_ONNX_TENSOR_ELEMENT_TYPES_H_

#include <string>

#include "absl/status/statusor.h"
#include "runtime/data_type.h"

namespace ingot {

// Types that Ingot carries in another; from 17 on they are newer than some of
// ONNX's headers.
inline constexpr int kTextType = 8;
inline constexpr int kFloat8E4M3FN = 17;
inline constexpr int kFloat8E4M3FNUZ = 18;
inline constexpr int kFloat8E5M2 = 19;
inline constexpr int kFloat8E5M2FNUZ = 20;
inline constexpr int kUInt4 = 21;
inline constexpr int kInt4 = 22;

// Ingot's type. Unimplemented, naming it, for types that Ingot has not or
// carries in others; InvalidArgument for a value that ONNX has not.
absl::StatusOr<DataType> DataTypeFromOnnx(int onnx_type);

// Whether another type carries elements of this one.
bool IsStoredType(int onnx_type);
inline bool IsFloat8(int t) {
  return t >= kFloat8E4M3FN && t <= kFloat8E5M2FNUZ;
}
inline bool IsFourBits(int t) { return t == kUInt4 || t == kInt4; }
// The type that carries it.
DataType CarrierOf(int onnx_type);
// As ONNX writes it, in small letters.
std::string StoredTypeName(int onnx_type);
// The name of a format of floats of 8 bits, such as "e4m3fn".
std::string Float8Format(int onnx_type);

}  // namespace ingot

#endif  // INGOT_RUNTIME_ONNX_TENSOR_ELEMENT_TYPES_H_
