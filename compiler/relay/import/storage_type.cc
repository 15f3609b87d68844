#include "compiler/relay/import/storage_type.h"

#include "absl/strings/str_cat.h"

namespace ingot::relay {

std::string ToString(StorageType t) {
  switch (t) {
    case StorageType::kText:
      return "string";
    case StorageType::kUInt4:
      return "uint4";
    case StorageType::kInt4:
      return "int4";
    default:
      return absl::StrCat("float8", Float8Format(t));
  }
}

std::string Float8Format(StorageType t) {
  switch (t) {
    case StorageType::kFloat8E4M3FN:
      return "e4m3fn";
    case StorageType::kFloat8E4M3FNUZ:
      return "e4m3fnuz";
    case StorageType::kFloat8E5M2:
      return "e5m2";
    default:
      return "e5m2fnuz";
  }
}

ElementType ElementType::Of(StorageType t) {
  return {t == StorageType::kInt4 ? DataType::Int(8) : DataType::UInt(8), t};
}

}  // namespace ingot::relay
