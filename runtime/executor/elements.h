// Looking at tensors that steps read.
#ifndef INGOT_RUNTIME_EXECUTOR_ELEMENTS_H_
#define INGOT_RUNTIME_EXECUTOR_ELEMENTS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/types/span.h"
#include "runtime/c_abi.h"
#include "runtime/data_type.h"

namespace ingot {

inline absl::Span<const int64_t> ShapeOf(const DLTensor& tensor) {
  return absl::MakeConstSpan(tensor.shape, tensor.ndim);
}

inline const void* DataOf(const DLTensor& tensor) {
  return static_cast<const char*>(tensor.data) + tensor.byte_offset;
}

// The bytes of a tensor whose size was checked when it was bound.
inline size_t BytesOf(const DLTensor& tensor) {
  size_t bytes = tensor.dtype.bits / 8;
  for (int64_t dim : ShapeOf(tensor)) bytes *= static_cast<size_t>(dim);
  return bytes;
}

inline DataType TypeOf(const DLTensor& tensor) {
  DataType type;
  type.code = tensor.dtype.code;
  type.bits = tensor.dtype.bits;
  return type;
}

// The element of a bool tensor of one.
inline bool IsTrue(const DLTensor& condition) {
  return *static_cast<const uint8_t*>(DataOf(condition)) != 0;
}

// Element `i` of an i64 tensor.
inline int64_t ElementOf(const DLTensor& tensor, uint32_t i) {
  int64_t value;
  std::memcpy(&value, static_cast<const int64_t*>(DataOf(tensor)) + i,
              sizeof(value));
  return value;
}

}  // namespace ingot

#endif  // INGOT_RUNTIME_EXECUTOR_ELEMENTS_H_
