// Test cases in ONNX's layout: a folder with model.onnx and
// test_data_set_N/{input,output}_K.pb.
#ifndef INGOT_TESTS_CONFORMANCE_ONNX_CASE_H_
#define INGOT_TESTS_CONFORMANCE_ONNX_CASE_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "artifact/blob.h"
#include "onnx/onnx.pb.h"
#include "runtime/tensor.h"
#include "runtime/tensor_sequence.h"

namespace ingot {

struct OnnxDataSet {
  std::string dir;
  std::vector<TensorOrSequence> inputs, outputs;
  // Whether each output holds text: bytes, one dimension more than the model
  // says, with zeros after each string.
  std::set<size_t> text_outputs;
};

struct OnnxCase {
  std::string name;  // of its folder
  std::string dir;
  std::string model_path;
};

// The cases below `dir`, in order of their names. NotFound without any.
absl::StatusOr<std::vector<OnnxCase>> FindOnnxCases(absl::string_view dir);

// The type of a tensor, or of the tensors in a sequence or an optional value.
onnx::TypeProto::Tensor* TensorTypeOf(onnx::TypeProto* type);

// The data sets of a case, in order. Unimplemented when one holds something
// else than tensors of Ingot's types, and sequences and optional values of
// them.
absl::StatusOr<std::vector<OnnxDataSet>> ReadDataSets(const OnnxCase& c);

// The operator that the case is about: that of a model of one node, "several
// operators" for the others.
std::string OperatorOf(const OnnxCase& c);

}  // namespace ingot

#endif  // INGOT_TESTS_CONFORMANCE_ONNX_CASE_H_
