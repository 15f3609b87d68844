// Inputs of a run as ONNX's test data has them: a tensor, a sequence or an
// optional value in a file.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/onnx_tensor/onnx_tensor.pb.h"
#include "runtime/onnx_tensor/test_file.h"
#include "tests/fuzz/readers/target.h"

namespace ingot::fuzz {
namespace {

// Reads every byte of a tensor that was read.
void Touch(const Tensor& tensor) {
  const auto* data = static_cast<const unsigned char*>(tensor.raw_data());
  unsigned sum = 0;
  for (size_t i = 0; i < tensor.bytes(); ++i) sum += data[i];
  volatile unsigned used = sum;
  static_cast<void>(used);
}

OnnxTensorProto Floats() {
  constexpr int kFloat = 1;
  OnnxTensorProto proto;
  proto.set_name("x");
  proto.set_data_type(kFloat);
  proto.add_dims(2);
  proto.add_dims(3);
  for (int i = 0; i < 6; ++i) proto.add_float_data(i);
  return proto;
}

OnnxTensorProto Raw(int type, size_t bytes) {
  OnnxTensorProto proto;
  proto.set_data_type(type);
  proto.add_dims(4);
  proto.set_raw_data(std::string(bytes, '\1'));
  return proto;
}

}  // namespace

std::vector<std::string> Seeds() {
  constexpr int kInt64 = 7, kString = 8, kInt4 = 22, kSequenceKind = 1;
  OnnxTensorProto texts;
  texts.set_data_type(kString);
  texts.add_dims(2);
  texts.add_string_data("one");
  texts.add_string_data("");
  OnnxSequenceProto sequence;
  sequence.set_kind(kSequenceKind);
  *sequence.add_tensors() = Floats();
  *sequence.add_tensors() = Floats();
  return {Floats().SerializeAsString(), Raw(kInt64, 32).SerializeAsString(),
          Raw(kInt4, 2).SerializeAsString(), texts.SerializeAsString(),
          sequence.SerializeAsString()};
}

absl::StatusOr<bool> TryInput(absl::string_view bytes) {
  const char* const folder = std::getenv("TEST_TMPDIR");
  const std::string path = absl::StrCat(folder == nullptr ? "/tmp" : folder,
                                        "/onnx_tensor_fuzz.", getpid(), ".pb");
  std::ofstream(path, std::ios::binary) << bytes;
  bool taken = false;
  if (const auto tensor = ReadOnnxTensorFile(path); tensor.ok()) {
    Touch(*tensor);
    taken = true;
  }
  const auto sequence = ReadOnnxSequenceFile(path, DataType::Float(32));
  if (sequence.ok()) {
    for (const Tensor& tensor : sequence->tensors) Touch(tensor);
    taken = true;
  }
  std::remove(path.c_str());
  return taken;
}

}  // namespace ingot::fuzz
