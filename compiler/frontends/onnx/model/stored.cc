#include "compiler/frontends/onnx/model/stored.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "compiler/frontends/onnx/model/tensor_proto.h"
#include "compiler/status_macros.h"

namespace ingot::onnx_frontend {
namespace {

using relay::StorageType;

absl::Status Bad(const onnx::TensorProto& proto, absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("tensor '", proto.name(), "': ", what));
}

}  // namespace

StorageType StorageTypeFromOnnx(int onnx_type) {
  switch (onnx_type) {
    case kTextType:
      return StorageType::kText;
    case kFloat8E4M3FN:
      return StorageType::kFloat8E4M3FN;
    case kFloat8E4M3FNUZ:
      return StorageType::kFloat8E4M3FNUZ;
    case kFloat8E5M2:
      return StorageType::kFloat8E5M2;
    case kFloat8E5M2FNUZ:
      return StorageType::kFloat8E5M2FNUZ;
    case kUInt4:
      return StorageType::kUInt4;
    case kInt4:
      return StorageType::kInt4;
    default:
      return StorageType::kNone;
  }
}

absl::StatusOr<relay::ElementType> ElementTypeFromOnnx(int onnx_type) {
  const StorageType storage = StorageTypeFromOnnx(onnx_type);
  if (storage != StorageType::kNone) return relay::ElementType::Of(storage);
  INGOT_ASSIGN_OR_RETURN(DataType dtype, DataTypeFromOnnx(onnx_type));
  return relay::ElementType{dtype};
}

absl::StatusOr<Tensor> StoredTensor(onnx::TensorProto* proto) {
  const std::vector<int64_t> shape(proto->dims().begin(), proto->dims().end());
  const StorageType type = StorageTypeFromOnnx(proto->data_type());
  absl::StatusOr<int64_t> count = CountElements(shape);
  if (!count.ok()) return Bad(*proto, count.status().message());
  if (proto->data_location() == onnx::TensorProto::EXTERNAL) {
    return absl::UnimplementedError(
        absl::StrCat("tensor '", proto->name(), "': elements of type ",
                     relay::ToString(type), " in another file"));
  }
  if (type == StorageType::kText) {
    absl::StatusOr<Tensor> text =
        relay::TextTensor(std::vector<std::string>(proto->string_data().begin(),
                                                   proto->string_data().end()),
                          shape);
    return text.ok() ? text : Bad(*proto, text.status().message());
  }

  // One byte an element, or two elements a byte, the first in its low half; in
  // int32_data each number holds one such byte.
  const bool four = IsFourBits(type);
  const int64_t bytes = four ? *count / 2 + *count % 2 : *count;
  std::string data;
  if (proto->has_raw_data()) {
    data = proto->raw_data();
  } else {
    for (int32_t v : proto->int32_data()) data += static_cast<char>(v);
  }
  if (static_cast<int64_t>(data.size()) != bytes) {
    return Bad(*proto,
               absl::StrCat("has ", data.size(),
                            " bytes of data where its shape says ", bytes));
  }
  INGOT_ASSIGN_OR_RETURN(
      Tensor tensor, Tensor::Empty(relay::ElementType::Of(type).dtype, shape));
  auto* out = static_cast<uint8_t*>(tensor.mutable_raw_data());
  for (int64_t i = 0; i < *count; ++i) {
    const auto byte = static_cast<uint8_t>(data[four ? i / 2 : i]);
    out[i] = byte;
    if (!four) continue;
    out[i] = i % 2 == 0 ? byte & 15 : byte >> 4;
    // The sign is the fourth bit.
    if (type == StorageType::kInt4 && out[i] > 7) out[i] |= 0xf0;
  }
  return tensor;
}

}  // namespace ingot::onnx_frontend
