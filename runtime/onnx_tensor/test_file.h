// Files in ONNX's layout of test data, such as input_0.pb.
#ifndef INGOT_RUNTIME_ONNX_TENSOR_TEST_FILE_H_
#define INGOT_RUNTIME_ONNX_TENSOR_TEST_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/data_type.h"
#include "runtime/tensor.h"
#include "runtime/tensor_sequence.h"

namespace ingot {

// The tensor in the file at `path`, an onnx.TensorProto. InvalidArgument for
// anything else. `is_text`, unless it is null, gets whether u8 is text
// (element_types.h).
absl::StatusOr<Tensor> ReadOnnxTensorFile(absl::string_view path,
                                          bool* is_text = nullptr);

// The name of the tensor, sequence or optional value in the file at `path`.
// InvalidArgument where it has none.
absl::StatusOr<std::string> ReadOnnxValueName(absl::string_view path);

// `tensor` as the type that the model declares for it: ONNX's test data keeps
// the bits of bfloat16 as uint16. Itself where there is nothing to do.
Tensor AsDeclared(const Tensor& tensor, DataType declared);

// The sequence in a file that holds a sequence of tensors, or an optional
// tensor or sequence, whose elements must be of type `dtype`.
absl::StatusOr<TensorSequence> ReadOnnxSequenceFile(absl::string_view path,
                                                    DataType dtype);

}  // namespace ingot

#endif  // INGOT_RUNTIME_ONNX_TENSOR_TEST_FILE_H_
