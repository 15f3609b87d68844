// Tables of weights.
#include <string>
#include <vector>

#include "runtime/safetensors.h"
#include "runtime/tensor.h"
#include "tests/fuzz/readers/target.h"

namespace ingot::fuzz {
namespace {

std::string File(const std::string& header, size_t data) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) {
    bytes += static_cast<char>(header.size() >> (8 * i));
  }
  return bytes + header + std::string(data, '\1');
}

}  // namespace

std::vector<std::string> Seeds() {
  return {
      File("{}", 0),
      File(R"({"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}})", 24),
      File(R"({"__metadata__":{"k":"v"},)"
           R"("a":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
           R"("b":{"dtype":"BOOL","shape":[0,7],"data_offsets":[8,8]},)"
           R"("c":{"dtype":"BF16","shape":[5],"data_offsets":[8,18]}})",
           18),
  };
}

absl::StatusOr<bool> TryInput(absl::string_view bytes) {
  const absl::StatusOr<NamedTensors> tensors =
      ReadSafetensors(Blob::FromString(std::string(bytes)));
  if (!tensors.ok()) return false;
  // Every byte of every tensor is there to be read.
  unsigned sum = 0;
  for (const auto& [name, tensor] : *tensors) {
    const auto* data = static_cast<const unsigned char*>(tensor.raw_data());
    for (size_t i = 0; i < tensor.bytes(); ++i) sum += data[i];
  }
  volatile unsigned used = sum;
  static_cast<void>(used);
  return true;
}

}  // namespace ingot::fuzz
