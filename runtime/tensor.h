#ifndef INGOT_RUNTIME_TENSOR_H_
#define INGOT_RUNTIME_TENSOR_H_

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "artifact/blob.h"
#include "runtime/c_abi.h"
#include "runtime/data_type.h"
#include "runtime/device.h"

namespace ingot {

// A dense, row-major array of elements of one type. A handle: copies share the
// elements, and the last copy frees them. A default-made Tensor is empty
// (defined() is false) and may only be assigned, copied and destroyed.
//
// Different threads may use different handles to one tensor; writing elements
// while another thread reads them is the caller's to avoid.
class Tensor {
 public:
  Tensor() = default;

  // A new tensor, elements undefined, data aligned to kAlignment bytes.
  // InvalidArgument for a negative dimension, a size that overflows or a type
  // without a size; ResourceExhausted for no memory. Memory of another device
  // than a CPU needs the device's api, which the tensor keeps alive.
  static absl::StatusOr<Tensor> Empty(
      DataType dtype, absl::Span<const int64_t> shape,
      Device device = Device::Cpu(),
      std::shared_ptr<DeviceApi> api = CpuDeviceApi());

  // Makes a read-only tensor on the bytes of `blob`, which it keeps; nothing is
  // copied. InvalidArgument unless the size is exactly right and the data is
  // aligned to the element.
  static absl::StatusOr<Tensor> FromBlob(Blob blob, DataType dtype,
                                         absl::Span<const int64_t> shape);

  // Makes a tensor on memory of the caller, which must be at least
  // NumElements() * dtype.bytes() and aligned to the element. `owner` is
  // dropped when the last handle goes; where it is null the caller keeps the
  // memory valid until then.
  static absl::StatusOr<Tensor> FromBorrowed(
      void* data, DataType dtype, absl::Span<const int64_t> shape,
      std::shared_ptr<const void> owner = nullptr,
      Device device = Device::Cpu());
  static absl::StatusOr<Tensor> FromBorrowedReadOnly(
      const void* data, DataType dtype, absl::Span<const int64_t> shape,
      std::shared_ptr<const void> owner = nullptr);

  // Takes a tensor from another library, without a copy. On success the deleter
  // is called when the last handle goes; on failure `*managed` still belongs to
  // the caller. InvalidArgument unless it is dense, row-major, aligned to its
  // element and of a type that Ingot knows.
  static absl::StatusOr<Tensor> FromDlpack(DLManagedTensor* managed);

  // A new reference to the same elements, for another library, which calls its
  // deleter. The tensor must be defined. DLPack cannot say "read-only".
  DLManagedTensor* ToDlpack() const;

  bool defined() const { return rep_ != nullptr; }
  DataType dtype() const;
  // Valid as long as any handle.
  absl::Span<const int64_t> shape() const {
    return absl::MakeConstSpan(rep_->dl.shape, rep_->dl.ndim);
  }
  Device device() const;
  int64_t NumElements() const { return rep_->num_elements; }
  // The size of all elements in bytes.
  size_t bytes() const { return rep_->bytes; }
  bool read_only() const { return rep_->read_only; }

  // The first element. Never null on a CPU, even without elements.
  const void* raw_data() const {
    return static_cast<const char*>(rep_->dl.data) + rep_->dl.byte_offset;
  }
  // Null if read_only().
  void* mutable_raw_data() {
    return read_only() ? nullptr : const_cast<void*>(raw_data());
  }
  // T must be as large as an element: uint16_t for f16 and bf16, bool or
  // uint8_t for bool.
  template <typename T>
  const T* data() const {
    assert(sizeof(T) == dtype().bytes());
    return static_cast<const T*>(raw_data());
  }
  template <typename T>
  T* mutable_data() {
    assert(sizeof(T) == dtype().bytes());
    return static_cast<T*>(mutable_raw_data());
  }
  // NumElements() elements.
  template <typename T>
  absl::Span<const T> values() const {
    return absl::MakeConstSpan(data<T>(), static_cast<size_t>(NumElements()));
  }

  // The same tensor as a C structure, to pass to a Function. The pointer is
  // the same for all copies of a handle and lives as long as any. strides is
  // never null. Not to be changed by the caller.
  DLTensor* dl() const { return &rep_->dl; }

  // The same elements with another shape of as many elements. Nothing is
  // copied.
  absl::StatusOr<Tensor> Reshape(absl::Span<const int64_t> shape) const;

  // A new, writable CPU tensor with the same elements. Only from a CPU.
  absl::StatusOr<Tensor> Clone() const;

  // "f32[1, 3, 224, 224]".
  std::string TypeString() const;

 private:
  struct Rep {
    DLTensor dl;
    std::unique_ptr<int64_t[]> dims;  // shape, then strides
    int64_t num_elements = 0;
    size_t bytes = 0;
    bool read_only = false;
    std::shared_ptr<const void> owner;
  };

  static absl::StatusOr<Tensor> Make(void* data, DataType dtype,
                                     absl::Span<const int64_t> shape,
                                     Device device, bool read_only,
                                     std::shared_ptr<const void> owner);

  std::shared_ptr<Rep> rep_;
};

// The product of `shape`. InvalidArgument for a negative dimension or overflow
// of int64; a zero anywhere makes it 0.
absl::StatusOr<int64_t> CountElements(absl::Span<const int64_t> shape);

// The bytes of a tensor: elements times dtype.bytes(), checked in the same way.
absl::StatusOr<size_t> CountBytes(DataType dtype,
                                  absl::Span<const int64_t> shape);

// "f32[1, 3]".
std::string TypeString(DataType dtype, absl::Span<const int64_t> shape);

}  // namespace ingot

#endif  // INGOT_RUNTIME_TENSOR_H_
