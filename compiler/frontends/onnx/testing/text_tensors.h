// Tensors of strings, for tests.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_TESTING_TEXT_TENSORS_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_TESTING_TEXT_TENSORS_H_

#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/onnx_tensor/element_types.h"
#include "runtime/tensor.h"
#include "runtime/text_tensor.h"

namespace ingot::onnx_frontend {

// `shape` is that of the strings; the tensor has one dimension more.
inline Tensor TextTensor(const std::vector<int64_t>& shape,
                         const std::vector<std::string>& strings) {
  const std::vector<absl::string_view> views(strings.begin(), strings.end());
  return *ingot::TextTensor(views, shape);
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
