#include "compiler/frontends/onnx/model/tensor_proto.h"

#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "compiler/frontends/onnx/model/list_data.pb.h"
#include "compiler/frontends/onnx/model/stored.h"
#include "compiler/status_macros.h"

#ifndef ABSL_IS_LITTLE_ENDIAN
#error "raw_data is little-endian"
#endif

namespace ingot::onnx_frontend {
namespace {

absl::Status Bad(const onnx::TensorProto& proto, absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("tensor '", proto.name(), "': ", what));
}

// Copies a typed field of the protobuf, element by element where its type is
// wider than the tensor's (int32_data holds int8, float16 bits and so on).
template <typename T, typename Field>
absl::StatusOr<Tensor> FromField(const onnx::TensorProto& proto, DataType dtype,
                                 absl::Span<const int64_t> shape, int64_t count,
                                 const Field& field) {
  if (field.size() != count) {
    return Bad(proto, absl::StrCat("has ", field.size(),
                                   " elements where its shape says ", count));
  }
  INGOT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Empty(dtype, shape));
  T* out = tensor.mutable_data<T>();
  for (int64_t i = 0; i < count; ++i) {
    out[i] = static_cast<T>(field.Get(static_cast<int>(i)));
  }
  return tensor;
}

absl::StatusOr<Tensor> FromTypedFields(const onnx::TensorProto& proto,
                                       DataType dtype,
                                       absl::Span<const int64_t> shape,
                                       int64_t count) {
  using Proto = onnx::TensorProto;
  switch (proto.data_type()) {
    case Proto::FLOAT:
      return FromField<float>(proto, dtype, shape, count, proto.float_data());
    case Proto::DOUBLE:
      return FromField<double>(proto, dtype, shape, count, proto.double_data());
    case Proto::INT64:
      return FromField<int64_t>(proto, dtype, shape, count, proto.int64_data());
    case Proto::UINT64:
      return FromField<uint64_t>(proto, dtype, shape, count,
                                 proto.uint64_data());
    case Proto::UINT32:
      return FromField<uint32_t>(proto, dtype, shape, count,
                                 proto.uint64_data());
    case Proto::INT32:
      return FromField<int32_t>(proto, dtype, shape, count, proto.int32_data());
    case Proto::INT16:
      return FromField<int16_t>(proto, dtype, shape, count, proto.int32_data());
    case Proto::INT8:
      return FromField<int8_t>(proto, dtype, shape, count, proto.int32_data());
    case Proto::UINT8:
      return FromField<uint8_t>(proto, dtype, shape, count, proto.int32_data());
    case Proto::UINT16:
    case Proto::FLOAT16:
    case Proto::BFLOAT16:
      return FromField<uint16_t>(proto, dtype, shape, count,
                                 proto.int32_data());
    case Proto::BOOL:
      return FromField<bool>(proto, dtype, shape, count, proto.int32_data());
    default:
      return Bad(proto, "has no data");
  }
}

absl::StatusOr<Tensor> FromExternal(const onnx::TensorProto& proto,
                                    DataType dtype,
                                    absl::Span<const int64_t> shape,
                                    size_t bytes, absl::string_view dir) {
  if (dir.empty()) {
    return Bad(proto,
               "its data is in another file, which cannot be read "
               "without the model's folder");
  }
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
  const bool aligned =
      reinterpret_cast<uintptr_t>(blob->data()) % dtype.bytes() == 0;
  if (!aligned) *blob = Blob::CopyAligned(blob->view());
  return Tensor::FromBlob(*std::move(blob), dtype, shape);
}

// raw_data, without a copy where its memory is aligned enough.
absl::StatusOr<Tensor> FromRaw(onnx::TensorProto* proto, DataType dtype,
                               absl::Span<const int64_t> shape, size_t bytes) {
  if (proto->raw_data().size() != bytes) {
    return Bad(*proto,
               absl::StrCat("has ", proto->raw_data().size(),
                            " bytes of data where its shape says ", bytes));
  }
  if (dtype.is_bool()) {
    // Any other byte than 0 and 1 would be undefined behaviour in a bool.
    for (char& c : *proto->mutable_raw_data()) c = c != 0 ? 1 : 0;
  }
  Blob blob = Blob::FromString(std::move(*proto->mutable_raw_data()));
  if (reinterpret_cast<uintptr_t>(blob.data()) % dtype.bytes() != 0) {
    blob = Blob::CopyAligned(blob.view());
  }
  return Tensor::FromBlob(std::move(blob), dtype, shape);
}

}  // namespace

