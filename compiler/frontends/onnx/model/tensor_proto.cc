#include "compiler/frontends/onnx/model/tensor_proto.h"

#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "runtime/onnx_tensor/onnx_tensor.h"

namespace ingot::onnx_frontend {
namespace {

absl::Status Bad(const onnx::TensorProto& proto, absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("tensor '", proto.name(), "': ", what));
}

// The `bytes` bytes of a tensor whose elements are in another file in `dir`.
absl::StatusOr<Blob> ExternalData(const onnx::TensorProto& proto,
                                  absl::string_view dir, size_t bytes) {
  std::string location;
  int64_t offset = 0, length = -1;
  for (const auto& entry : proto.external_data()) {
    bool ok = true;
    if (entry.key() == "location") {
      location = entry.value();
    } else if (entry.key() == "offset") {
      ok = absl::SimpleAtoi(entry.value(), &offset) && offset >= 0;
    } else if (entry.key() == "length") {
      ok = absl::SimpleAtoi(entry.value(), &length) && length >= 0;
    }
    if (!ok) {
      return Bad(proto, absl::StrCat("external data with ", entry.key(), "='",
                                     entry.value(), "'"));
    }
  }
  if (length < 0) length = static_cast<int64_t>(bytes);
  absl::StatusOr<Blob> blob = ReadExternalData(dir, location, offset, length);
  if (!blob.ok()) {
    return absl::Status(
        blob.status().code(),
        absl::StrCat("tensor '", proto.name(), "': ", blob.status().message()));
  }
  if (blob->size() != bytes) {
    return Bad(proto, absl::StrCat("has ", blob->size(),
                                   " bytes of external data, not ", bytes));
  }
  return blob;
}

}  // namespace

absl::StatusOr<Tensor> TensorFromProto(onnx::TensorProto* proto,
                                       absl::string_view external_dir) {
  if (external_dir.empty()) return TensorFromOnnx(FieldsOf(proto));
  return TensorFromOnnx(FieldsOf(proto), [&](size_t bytes) {
    return ExternalData(*proto, external_dir, bytes);
  });
}

template <typename T>
absl::StatusOr<Tensor> MakeTensor(DataType dtype,
                                  absl::Span<const int64_t> shape,
                                  absl::Span<const T> values) {
  INGOT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Empty(dtype, shape));
  if (tensor.bytes() != values.size() * sizeof(T)) {
    return absl::InternalError("a tensor's values do not fit its shape");
  }
  if (!values.empty()) {
    std::memcpy(tensor.mutable_raw_data(), values.data(), tensor.bytes());
  }
  return tensor;
}

template absl::StatusOr<Tensor> MakeTensor(DataType, absl::Span<const int64_t>,
                                           absl::Span<const float>);
template absl::StatusOr<Tensor> MakeTensor(DataType, absl::Span<const int64_t>,
                                           absl::Span<const int64_t>);
template absl::StatusOr<Tensor> MakeTensor(DataType, absl::Span<const int64_t>,
                                           absl::Span<const uint8_t>);
template absl::StatusOr<Tensor> MakeTensor(DataType, absl::Span<const int64_t>,
                                           absl::Span<const uint16_t>);
template absl::StatusOr<Tensor> MakeTensor(DataType, absl::Span<const int64_t>,
                                           absl::Span<const double>);

}  // namespace ingot::onnx_frontend
