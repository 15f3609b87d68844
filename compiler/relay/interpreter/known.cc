#include "compiler/relay/interpreter/known.h"

#include <cmath>
#include <utility>

#include "absl/status/status.h"
#include "base/status_macros.h"
#include "compiler/tir/arith/simplify.h"
#include "runtime/float16.h"

namespace ingot::relay {
namespace {

template <typename T>
void AppendIntegers(const Tensor& tensor, std::vector<KnownNumber>* out) {
  for (T v : tensor.values<T>()) {
    out->push_back(KnownNumber::Of(static_cast<int64_t>(v)));
  }
}

template <typename T>
void StoreAll(const Known& known, Tensor* tensor) {
  T* out = tensor->mutable_data<T>();
  for (size_t i = 0; i < known.values.size(); ++i) {
    int64_t v = 0;
    if (known.values[i].AsInt(&v)) {
      out[i] = static_cast<T>(v);
    } else {
      out[i] = static_cast<T>(known.values[i].fraction);
    }
  }
}

}  // namespace

KnownNumber KnownNumber::Of(double value) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (std::nearbyint(value) == value && std::fabs(value) < kExact &&
      !(value == 0 && std::signbit(value))) {
    return Of(static_cast<int64_t>(value));
  }
  return {nullptr, value};
}

bool KnownNumber::AsDouble(double* value) const {
  if (integer == nullptr) {
    *value = fraction;
    return true;
  }
  int64_t v;
  if (!tir::AsConstInt(integer, &v)) return false;
  *value = static_cast<double>(v);
  return true;
}

bool KnownNumber::FitsDouble() const {
  constexpr int64_t kMost = int64_t{1} << 53;
  int64_t v;
  return integer == nullptr || (AsInt(&v) && v >= -kMost && v <= kMost);
}

bool Known::AllConstant() const {
  for (const KnownNumber& v : values) {
    double ignored;
    if (!v.AsDouble(&ignored)) return false;
  }
  return true;
}

bool Known::AllIntegers() const {
  for (const KnownNumber& v : values) {
    if (v.integer == nullptr) return false;
  }
  return true;
}

std::vector<tir::Expr> Known::Integers() const {
  std::vector<tir::Expr> result;
  result.reserve(values.size());
  for (const KnownNumber& v : values) result.push_back(v.integer);
  return result;
}

std::optional<Known> KnownFromTensor(const Tensor& tensor) {
  if (tensor.NumElements() > kMostKnownElements) return std::nullopt;
  Known known;
  known.dtype = tensor.dtype();
  known.shape.assign(tensor.shape().begin(), tensor.shape().end());
  const DataType t = tensor.dtype();
  std::vector<KnownNumber>* out = &known.values;
  if (t == DataType::Int(64)) {
    AppendIntegers<int64_t>(tensor, out);
  } else if (t == DataType::Int(32)) {
    AppendIntegers<int32_t>(tensor, out);
  } else if (t == DataType::Int(16)) {
    AppendIntegers<int16_t>(tensor, out);
  } else if (t == DataType::Int(8)) {
    AppendIntegers<int8_t>(tensor, out);
  } else if (t == DataType::UInt(32)) {
    AppendIntegers<uint32_t>(tensor, out);
  } else if (t == DataType::UInt(16)) {
    AppendIntegers<uint16_t>(tensor, out);
  } else if (t == DataType::UInt(8)) {
    AppendIntegers<uint8_t>(tensor, out);
  } else if (t.is_bool()) {
    AppendIntegers<bool>(tensor, out);
  } else if (t == DataType::Float(32)) {
    for (float v : tensor.values<float>())
      out->push_back(KnownNumber::Of(double{v}));
  } else if (t == DataType::Float(64)) {
    for (double v : tensor.values<double>()) out->push_back(KnownNumber::Of(v));
  } else if (t == DataType::Float(16)) {
    for (uint16_t v : tensor.values<uint16_t>()) {
      out->push_back(KnownNumber::Of(double{HalfToFloat(v)}));
    }
  } else {
    return std::nullopt;
  }
  return known;
}

absl::StatusOr<Tensor> TensorFromKnown(const Known& known) {
  INGOT_ASSIGN_OR_RETURN(Tensor tensor,
                         Tensor::Empty(known.dtype, known.shape));
  if (!known.AllConstant() ||
      tensor.NumElements() != static_cast<int64_t>(known.values.size())) {
    return absl::InternalError("known elements do not make a constant");
  }
  const DataType t = known.dtype;
  if (t == DataType::Int(64)) {
    StoreAll<int64_t>(known, &tensor);
  } else if (t == DataType::Int(32)) {
    StoreAll<int32_t>(known, &tensor);
  } else if (t == DataType::Int(16)) {
    StoreAll<int16_t>(known, &tensor);
  } else if (t == DataType::Int(8)) {
    StoreAll<int8_t>(known, &tensor);
  } else if (t == DataType::UInt(32)) {
    StoreAll<uint32_t>(known, &tensor);
  } else if (t == DataType::UInt(16)) {
    StoreAll<uint16_t>(known, &tensor);
  } else if (t == DataType::UInt(8)) {
    StoreAll<uint8_t>(known, &tensor);
  } else if (t == DataType::UInt(64)) {
    StoreAll<uint64_t>(known, &tensor);
  } else if (t.is_bool()) {
    StoreAll<bool>(known, &tensor);
  } else if (t == DataType::Float(32)) {
    StoreAll<float>(known, &tensor);
  } else if (t == DataType::Float(64)) {
    StoreAll<double>(known, &tensor);
  } else if (t.is_float() && t.bits == 16) {
    uint16_t* out = tensor.mutable_data<uint16_t>();
    for (size_t i = 0; i < known.values.size(); ++i) {
      double v = 0;
      known.values[i].AsDouble(&v);
      out[i] =
          t.code == DataType::kBFloat ? DoubleToBFloat16(v) : DoubleToHalf(v);
    }
  } else {
    return absl::InternalError("known elements of a type that has none");
  }
  return tensor;
}

}  // namespace ingot::relay
