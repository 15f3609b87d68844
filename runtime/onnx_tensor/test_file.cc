#include "runtime/onnx_tensor/test_file.h"

#include <limits>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "artifact/blob.h"
#include "base/status_macros.h"
#include "runtime/onnx_tensor/element_types.h"
#include "runtime/onnx_tensor/onnx_tensor.h"
#include "runtime/onnx_tensor/onnx_tensor.pb.h"

namespace ingot {
namespace {

template <typename Message>
bool Parse(const Blob& bytes, Message* message) {
  return bytes.size() <= std::numeric_limits<int>::max() &&
         message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

}  // namespace

absl::StatusOr<Tensor> ReadOnnxTensorFile(absl::string_view path,
                                          bool* is_text) {
  INGOT_ASSIGN_OR_RETURN(Blob bytes, Blob::MapFile(path));
  OnnxTensorProto proto;
  if (!Parse(bytes, &proto)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": not a serialised ONNX tensor"));
  }
  if (is_text != nullptr) *is_text = proto.data_type() == kTextType;
  return TensorFromOnnx(FieldsOf(&proto));
}

absl::StatusOr<std::string> ReadOnnxValueName(absl::string_view path) {
  INGOT_ASSIGN_OR_RETURN(Blob bytes, Blob::MapFile(path));
  OnnxTensorProto tensor;
  OnnxSequenceProto sequence;
  std::string name;
  if (Parse(bytes, &tensor)) {
    name = tensor.name();
  } else if (Parse(bytes, &sequence)) {
    name = sequence.name();
  }
  if (!name.empty()) return name;
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": the value in it has no name"));
}

Tensor AsDeclared(const Tensor& tensor, DataType declared) {
  if (declared != DataType::BFloat16() ||
      tensor.dtype() != DataType::UInt(16)) {
    return tensor;
  }
  absl::StatusOr<Tensor> same =
      Tensor::FromBorrowedReadOnly(tensor.raw_data(), declared, tensor.shape(),
                                   std::make_shared<Tensor>(tensor));
  return same.ok() ? *same : tensor;
}

absl::StatusOr<TensorSequence> ReadOnnxSequenceFile(absl::string_view path,
                                                    DataType dtype) {
  INGOT_ASSIGN_OR_RETURN(Blob bytes, Blob::MapFile(path));
  const auto bad = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", what));
  };
  OnnxSequenceProto data;
  if (!Parse(bytes, &data)) {
    return bad("not a serialised ONNX sequence or optional value");
  }
  constexpr int kNothing = 0, kTensors = 1, kSequence = 3;
  TensorSequence sequence{dtype, false, {}};
  sequence.missing = data.kind() == kNothing && data.tensors().empty() &&
                     data.sequences().empty();
  if (sequence.missing) return sequence;
  OnnxSequenceProto* elements = &data;
  if (data.kind() == kSequence && data.sequences_size() == 1) {
    elements = data.mutable_sequences(0);
  }
  if (elements->kind() != kTensors) {
    return bad("it holds something else than tensors");
  }
  for (OnnxTensorProto& proto : *elements->mutable_tensors()) {
    INGOT_ASSIGN_OR_RETURN(Tensor tensor, TensorFromOnnx(FieldsOf(&proto)));
    sequence.tensors.push_back(std::move(tensor));
  }
  if (absl::Status s = sequence.Check(); !s.ok()) return bad(s.message());
  return sequence;
}

}  // namespace ingot
