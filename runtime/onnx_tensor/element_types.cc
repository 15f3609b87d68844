#include "runtime/onnx_tensor/element_types.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace ingot {

absl::StatusOr<DataType> DataTypeFromOnnx(int onnx_type) {
  switch (onnx_type) {
    case 1:
      return DataType::Float(32);
    case 2:
      return DataType::UInt(8);
    case 3:
      return DataType::Int(8);
    case 4:
      return DataType::UInt(16);
    case 5:
      return DataType::Int(16);
    case 6:
      return DataType::Int(32);
    case 7:
      return DataType::Int(64);
    case 9:
      return DataType::Bool();
    case 10:
      return DataType::Float(16);
    case 11:
      return DataType::Float(64);
    case 12:
      return DataType::UInt(32);
    case 13:
      return DataType::UInt(64);
    case 14:
    case 15:
      return absl::UnimplementedError(
          "tensors of complex numbers are not supported");
    case 16:
      return DataType::BFloat16();
    default:
      break;
  }
  if (IsStorageType(onnx_type)) {
    return absl::UnimplementedError(absl::StrCat("elements of type ",
                                                 StorageTypeName(onnx_type),
                                                 " are not taken here"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("ONNX has no data type ", onnx_type));
}

bool IsStorageType(int t) {
  return t == kTextType || (t >= kFloat8E4M3FN && t <= kInt2);
}

int StorageBits(int onnx_type) {
  switch (onnx_type) {
    case kUInt4:
    case kInt4:
    case kFloat4E2M1:
      return 4;
    case kUInt2:
    case kInt2:
      return 2;
    default:
      return 8;
  }
}

DataType CarrierOf(int onnx_type) {
  const bool is_signed = onnx_type == kInt4 || onnx_type == kInt2;
  return is_signed ? DataType::Int(8) : DataType::UInt(8);
}

std::string StorageTypeName(int onnx_type) {
  switch (onnx_type) {
    case kTextType:
      return "string";
    case kFloat8E4M3FN:
      return "float8e4m3fn";
    case kFloat8E4M3FNUZ:
      return "float8e4m3fnuz";
    case kFloat8E5M2:
      return "float8e5m2";
    case kFloat8E5M2FNUZ:
      return "float8e5m2fnuz";
    case kUInt4:
      return "uint4";
    case kInt4:
      return "int4";
    case kFloat4E2M1:
      return "float4e2m1";
    case kFloat8E8M0:
      return "float8e8m0";
    case kUInt2:
      return "uint2";
    default:
      return "int2";
  }
}

}  // namespace ingot
