#include "artifact/constants_symbol.h"

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "artifact/sha256.h"

namespace ingot {

absl::StatusOr<ConstantsSymbol> FindConstantsSymbol(
    absl::string_view prefix, absl::string_view safetensors) {
  constexpr size_t kLengthSize = sizeof(uint64_t);
  uint64_t length = 0;
  if (safetensors.size() >= kLengthSize) {
    for (size_t i = kLengthSize; i-- > 0;) {
      length = length << 8 | static_cast<unsigned char>(safetensors[i]);
    }
  }
  if (safetensors.size() < kLengthSize ||
      length > safetensors.size() - kLengthSize) {
    return absl::InvalidArgumentError("the weights are no safetensors file");
  }
  // The header names each tensor with its type, shape and offset.
  const std::string digest =
      Sha256Hex(safetensors.substr(0, kLengthSize + length));
  return ConstantsSymbol{
      absl::StrCat(prefix, "_constants_", digest.substr(0, 16)),
      kLengthSize + length};
}

}  // namespace ingot
