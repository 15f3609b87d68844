#include "loaders/inspectors/tensor_values.h"

#include <cstdint>

#include "runtime/data_type.h"
#include "runtime/float16.h"

namespace ingot {
namespace {

template <typename T>
void Each(const Tensor& tensor, absl::FunctionRef<void(double)> see) {
  for (const T value : tensor.values<T>()) see(static_cast<double>(value));
}

}  // namespace

void ForEachValue(const Tensor& tensor, absl::FunctionRef<void(double)> see) {
  const DataType t = tensor.dtype();
  if (t == DataType::Float(64)) return Each<double>(tensor, see);
  if (t == DataType::Float(32)) return Each<float>(tensor, see);
  if (t == DataType::Float(16)) {
    return Each<uint16_t>(tensor, [see](double bits) {
      see(HalfToFloat(static_cast<uint16_t>(bits)));
    });
  }
  if (t == DataType::BFloat16()) {
    return Each<uint16_t>(tensor, [see](double bits) {
      see(BFloat16ToFloat(static_cast<uint16_t>(bits)));
    });
  }
  if (t == DataType::Int(64)) return Each<int64_t>(tensor, see);
  if (t == DataType::Int(32)) return Each<int32_t>(tensor, see);
  if (t == DataType::Int(16)) return Each<int16_t>(tensor, see);
  if (t == DataType::Int(8)) return Each<int8_t>(tensor, see);
  if (t == DataType::UInt(64)) return Each<uint64_t>(tensor, see);
  if (t == DataType::UInt(32)) return Each<uint32_t>(tensor, see);
  if (t == DataType::UInt(16)) return Each<uint16_t>(tensor, see);
  Each<uint8_t>(tensor, see);
}

}  // namespace ingot
