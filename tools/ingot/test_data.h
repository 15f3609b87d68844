// ONNX's layout of test data: folders test_data_set_N with the protobufs
// input_0.pb, input_1.pb, ..., output_0.pb, ...

#ifndef INGOT_TOOLS_INGOT_TEST_DATA_H_
#define INGOT_TOOLS_INGOT_TEST_DATA_H_

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/executor/executor.h"
#include "runtime/tensor.h"
#include "runtime/tensor_sequence.h"

namespace ingot {

struct TestDataSet {
  std::string name;                  // of the folder
  std::vector<std::string> inputs;   // paths, in the order of their numbers
  std::vector<std::string> outputs;  // the same; may be empty
};

// The sets in `folder`, which is one itself or has several, in the order of
// their numbers. NotFound when there are none; InvalidArgument when a number is
// missing between others.
absl::StatusOr<std::vector<TestDataSet>> FindTestData(absl::string_view folder);

// The tensor in the file at `path`, an onnx.TensorProto. Errors name the path.
// `is_text`, unless it is null, gets whether u8 is text.
absl::StatusOr<Tensor> ReadTensorProtoFile(absl::string_view path,
                                           bool* is_text = nullptr);

// The same of a value for what is declared so: for a sequence, ONNX's
// serialised sequence or optional value.
absl::StatusOr<TensorOrSequence> ReadValueFile(absl::string_view path,
                                               const TensorInfo& declared,
                                               bool* is_text = nullptr);

// One after the other. What is more than declared is taken for tensors.
// `texts`, unless it is null, gets the positions of those that are text.
absl::StatusOr<std::vector<TensorOrSequence>> ReadValueFiles(
    const std::vector<std::string>& paths,
    absl::Span<const TensorInfo> declared, std::set<size_t>* texts = nullptr);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_TEST_DATA_H_
