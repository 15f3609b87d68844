#include "compiler/relay/parse_constant.h"

#include <cstring>
#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "runtime/float16.h"

namespace ingot::relay {
namespace {

// Bounds the constants that fill and random make: a short text should not be
// able to ask for gigabytes.
constexpr int64_t kMaxMadeBytes = int64_t{1} << 30;

absl::Status NotAValue(absl::string_view item, DataType dtype) {
  return absl::InvalidArgumentError(
      absl::StrCat("'", item, "' is not a value of ", dtype.ToString()));
}

template <typename T>
void Put(T value, void* to) {
  std::memcpy(to, &value, sizeof(value));
}

absl::Status PutFloat(double value, DataType dtype, void* to) {
  if (dtype.code == DataType::kBFloat) {
    Put(DoubleToBFloat16(value), to);
  } else if (dtype.bits == 64) {
    Put(value, to);
  } else if (dtype.bits == 32) {
    Put(static_cast<float>(value), to);
  } else if (dtype.bits == 16) {
    Put(DoubleToHalf(value), to);
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat("no constants of ", dtype.ToString()));
  }
  return absl::OkStatus();
}

// Writes one element. Integers must lie in the type's range.
absl::Status PutItem(absl::string_view item, DataType dtype, void* to) {
  if (dtype.is_bool()) {
    if (item != "true" && item != "false") return NotAValue(item, dtype);
    Put(static_cast<uint8_t>(item == "true"), to);
    return absl::OkStatus();
  }
  if (dtype.is_float()) {
    // SimpleAtof rounds once; going through a double could round twice.
    if (float value; dtype.bits == 32 && dtype.code == DataType::kFloat) {
      if (!absl::SimpleAtof(item, &value)) return NotAValue(item, dtype);
      Put(value, to);
      return absl::OkStatus();
    }
    double value;
    if (!absl::SimpleAtod(item, &value)) return NotAValue(item, dtype);
    return PutFloat(value, dtype, to);
  }
  if (dtype.is_uint()) {
    uint64_t value;
    if (!absl::SimpleAtoi(item, &value) ||
        (dtype.bits < 64 && value >> dtype.bits != 0)) {
      return NotAValue(item, dtype);
    }
    std::memcpy(to, &value, dtype.bytes());  // little-endian
    return absl::OkStatus();
  }
  int64_t value;
  const int64_t limit =
      std::numeric_limits<int64_t>::max() >> (64 - dtype.bits);
  if (!absl::SimpleAtoi(item, &value) || value > limit || value < -limit - 1) {
    return NotAValue(item, dtype);
  }
  std::memcpy(to, &value, dtype.bytes());
  return absl::OkStatus();
}

absl::Status CheckSize(DataType dtype, absl::Span<const int64_t> shape) {
  INGOT_ASSIGN_OR_RETURN(size_t bytes, CountBytes(dtype, shape));
  if (bytes > static_cast<size_t>(kMaxMadeBytes)) {
    return absl::InvalidArgumentError("the constant would be too large");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Tensor> ConstantFromItems(DataType dtype,
                                         absl::Span<const int64_t> shape,
                                         absl::Span<const std::string> items) {
  INGOT_ASSIGN_OR_RETURN(int64_t count, CountElements(shape));
  if (count != static_cast<int64_t>(items.size())) {
    return absl::InvalidArgumentError(absl::StrCat("the constant has ", count,
                                                   " elements, but ",
                                                   items.size(), " are here"));
  }
  INGOT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Empty(dtype, shape));
  auto* to = static_cast<char*>(tensor.mutable_raw_data());
  for (const std::string& item : items) {
    INGOT_RETURN_IF_ERROR(PutItem(item, dtype, to));
    to += dtype.bytes();
  }
  return tensor;
}

absl::StatusOr<Tensor> FilledConstant(DataType dtype,
                                      absl::Span<const int64_t> shape,
                                      absl::string_view item) {
  INGOT_RETURN_IF_ERROR(CheckSize(dtype, shape));
  INGOT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Empty(dtype, shape));
  char value[8] = {};
  INGOT_RETURN_IF_ERROR(PutItem(item, dtype, value));
  auto* to = static_cast<char*>(tensor.mutable_raw_data());
  for (int64_t i = 0; i < tensor.NumElements(); ++i, to += dtype.bytes()) {
    std::memcpy(to, value, dtype.bytes());
  }
  return tensor;
}

absl::StatusOr<Tensor> RandomConstant(DataType dtype,
                                      absl::Span<const int64_t> shape,
                                      absl::string_view seed) {
  INGOT_RETURN_IF_ERROR(CheckSize(dtype, shape));
  uint64_t state;
  if (!absl::SimpleAtoi(seed, &state)) {
    return NotAValue(seed, DataType::UInt(64));
  }
  INGOT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Empty(dtype, shape));
  auto* to = static_cast<char*>(tensor.mutable_raw_data());
  for (int64_t i = 0; i < tensor.NumElements(); ++i, to += dtype.bytes()) {
    // SplitMix64.
    uint64_t z = (state += 0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    z ^= z >> 31;
    if (dtype.is_float()) {
      const double unit = static_cast<double>(z >> 40) / (1 << 24);
      INGOT_RETURN_IF_ERROR(PutFloat(2 * unit - 1, dtype, to));
    } else {
      const uint64_t value = dtype.is_bool() ? z >> 63 : z >> 61;
      std::memcpy(to, &value, dtype.bytes());
    }
  }
  return tensor;
}

}  // namespace ingot::relay
