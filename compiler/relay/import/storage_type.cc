#include "compiler/relay/import/storage_type.h"

#include <algorithm>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "compiler/status_macros.h"

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

absl::StatusOr<Tensor> TextTensor(absl::Span<const std::string> strings,
                                  std::vector<int64_t> shape) {
  INGOT_ASSIGN_OR_RETURN(const int64_t count, CountElements(shape));
  if (static_cast<int64_t>(strings.size()) != count) {
    return absl::InvalidArgumentError(absl::StrCat(
        "has ", strings.size(), " strings where its shape says ", count));
  }
  size_t width = 1;
  for (const std::string& s : strings) {
    if (!s.empty() && s.back() == '\0') {
      return absl::InvalidArgumentError(
          "has a string that ends in a zero byte");
    }
    width = std::max(width, s.size());
  }
  shape.push_back(static_cast<int64_t>(width));
  INGOT_ASSIGN_OR_RETURN(Tensor tensor,
                         Tensor::Empty(DataType::UInt(8), shape));
  char* out = static_cast<char*>(tensor.mutable_raw_data());
  for (const std::string& s : strings) {
    std::memset(out, 0, width);
    std::memcpy(out, s.data(), s.size());
    out += width;
  }
  return tensor;
}

}  // namespace ingot::relay
