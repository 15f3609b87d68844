#include "runtime/onnx_tensor/onnx_tensor.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "runtime/data_type.h"
#include "runtime/onnx_tensor/element_types.h"
#include "runtime/text_tensor.h"

#ifndef ABSL_IS_LITTLE_ENDIAN
#error "raw_data is little-endian"
#endif

namespace ingot {
namespace {

absl::Status Bad(const OnnxTensorFields& fields, absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("tensor '", fields.name, "': ", what));
}

// Copies a typed field of the message, element by element where its type is
// wider than the tensor's (int32_data holds int8, float16 bits and so on).
template <typename T, typename Element>
absl::StatusOr<Tensor> FromField(const OnnxTensorFields& fields, DataType dtype,
                                 size_t count,
                                 absl::Span<const Element> field) {
  if (field.size() != count) {
    return Bad(fields, absl::StrCat("has ", field.size(),
                                    " elements where its shape says ", count));
  }
  INGOT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Empty(dtype, fields.shape));
  T* out = tensor.mutable_data<T>();
  for (size_t i = 0; i < count; ++i) out[i] = static_cast<T>(field[i]);
  return tensor;
}

absl::StatusOr<Tensor> FromTypedFields(const OnnxTensorFields& fields,
                                       DataType dtype, size_t count) {
  if (dtype == DataType::Float(32)) {
    return FromField<float>(fields, dtype, count, fields.floats);
  }
  if (dtype == DataType::Float(64)) {
    return FromField<double>(fields, dtype, count, fields.doubles);
  }
  if (dtype == DataType::Int(64)) {
    return FromField<int64_t>(fields, dtype, count, fields.longs);
  }
  if (dtype == DataType::UInt(64)) {
    return FromField<uint64_t>(fields, dtype, count, fields.unsigned_longs);
  }
  if (dtype == DataType::UInt(32)) {
    return FromField<uint32_t>(fields, dtype, count, fields.unsigned_longs);
  }
  if (dtype == DataType::Bool()) {
    return FromField<bool>(fields, dtype, count, fields.ints);
  }
  // Floats of 16 bits come as their bits.
  switch (dtype.bytes()) {
    case 1:
      return FromField<uint8_t>(fields, dtype, count, fields.ints);
    case 2:
      return FromField<uint16_t>(fields, dtype, count, fields.ints);
    default:
      return FromField<int32_t>(fields, dtype, count, fields.ints);
  }
}

absl::StatusOr<Tensor> FromBlob(Blob blob, DataType dtype,
                                absl::Span<const int64_t> shape) {
  if (reinterpret_cast<uintptr_t>(blob.data()) % dtype.bytes() != 0) {
    blob = Blob::CopyAligned(blob.view());
  }
  return Tensor::FromBlob(std::move(blob), dtype, shape);
}

// raw_data, without a copy where its memory is aligned enough.
absl::StatusOr<Tensor> FromRaw(const OnnxTensorFields& fields, DataType dtype,
                               size_t bytes) {
  std::string& raw = *fields.raw_data;
  if (raw.size() != bytes) {
    return Bad(fields,
               absl::StrCat("has ", raw.size(),
                            " bytes of data where its shape says ", bytes));
  }
  if (dtype.is_bool()) {
    // Any other byte than 0 and 1 would be undefined behaviour in a bool.
    for (char& c : raw) c = c != 0 ? 1 : 0;
  }
  return FromBlob(Blob::FromString(std::move(raw)), dtype, fields.shape);
}

absl::StatusOr<Tensor> FromText(const OnnxTensorFields& fields) {
  std::vector<absl::string_view> strings;
  for (const std::string* s : fields.strings) strings.push_back(*s);
  absl::StatusOr<Tensor> text = TextTensor(strings, fields.shape);
  return text.ok() ? std::move(text) : Bad(fields, text.status().message());
}

// As many elements as there is room for in a byte, the first in its low bits;
// in int32_data each number holds one such byte.
absl::StatusOr<Tensor> FromSmallElements(const OnnxTensorFields& fields,
                                         int64_t count) {
  const int type = fields.data_type, bits = StorageBits(type);
  const int64_t per_byte = 8 / bits;
  const int64_t bytes = count / per_byte + (count % per_byte != 0 ? 1 : 0);
  std::string data;
  if (fields.raw_data != nullptr) {
    data = *fields.raw_data;
  } else {
    for (int32_t v : fields.ints) data += static_cast<char>(v);
  }
  if (static_cast<int64_t>(data.size()) != bytes) {
    return Bad(fields,
               absl::StrCat("has ", data.size(),
                            " bytes of data where its shape says ", bytes));
  }
  const DataType carrier = CarrierOf(type);
  INGOT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Empty(carrier, fields.shape));
  auto* out = static_cast<uint8_t*>(tensor.mutable_raw_data());
  const int mask = (1 << bits) - 1, sign = 1 << (bits - 1);
  for (int64_t i = 0; i < count; ++i) {
    const auto byte = static_cast<uint8_t>(data[i / per_byte]);
    int element = byte >> (i % per_byte * bits) & mask;
    if (carrier.is_int() && (element & sign) != 0) element |= ~mask;
    out[i] = static_cast<uint8_t>(element);
  }
  return tensor;
}

absl::StatusOr<Tensor> FromStored(const OnnxTensorFields& fields) {
  absl::StatusOr<int64_t> count = CountElements(fields.shape);
  if (!count.ok()) return Bad(fields, count.status().message());
  if (fields.is_external) {
    return absl::UnimplementedError(
        absl::StrCat("tensor '", fields.name, "': elements of type ",
                     StorageTypeName(fields.data_type), " in another file"));
  }
  return fields.data_type == kTextType ? FromText(fields)
                                       : FromSmallElements(fields, *count);
}

}  // namespace

absl::StatusOr<Tensor> TensorFromOnnx(const OnnxTensorFields& fields,
                                      const ExternalDataFn& external) {
  if (fields.is_segment) return Bad(fields, "is only a segment of a tensor");
  if (IsStorageType(fields.data_type)) return FromStored(fields);
  absl::StatusOr<DataType> dtype = DataTypeFromOnnx(fields.data_type);
  if (!dtype.ok()) {
    return absl::Status(
        dtype.status().code(),
        absl::StrCat("tensor '", fields.name, "': ", dtype.status().message()));
  }
  absl::StatusOr<size_t> bytes = CountBytes(*dtype, fields.shape);
  if (!bytes.ok()) return Bad(fields, bytes.status().message());
  if (fields.is_external) {
    if (external == nullptr) {
      return Bad(fields,
                 "its data is in another file, which cannot be read without "
                 "the model's folder");
    }
    INGOT_ASSIGN_OR_RETURN(Blob blob, external(*bytes));
    return FromBlob(std::move(blob), *dtype, fields.shape);
  }
  if (fields.raw_data != nullptr) return FromRaw(fields, *dtype, *bytes);
  return FromTypedFields(fields, *dtype, *bytes / dtype->bytes());
}

}  // namespace ingot