absl::StatusOr<DataType> DataTypeFromOnnx(int onnx_type) {
  using Proto = onnx::TensorProto;
  switch (onnx_type) {
    case Proto::FLOAT:
      return DataType::Float(32);
    case Proto::DOUBLE:
      return DataType::Float(64);
    case Proto::FLOAT16:
      return DataType::Float(16);
    case Proto::BFLOAT16:
      return DataType::BFloat16();
    case Proto::INT8:
      return DataType::Int(8);
    case Proto::INT16:
      return DataType::Int(16);
    case Proto::INT32:
      return DataType::Int(32);
    case Proto::INT64:
      return DataType::Int(64);
    case Proto::UINT8:
      return DataType::UInt(8);
    case Proto::UINT16:
      return DataType::UInt(16);
    case Proto::UINT32:
      return DataType::UInt(32);
    case Proto::UINT64:
      return DataType::UInt(64);
    case Proto::BOOL:
      return DataType::Bool();
    case Proto::COMPLEX64:
    case Proto::COMPLEX128:
      return absl::UnimplementedError(
          "tensors of complex numbers are not supported");
    default:
      break;
  }
  if (IsStoredType(onnx_type)) {
    return absl::UnimplementedError(absl::StrCat(
        "elements of type ", relay::ToString(StorageTypeFromOnnx(onnx_type)),
        " are not taken here"));
  }
  // float4 and others that came later.
  if (onnx_type > kInt4 && onnx_type <= 26) {
    return absl::UnimplementedError(
        absl::StrCat("ONNX's data type ", onnx_type, " is not supported"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("ONNX has no data type ", onnx_type));
}

absl::StatusOr<Tensor> TensorFromProto(onnx::TensorProto* proto,
                                       absl::string_view external_dir) {
  if (proto->has_segment()) return Bad(*proto, "is only a segment of a tensor");
  if (IsStoredType(proto->data_type())) return StoredTensor(proto);
  absl::StatusOr<DataType> dtype = DataTypeFromOnnx(proto->data_type());
  if (!dtype.ok()) {
    return absl::Status(dtype.status().code(),
                        absl::StrCat("tensor '", proto->name(),
                                     "': ", dtype.status().message()));
  }
  const std::vector<int64_t> shape(proto->dims().begin(), proto->dims().end());
  absl::StatusOr<size_t> bytes = CountBytes(*dtype, shape);
  if (!bytes.ok()) return Bad(*proto, bytes.status().message());
  if (proto->data_location() == onnx::TensorProto::EXTERNAL) {
    return FromExternal(*proto, *dtype, shape, *bytes, external_dir);
  }
  if (proto->has_raw_data()) return FromRaw(proto, *dtype, shape, *bytes);
  return FromTypedFields(*proto, *dtype, shape,
                         static_cast<int64_t>(*bytes / dtype->bytes()));
}

absl::StatusOr<Tensor> ReadTensorFile(absl::string_view path) {
  INGOT_ASSIGN_OR_RETURN(Blob blob, Blob::MapFile(path));
  onnx::TensorProto proto;
  if (blob.size() > std::numeric_limits<int>::max() ||
      !proto.ParseFromArray(blob.data(), static_cast<int>(blob.size()))) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": not a serialised ONNX tensor"));
  }
  return TensorFromProto(&proto);
}

absl::StatusOr<TensorList> ReadListFile(absl::string_view path,
                                        DataType dtype) {
  INGOT_ASSIGN_OR_RETURN(Blob blob, Blob::MapFile(path));
  ListData data;
  const auto bad = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", what));
  };
  if (blob.size() > std::numeric_limits<int>::max() ||
      !data.ParseFromArray(blob.data(), static_cast<int>(blob.size()))) {
    return bad("not a serialised ONNX sequence or optional value");
  }
  constexpr int kNothing = 0, kTensors = 1, kSequence = 3;
  TensorList list{dtype, false, {}};
  list.missing = data.kind() == kNothing && data.tensors().empty() &&
                 data.sequences().empty();
  if (list.missing) return list;
  ListData* sequence = &data;
  if (data.kind() == kSequence && data.sequences_size() == 1) {
    sequence = data.mutable_sequences(0);
  }
  if (sequence->kind() != kTensors) {
    return bad("it holds something else than tensors");
  }
  for (onnx::TensorProto& proto : *sequence->mutable_tensors()) {
    INGOT_ASSIGN_OR_RETURN(Tensor tensor, TensorFromProto(&proto));
    list.tensors.push_back(std::move(tensor));
  }
  if (absl::Status s = list.Check(); !s.ok()) return bad(s.message());
  return list;
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

}  // namespace ingot::onnx_frontend
