#include "runtime/text_tensor.h"

#include <algorithm>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace ingot {

absl::StatusOr<Tensor> TextTensor(absl::Span<const absl::string_view> strings,
                                  std::vector<int64_t> shape) {
  INGOT_ASSIGN_OR_RETURN(const int64_t count, CountElements(shape));
  if (static_cast<int64_t>(strings.size()) != count) {
    return absl::InvalidArgumentError(absl::StrCat(
        "has ", strings.size(), " strings where its shape says ", count));
  }
  size_t width = 1;
  for (absl::string_view s : strings) {
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
  for (absl::string_view s : strings) {
    std::memset(out, 0, width);
    std::memcpy(out, s.data(), s.size());
    out += width;
  }
  return tensor;
}

}  // namespace ingot
