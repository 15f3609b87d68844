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
  if (IsStoredType(onnx_type)) {
    return absl::UnimplementedError(absl::StrCat(
        "elements of type ", StoredTypeName(onnx_type), " are not taken here"));
  }
  // float4 and others that came later.
  if (onnx_type > kInt4 && onnx_type <= 26) {
    return absl::UnimplementedError(
        absl::StrCat("ONNX's data type ", onnx_type, " is not supported"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("ONNX has no data type ", onnx_type));
}

bool IsStoredType(int t) {
  return t == kTextType || IsFloat8(t) || IsFourBits(t);
}

DataType CarrierOf(int onnx_type) {
  return onnx_type == kInt4 ? DataType::Int(8) : DataType::UInt(8);
}

std::string StoredTypeName(int onnx_type) {
  switch (onnx_type) {
    case kTextType:
      return "string";
    case kUInt4:
      return "uint4";
    case kInt4:
      return "int4";
    default:
      return absl::StrCat("float8", Float8Format(onnx_type));
  }
}

std::string Float8Format(int onnx_type) {
  switch (onnx_type) {
    case kFloat8E4M3FN:
      return "e4m3fn";
    case kFloat8E4M3FNUZ:
      return "e4m3fnuz";
    case kFloat8E5M2:
      return "e5m2";
    default:
      return "e5m2fnuz";
  }
}

}  // namespace ingot
