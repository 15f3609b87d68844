#include "compiler/relay/import/storage_type.h"

#include "absl/strings/str_cat.h"

namespace ingot::relay {

int BitsOf(StorageType t) {
  switch (t) {
    case StorageType::kFloat4E2M1:
    case StorageType::kUInt4:
    case StorageType::kInt4:
      return 4;
    case StorageType::kUInt2:
    case StorageType::kInt2:
      return 2;
    default:
      return 8;
  }
}

std::string ToString(StorageType t) {
  if (t == StorageType::kText) return "string";
  if (IsSmallFloat(t)) return absl::StrCat("float", BitsOf(t), FloatFormat(t));
  return absl::StrCat(IsSigned(t) ? "int" : "uint", BitsOf(t));
}

std::string FloatFormat(StorageType t) {
  switch (t) {
    case StorageType::kFloat8E4M3FN:
      return "e4m3fn";
    case StorageType::kFloat8E4M3FNUZ:
      return "e4m3fnuz";
    case StorageType::kFloat8E5M2:
      return "e5m2";
    case StorageType::kFloat8E5M2FNUZ:
      return "e5m2fnuz";
    case StorageType::kFloat8E8M0:
      return "e8m0";
    default:
      return "e2m1";
  }
}

ElementType ElementType::Of(StorageType t) {
  return {IsSigned(t) ? DataType::Int(8) : DataType::UInt(8), t};
}

}  // namespace ingot::relay
