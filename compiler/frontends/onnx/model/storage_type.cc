#include "compiler/frontends/onnx/model/storage_type.h"

#include "base/status_macros.h"

namespace ingot::onnx_frontend {

using relay::StorageType;

StorageType StorageTypeFromOnnx(int onnx_type) {
  switch (onnx_type) {
    case kTextType:
      return StorageType::kText;
    case kFloat8E4M3FN:
      return StorageType::kFloat8E4M3FN;
    case kFloat8E4M3FNUZ:
      return StorageType::kFloat8E4M3FNUZ;
    case kFloat8E5M2:
      return StorageType::kFloat8E5M2;
    case kFloat8E5M2FNUZ:
      return StorageType::kFloat8E5M2FNUZ;
    case kUInt4:
      return StorageType::kUInt4;
    case kInt4:
      return StorageType::kInt4;
    case kFloat4E2M1:
      return StorageType::kFloat4E2M1;
    case kFloat8E8M0:
      return StorageType::kFloat8E8M0;
    case kUInt2:
      return StorageType::kUInt2;
    case kInt2:
      return StorageType::kInt2;
    default:
      return StorageType::kNone;
  }
}

absl::StatusOr<relay::ElementType> ElementTypeFromOnnx(int onnx_type) {
  const StorageType storage = StorageTypeFromOnnx(onnx_type);
  if (storage != StorageType::kNone) return relay::ElementType::Of(storage);
  INGOT_ASSIGN_OR_RETURN(DataType dtype, DataTypeFromOnnx(onnx_type));
  return relay::ElementType{dtype};
}

}  // namespace ingot::onnx_frontend
