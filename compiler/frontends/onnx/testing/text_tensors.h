// Tensors of strings, for tests.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_TESTING_TEXT_TENSORS_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_TESTING_TEXT_TENSORS_H_

#include <cstring>
#include <string>
#include <vector>

#include "compiler/frontends/onnx/model/stored.h"
#include "onnx/onnx.pb.h"
#include "runtime/tensor.h"

namespace ingot::onnx_frontend {

// `shape` is that of the strings; the tensor has one dimension more.
inline Tensor TextTensor(const std::vector<int64_t>& shape,
                         const std::vector<std::string>& strings) {
  onnx::TensorProto proto;
  proto.set_data_type(kTextType);
  for (int64_t d : shape) proto.add_dims(d);
  for (const std::string& s : strings) proto.add_string_data(s);
  return *StoredTensor(&proto);
}

// The strings of a tensor that has them, zeros at their ends left out.
inline std::vector<std::string> StringsOf(const Tensor& text) {
  std::vector<std::string> strings;
  const int64_t width = text.shape().back();
  for (int64_t i = 0; i < text.NumElements(); i += width) {
    const char* s = reinterpret_cast<const char*>(text.data<uint8_t>() + i);
    strings.emplace_back(s, strnlen(s, width));
  }
  return strings;
}

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_TESTING_TEXT_TENSORS_H_
