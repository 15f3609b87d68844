#include "tests/fuzz/onnx/elements.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/float16.h"

namespace ingot::fuzz {
namespace {

struct TypePair {
  DataType type;
  int onnx_type;
};

constexpr TypePair kTypes[] = {
    {DataType::Float(32), 1},  {DataType::UInt(8), 2},
    {DataType::Int(8), 3},     {DataType::UInt(16), 4},
    {DataType::Int(16), 5},    {DataType::Int(32), 6},
    {DataType::Int(64), 7},    {DataType::Bool(), 9},
    {DataType::Float(16), 10}, {DataType::Float(64), 11},
    {DataType::UInt(32), 12},  {DataType::UInt(64), 13},
    {DataType::BFloat16(), 16}};

// Calls `visit` with a null pointer of the type that holds an integer.
template <typename Visit>
void VisitInteger(DataType t, Visit visit) {
  const bool is_signed = t.is_int();
  switch (t.bits) {
    case 8:
      return is_signed ? visit(static_cast<int8_t*>(nullptr))
                       : visit(static_cast<uint8_t*>(nullptr));
    case 16:
      return is_signed ? visit(static_cast<int16_t*>(nullptr))
                       : visit(static_cast<uint16_t*>(nullptr));
    case 32:
      return is_signed ? visit(static_cast<int32_t*>(nullptr))
                       : visit(static_cast<uint32_t*>(nullptr));
    default:
      return is_signed ? visit(static_cast<int64_t*>(nullptr))
                       : visit(static_cast<uint64_t*>(nullptr));
  }
}

}  // namespace

int OnnxTypeOf(DataType t) {
  for (const TypePair& pair : kTypes) {
    if (pair.type == t) return pair.onnx_type;
  }
  return 0;
}

DataType TypeOfOnnx(int onnx_type) {
  for (const TypePair& pair : kTypes) {
    if (pair.onnx_type == onnx_type) return pair.type;
  }
  return DataType::Handle();
}

double ElementAt(const Tensor& tensor, int64_t i) {
  const DataType t = tensor.dtype();
  const void* data = tensor.raw_data();
  if (t == DataType::Float(32)) return static_cast<const float*>(data)[i];
  if (t == DataType::Float(64)) return static_cast<const double*>(data)[i];
  if (t == DataType::Float(16)) {
    return HalfToFloat(static_cast<const uint16_t*>(data)[i]);
  }
  if (t == DataType::BFloat16()) {
    return BFloat16ToFloat(static_cast<const uint16_t*>(data)[i]);
  }
  if (t.is_bool()) return static_cast<const uint8_t*>(data)[i] != 0;
  double value = 0;
  VisitInteger(t, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    value = static_cast<double>(static_cast<const T*>(data)[i]);
  });
  return value;
}

void SetElementAt(Tensor* tensor, int64_t i, double value) {
  const DataType t = tensor->dtype();
  void* data = tensor->mutable_raw_data();
  if (t == DataType::Float(32)) {
    static_cast<float*>(data)[i] = static_cast<float>(value);
  } else if (t == DataType::Float(64)) {
    static_cast<double*>(data)[i] = value;
  } else if (t == DataType::Float(16)) {
    static_cast<uint16_t*>(data)[i] = DoubleToHalf(value);
  } else if (t == DataType::BFloat16()) {
    static_cast<uint16_t*>(data)[i] = DoubleToBFloat16(value);
  } else if (t.is_bool()) {
    static_cast<uint8_t*>(data)[i] = value != 0;
  } else {
    VisitInteger(t, [&](auto* type) {
      using T = std::remove_pointer_t<decltype(type)>;
      // Through int64_t, since a negative number has no meaning as unsigned;
      // doubles have no largest int64_t, but one more.
      constexpr double kBeyond = 9223372036854775808.0;
      static_cast<T*>(data)[i] =
          value >= kBeyond ? static_cast<T>(std::numeric_limits<int64_t>::max())
                           : static_cast<T>(static_cast<int64_t>(value));
    });
  }
}

Tensor TensorOf(DataType t, const std::vector<int64_t>& shape,
                const std::vector<double>& elements) {
  Tensor tensor = *Tensor::Empty(t, shape);
  for (size_t i = 0; i < elements.size(); ++i) {
    SetElementAt(&tensor, static_cast<int64_t>(i), elements[i]);
  }
  return tensor;
}

double LargestMagnitude(const Tensor& tensor) {
  double largest = 0;
  for (int64_t i = 0; i < tensor.NumElements(); ++i) {
    const double magnitude = std::fabs(ElementAt(tensor, i));
    if (std::isfinite(magnitude)) largest = std::max(largest, magnitude);
  }
  return largest;
}

bool AllFinite(const Tensor& tensor) {
  if (!tensor.dtype().is_float()) return true;
  for (int64_t i = 0; i < tensor.NumElements(); ++i) {
    if (!std::isfinite(ElementAt(tensor, i))) return false;
  }
  return true;
}

bool AllWhole(const Tensor& tensor) {
  if (!tensor.dtype().is_float()) return true;
  for (int64_t i = 0; i < tensor.NumElements(); ++i) {
    const double value = ElementAt(tensor, i);
    if (!std::isfinite(value) || value != std::floor(value)) return false;
  }
  return true;
}

bool SameBytes(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::memcmp(a.raw_data(), b.raw_data(), a.bytes()) == 0;
}

std::vector<int64_t> IntegersOf(const Tensor& tensor) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < tensor.NumElements(); ++i) {
    values.push_back(static_cast<int64_t>(ElementAt(tensor, i)));
  }
  return values;
}

}  // namespace ingot::fuzz
