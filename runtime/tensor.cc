#include "runtime/tensor.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/alignment.h"
#include "base/status_macros.h"

namespace ingot {
namespace {

// More dimensions than any model has; a bound for what comes from elsewhere.
constexpr size_t kMaxRank = 64;

struct Size {
  int64_t elements = 0;
  size_t bytes = 0;
};

absl::StatusOr<Size> SizeOf(DataType dtype, absl::Span<const int64_t> shape) {
  INGOT_ASSIGN_OR_RETURN(const int64_t elements, CountElements(shape));
  int64_t bytes;
  if (__builtin_mul_overflow(elements, static_cast<int64_t>(dtype.bytes()),
                             &bytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat(ingot::TypeString(dtype, shape), " has too many bytes"));
  }
  return Size{elements, static_cast<size_t>(bytes)};
}

absl::StatusOr<Size> CheckType(DataType dtype,
                               absl::Span<const int64_t> shape) {
  if (dtype.code == DataType::kHandle || dtype.bits == 0 || dtype.lanes == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a tensor cannot have elements of type ", dtype.ToString()));
  }
  if (shape.size() > kMaxRank) {
    return absl::InvalidArgumentError(
        absl::StrCat("a tensor cannot have ", shape.size(), " dimensions"));
  }
  return SizeOf(dtype, shape);
}

absl::Status CheckAlignment(const void* data, DataType dtype) {
  const size_t size = dtype.element().bytes();
  if ((size & (size - 1)) != 0) return absl::OkStatus();
  if (reinterpret_cast<uintptr_t>(data) % size != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("data of type ", dtype.ToString(), " is not aligned to ",
                     size, " bytes"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int64_t> CountElements(absl::Span<const int64_t> shape) {
  int64_t count = 1;
  bool zero = false;
  bool overflow = false;
  for (int64_t dim : shape) {
    if (dim < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "shape [", absl::StrJoin(shape, ", "), "] has a negative dimension"));
    }
    if (dim == 0) {
      zero = true;
    } else if (!overflow) {
      overflow = __builtin_mul_overflow(count, dim, &count);
    }
  }
  if (zero) return 0;
  if (overflow) {
    return absl::InvalidArgumentError(absl::StrCat(
        "shape [", absl::StrJoin(shape, ", "), "] has too many elements"));
  }
  return count;
}

absl::StatusOr<size_t> CountBytes(DataType dtype,
                                  absl::Span<const int64_t> shape) {
  INGOT_ASSIGN_OR_RETURN(const Size size, SizeOf(dtype, shape));
  return size.bytes;
}

std::string TypeString(DataType dtype, absl::Span<const int64_t> shape) {
  return absl::StrCat(dtype.ToString(), "[", absl::StrJoin(shape, ", "), "]");
}

absl::StatusOr<Tensor> Tensor::Make(void* data, DataType dtype,
                                    absl::Span<const int64_t> shape,
                                    Device device, bool read_only,
                                    std::shared_ptr<const void> owner) {
  INGOT_ASSIGN_OR_RETURN(Size size, CheckType(dtype, shape));
  if (device.is_cpu()) {
    INGOT_RETURN_IF_ERROR(CheckAlignment(data, dtype));
    // So that an empty tensor has an address too.
    alignas(kAlignment) static char nothing[kAlignment];
    if (data == nullptr) {
      if (size.bytes != 0) {
        return absl::InvalidArgumentError(
            absl::StrCat(ingot::TypeString(dtype, shape), " has no data"));
      }
      data = nothing;
    }
  }
  Tensor tensor;
  tensor.rep_ = std::make_shared<Rep>();
  Rep& rep = *tensor.rep_;
  const size_t rank = shape.size();
  rep.dims = std::make_unique<int64_t[]>(2 * rank + 1);
  uint64_t stride = 1;  // wraps only where there are no elements
  for (size_t i = rank; i-- > 0;) {
    rep.dims[i] = shape[i];
    rep.dims[rank + i] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(shape[i] == 0 ? 1 : shape[i]);
  }
  rep.num_elements = size.elements;
  rep.bytes = size.bytes;
  rep.read_only = read_only;
  rep.owner = std::move(owner);
  rep.dl.data = data;
  rep.dl.device = device.dl();
  rep.dl.ndim = static_cast<int32_t>(rank);
  rep.dl.dtype = DLDataType{dtype.code, dtype.bits, dtype.lanes};
  rep.dl.shape = rep.dims.get();
  rep.dl.strides = rep.dims.get() + rank;
  rep.dl.byte_offset = 0;
  return tensor;
}

absl::StatusOr<Tensor> Tensor::Empty(DataType dtype,
                                     absl::Span<const int64_t> shape,
                                     Device device,
                                     std::shared_ptr<DeviceApi> api) {
  if (api == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a tensor on ", device.ToString(), " needs the device's api"));
  }
  if (!device.is_cpu() && api == CpuDeviceApi()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the CPU's api cannot allocate on ", device.ToString()));
  }
  INGOT_ASSIGN_OR_RETURN(Size size, CheckType(dtype, shape));
  INGOT_ASSIGN_OR_RETURN(void* memory,
                         api->Allocate(device, size.bytes, kAlignment));
  std::shared_ptr<const void> owner(static_cast<const void*>(memory),
                                    [api, device](const void* p) {
                                      api->Free(device, const_cast<void*>(p));
                                    });
  return Make(memory, dtype, shape, device, /*read_only=*/false,
              std::move(owner));
}

absl::StatusOr<Tensor> Tensor::FromBlob(Blob blob, DataType dtype,
                                        absl::Span<const int64_t> shape) {
  INGOT_ASSIGN_OR_RETURN(Size size, CheckType(dtype, shape));
  if (blob.size() != size.bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(ingot::TypeString(dtype, shape), " needs ", size.bytes,
                     " bytes, but there are ", blob.size()));
  }
  const void* data = blob.data();
  return Make(const_cast<void*>(data), dtype, shape, Device::Cpu(),
              /*read_only=*/true, blob.owner());
}

absl::StatusOr<Tensor> Tensor::FromBorrowed(void* data, DataType dtype,
                                            absl::Span<const int64_t> shape,
                                            std::shared_ptr<const void> owner,
                                            Device device) {
  return Make(data, dtype, shape, device, /*read_only=*/false,
              std::move(owner));
}

absl::StatusOr<Tensor> Tensor::FromBorrowedReadOnly(
    const void* data, DataType dtype, absl::Span<const int64_t> shape,
    std::shared_ptr<const void> owner) {
  return Make(const_cast<void*>(data), dtype, shape, Device::Cpu(),
              /*read_only=*/true, std::move(owner));
}

DataType Tensor::dtype() const {
  DataType type;
  type.code = rep_->dl.dtype.code;
  type.bits = rep_->dl.dtype.bits;
  type.lanes = rep_->dl.dtype.lanes;
  return type;
}

Device Tensor::device() const {
  return Device{rep_->dl.device.device_type, rep_->dl.device.device_id};
}

absl::StatusOr<Tensor> Tensor::Reshape(absl::Span<const int64_t> shape) const {
  INGOT_ASSIGN_OR_RETURN(int64_t count, CountElements(shape));
  if (count != NumElements()) {
    return absl::InvalidArgumentError(
        absl::StrCat(TypeString(), " cannot be reshaped to [",
                     absl::StrJoin(shape, ", "), "]"));
  }
  absl::StatusOr<Tensor> result =
      Make(rep_->dl.data, dtype(), shape, device(), rep_->read_only, rep_);
  if (result.ok()) result->rep_->dl.byte_offset = rep_->dl.byte_offset;
  return result;
}

absl::StatusOr<Tensor> Tensor::Clone() const {
  if (!device().is_cpu()) {
    return absl::UnimplementedError(
        absl::StrCat("a tensor on ", device().ToString(), " cannot be cloned"));
  }
  absl::StatusOr<Tensor> copy = Empty(dtype(), shape());
  if (copy.ok() && bytes() != 0) {
    std::memcpy(copy->mutable_raw_data(), raw_data(), bytes());
  }
  return copy;
}

std::string Tensor::TypeString() const {
  return ingot::TypeString(dtype(), shape());
}

}  // namespace ingot
