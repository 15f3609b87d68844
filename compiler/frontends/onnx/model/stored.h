// ONNX's element types that Ingot emulates (relay/import/storage_type.h), by
// ONNX's numbers. Internal to the ONNX frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_MODEL_STORED_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_MODEL_STORED_H_

#include "absl/status/statusor.h"
#include "compiler/relay/import/storage_type.h"
#include "onnx/onnx.pb.h"
#include "runtime/data_type.h"
#include "runtime/tensor.h"

namespace ingot::onnx_frontend {

// TensorProto.DataType; those from 17 on are newer than some of ONNX's headers.
inline constexpr int kTextType = 8;
inline constexpr int kFloat8E4M3FN = 17;
inline constexpr int kFloat8E4M3FNUZ = 18;
inline constexpr int kFloat8E5M2 = 19;
inline constexpr int kFloat8E5M2FNUZ = 20;
inline constexpr int kUInt4 = 21;
inline constexpr int kInt4 = 22;

// kNone for types that are Ingot's own, and for numbers that name no type.
relay::StorageType StorageTypeFromOnnx(int onnx_type);
inline bool IsStoredType(int onnx_type) {
  return StorageTypeFromOnnx(onnx_type) != relay::StorageType::kNone;
}
// Unimplemented or InvalidArgument for a type that Ingot does not know.
absl::StatusOr<relay::ElementType> ElementTypeFromOnnx(int onnx_type);

// The tensor that stores a tensor whose type IsStoredType; its elements may be
// moved out. InvalidArgument for what does not fit its shape.
absl::StatusOr<Tensor> StoredTensor(onnx::TensorProto* proto);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_MODEL_STORED_H_
