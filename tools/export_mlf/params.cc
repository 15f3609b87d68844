#include "tools/export_mlf/params.h"

#include <cstdint>

#include "absl/strings/string_view.h"

namespace ingot {
namespace {

constexpr uint64_t kListMagic = 0xF7E58D4F05049CB7;
constexpr uint64_t kArrayMagic = 0xDD5E40F096B4A13F;

// Appends numbers as they lie in memory: the format is little-endian.
template <typename T>
void Append(T value, std::string* out) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

void AppendArray(const Tensor& tensor, std::string* out) {
  Append(kArrayMagic, out);
  Append(uint64_t{0}, out);
  Append(int32_t{kDLCPU}, out);
  Append(int32_t{0}, out);
  Append(static_cast<int32_t>(tensor.shape().size()), out);
  Append(tensor.dtype().code, out);
  Append(tensor.dtype().bits, out);
  Append(tensor.dtype().lanes, out);
  for (const int64_t dim : tensor.shape()) Append(dim, out);
  Append(static_cast<int64_t>(tensor.bytes()), out);
  out->append(static_cast<const char*>(tensor.raw_data()), tensor.bytes());
}

}  // namespace

std::string ParamsFile(const NamedTensors& tensors) {
  std::string out;
  Append(kListMagic, &out);
  Append(uint64_t{0}, &out);
  Append(static_cast<uint64_t>(tensors.size()), &out);
  for (const auto& [name, tensor] : tensors) {
    Append(static_cast<uint64_t>(name.size()), &out);
    out += name;
  }
  Append(static_cast<uint64_t>(tensors.size()), &out);
  for (const auto& [name, tensor] : tensors) AppendArray(tensor, &out);
  return out;
}

}  // namespace ingot
