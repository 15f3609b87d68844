#include "compiler/frontends/onnx/stored.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "compiler/status_macros.h"

namespace ingot::onnx_frontend {
namespace {

absl::Status Bad(const onnx::TensorProto& proto, absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("tensor '", proto.name(), "': ", what));
}

absl::StatusOr<Tensor> TextTensor(const onnx::TensorProto& proto,
                                  std::vector<int64_t> shape, int64_t count) {
  if (proto.string_data_size() != count) {
    return Bad(proto, absl::StrCat("has ", proto.string_data_size(),
                                   " strings where its shape says ", count));
  }
  size_t width = 1;
  for (const std::string& s : proto.string_data()) {
    if (!s.empty() && s.back() == '\0') {
      return Bad(proto, "has a string that ends in a zero byte");
    }
    width = std::max(width, s.size());
  }
  shape.push_back(static_cast<int64_t>(width));
  INGOT_ASSIGN_OR_RETURN(Tensor tensor,
                         Tensor::Empty(DataType::UInt(8), shape));
  char* out = static_cast<char*>(tensor.mutable_raw_data());
  for (const std::string& s : proto.string_data()) {
    std::memset(out, 0, width);
    std::memcpy(out, s.data(), s.size());
    out += width;
  }
  return tensor;
}

}  // namespace

bool IsStoredType(int t) {
  return t == kTextType || IsFloat8(t) || IsFourBits(t);
}

DataType CarrierOf(int onnx_type) {
  return onnx_type == kInt4 ? DataType::Int(8) : DataType::UInt(8);
}

std::string StoredTypeName(int onnx_type) {
  switch (onnx_type) {
    case kTextType:
      return "string";
    case kUInt4:
      return "uint4";
    case kInt4:
      return "int4";
    default:
      return absl::StrCat("float8", Float8Format(onnx_type));
  }
}

std::string Float8Format(int onnx_type) {
  switch (onnx_type) {
    case kFloat8E4M3FN:
      return "e4m3fn";
    case kFloat8E4M3FNUZ:
      return "e4m3fnuz";
    case kFloat8E5M2:
      return "e5m2";
    default:
      return "e5m2fnuz";
  }
}

absl::StatusOr<Tensor> StoredTensor(onnx::TensorProto* proto) {
  const std::vector<int64_t> shape(proto->dims().begin(), proto->dims().end());
  const int type = proto->data_type();
  absl::StatusOr<int64_t> count = CountElements(shape);
  if (!count.ok()) return Bad(*proto, count.status().message());
  if (proto->data_location() == onnx::TensorProto::EXTERNAL) {
    return absl::UnimplementedError(
        absl::StrCat("tensor '", proto->name(), "': elements of type ",
                     StoredTypeName(type), " in another file"));
  }
  if (type == kTextType) return TextTensor(*proto, shape, *count);

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
  INGOT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Empty(CarrierOf(type), shape));
  auto* out = static_cast<uint8_t*>(tensor.mutable_raw_data());
  for (int64_t i = 0; i < *count; ++i) {
    const auto byte = static_cast<uint8_t>(data[four ? i / 2 : i]);
    out[i] = byte;
    if (!four) continue;
    out[i] = i % 2 == 0 ? byte & 15 : byte >> 4;
    // The sign is the fourth bit.
    if (type == kInt4 && out[i] > 7) out[i] |= 0xf0;
  }
  return tensor;
}

}  // namespace ingot::onnx_frontend
