// ONNX's element types, TensorProto.DataType, as Ingot's.
//
// Ingot has no type for some of them, the storage types, and carries them in
// another: text (rows of UTF-8 bytes with zeros after, one dimension more),
// floats of 8 and 4 bits (their codes, one to a byte) and integers of 4 and 2
// bits (one to a byte).
#ifndef INGOT_RUNTIME_ONNX_TENSOR_ELEMENT_TYPES_H_
#define INGOT_RUNTIME_ONNX_TENSOR_ELEMENT_TYPES_H_

#include <string>

#include "absl/status/statusor.h"
#include "runtime/data_type.h"

namespace ingot {

// Storage types; from 17 on they are newer than some of
// ONNX's headers.
inline constexpr int kTextType = 8;
inline constexpr int kFloat8E4M3FN = 17;
inline constexpr int kFloat8E4M3FNUZ = 18;
inline constexpr int kFloat8E5M2 = 19;
inline constexpr int kFloat8E5M2FNUZ = 20;
inline constexpr int kUInt4 = 21;
inline constexpr int kInt4 = 22;
inline constexpr int kFloat4E2M1 = 23;
inline constexpr int kFloat8E8M0 = 24;
inline constexpr int kUInt2 = 25;
inline constexpr int kInt2 = 26;

// Ingot's type. Unimplemented, naming it, for types that Ingot has not or
// carries in others; InvalidArgument for a value that ONNX has not.
absl::StatusOr<DataType> DataTypeFromOnnx(int onnx_type);

// Whether it is a storage type: another type carries its elements.
bool IsStorageType(int onnx_type);
// The bits of an element of one but text; ONNX packs several to a byte.
int StorageBits(int onnx_type);
// The type that carries it.
DataType CarrierOf(int onnx_type);
// As ONNX writes it, in small letters.
std::string StorageTypeName(int onnx_type);

}  // namespace ingot

#endif  // INGOT_RUNTIME_ONNX_TENSOR_ELEMENT_TYPES_H_
