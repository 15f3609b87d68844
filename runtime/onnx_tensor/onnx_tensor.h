// ONNX's serialised tensors as the runtime's.
#ifndef INGOT_RUNTIME_ONNX_TENSOR_ONNX_TENSOR_H_
#define INGOT_RUNTIME_ONNX_TENSOR_ONNX_TENSOR_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "artifact/blob.h"
#include "runtime/tensor.h"

namespace ingot {

// The fields of an onnx.TensorProto, whichever class has parsed it. Views of a
// message that must outlive this.
struct OnnxTensorFields {
  absl::string_view name;
  int data_type = 0;
  std::vector<int64_t> shape;
  bool is_segment = false;
  bool is_external = false;         // the elements are in another file
  std::string* raw_data = nullptr;  // null: the message has none
  absl::Span<const float> floats;
  absl::Span<const int32_t> ints;
  absl::Span<const std::string* const> strings;
  absl::Span<const int64_t> longs;
  absl::Span<const double> doubles;
  absl::Span<const uint64_t> unsigned_longs;
};

// `proto` is an onnx.TensorProto or an OnnxTensorProto (onnx_tensor.proto).
template <typename Proto>
OnnxTensorFields FieldsOf(Proto* proto) {
  constexpr int kExternal = 1;
  OnnxTensorFields fields;
  fields.name = proto->name();
  fields.data_type = proto->data_type();
  fields.shape.assign(proto->dims().begin(), proto->dims().end());
  fields.is_segment = proto->has_segment();
  fields.is_external = proto->data_location() == kExternal;
  if (proto->has_raw_data()) fields.raw_data = proto->mutable_raw_data();
  const auto view = [](const auto& field) {
    return absl::MakeConstSpan(field.data(), field.size());
  };
  fields.floats = view(proto->float_data());
  fields.ints = view(proto->int32_data());
  fields.strings = view(proto->string_data());
  fields.longs = view(proto->int64_data());
  fields.doubles = view(proto->double_data());
  fields.unsigned_longs = view(proto->uint64_data());
  return fields;
}

// Gets the elements that are in another file, which must have `bytes` bytes.
using ExternalDataFn = std::function<absl::StatusOr<Blob>(size_t bytes)>;

// The tensor. raw_data is moved out of the message, not copied. Elements of a
// type that Ingot has not come in the one that carries them (element_types.h).
// InvalidArgument, naming the tensor, for sizes that do not fit the shape, and
// for elements in another file without `external`, whose errors it returns.
absl::StatusOr<Tensor> TensorFromOnnx(const OnnxTensorFields& fields,
                                      const ExternalDataFn& external = nullptr);

}  // namespace ingot

#endif  // INGOT_RUNTIME_ONNX_TENSOR_ONNX_TENSOR_H_
