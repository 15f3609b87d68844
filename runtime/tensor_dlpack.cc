#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/status_macros.h"
#include "runtime/tensor.h"

namespace ingot {
namespace {

// Whether the strides, where there are any, are those of a dense row-major
// array. A dimension of 1 is never stepped along, so its stride is free.
bool IsDense(const DLTensor& dl) {
  if (dl.strides == nullptr) return true;
  int64_t expected = 1;
  for (int i = dl.ndim; i-- > 0;) {
    if (dl.shape[i] != 1 && dl.strides[i] != expected) return false;
    if (__builtin_mul_overflow(expected, dl.shape[i], &expected)) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<Tensor> Tensor::FromDlpack(DLManagedTensor* managed) {
  if (managed == nullptr) {
    return absl::InvalidArgumentError("the DLPack tensor is null");
  }
  const DLTensor& dl = managed->dl_tensor;
  if (dl.ndim < 0 || (dl.ndim > 0 && dl.shape == nullptr)) {
    return absl::InvalidArgumentError("the DLPack tensor has no shape");
  }
  DataType dtype;
  dtype.code = dl.dtype.code;
  dtype.bits = dl.dtype.bits;
  dtype.lanes = dl.dtype.lanes;
  absl::StatusOr<DataType> known = DataType::Parse(dtype.ToString());
  if (!known.ok() || *known != dtype) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a DLPack tensor of type ", dtype.ToString(), " is not supported"));
  }
  const auto shape = absl::MakeConstSpan(dl.shape, dl.ndim);
  INGOT_ASSIGN_OR_RETURN(int64_t count, CountElements(shape));
  if (count != 0 && !IsDense(dl)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the DLPack tensor ", ingot::TypeString(dtype, shape),
                     " is not dense and row-major"));
  }
  const Device device{dl.device.device_type, dl.device.device_id};
  // Memory of a device may be an opaque handle; only a CPU's can be moved
  // along.
  char* data = static_cast<char*>(dl.data);
  if (device.is_cpu() && data != nullptr) data += dl.byte_offset;
  INGOT_ASSIGN_OR_RETURN(Tensor tensor, Make(data, dtype, shape, device,
                                             /*read_only=*/false, nullptr));
  if (!device.is_cpu()) tensor.rep_->dl.byte_offset = dl.byte_offset;
  tensor.rep_->owner =
      std::shared_ptr<const void>(managed, [managed](const void*) {
        if (managed->deleter != nullptr) managed->deleter(managed);
      });
  return tensor;
}

DLManagedTensor* Tensor::ToDlpack() const {
  struct Holder {
    DLManagedTensor managed;
    Tensor tensor;
  };
  auto* holder = new Holder();
  holder->tensor = *this;
  holder->managed.dl_tensor = *dl();
  holder->managed.manager_ctx = holder;
  holder->managed.deleter = [](DLManagedTensor* self) {
    delete static_cast<Holder*>(self->manager_ctx);
  };
  return &holder->managed;
}

}  // namespace ingot
