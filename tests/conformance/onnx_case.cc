#include "tests/conformance/onnx_case.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "onnx/onnx.pb.h"
#include "runtime/onnx_tensor/element_types.h"
#include "runtime/onnx_tensor/test_file.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> SortedEntries(const std::string& dir) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(dir, error), end; !error && it != end;
       it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// The file at `path`, which holds a value of the type.
absl::StatusOr<TensorOrSequence> ReadValue(const std::string& path,
                                           onnx::TypeProto type) {
  const int element = TensorTypeOf(&type)->elem_type();
  if (type.has_tensor_type()) return ReadOnnxTensorFile(path);
  absl::StatusOr<DataType> dtype = DataTypeFromOnnx(element);
  if (!dtype.ok()) return dtype.status();
  return ReadOnnxSequenceFile(path, *dtype);
}

// input_0.pb, input_1.pb, … in the order of their numbers, of the types in
// `types`.
absl::StatusOr<std::vector<TensorOrSequence>> ReadNumbered(
    const std::string& dir, absl::string_view stem,
    const std::vector<onnx::TypeProto>& types, std::set<size_t>* text) {
  std::vector<TensorOrSequence> values;
  for (size_t k = 0;; ++k) {
    const std::string path = absl::StrCat(dir, "/", stem, "_", k, ".pb");
    std::error_code error;
    if (!fs::exists(path, error)) return values;
    if (k >= types.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": the model has only ", types.size()));
    }
    absl::StatusOr<TensorOrSequence> value = ReadValue(path, types[k]);
    if (!value.ok()) return value.status();
    if (text != nullptr &&
        types[k].tensor_type().elem_type() == onnx::TensorProto::STRING) {
      text->insert(k);
    }
    values.push_back(*std::move(value));
  }
}

// The model's inputs that are no initialisers.
std::vector<onnx::ValueInfoProto> InputsOf(const onnx::ModelProto& model) {
  std::set<std::string> initializers;
  for (const auto& t : model.graph().initializer()) {
    initializers.insert(t.name());
  }
  std::vector<onnx::ValueInfoProto> inputs;
  for (const auto& input : model.graph().input()) {
    if (initializers.count(input.name()) == 0) inputs.push_back(input);
  }
  return inputs;
}

absl::StatusOr<onnx::ModelProto> ParseModel(const Blob& model) {
  onnx::ModelProto proto;
  if (!proto.ParseFromArray(model.data(), static_cast<int>(model.size()))) {
    return absl::InvalidArgumentError("not an ONNX model");
  }
  return proto;
}

}  // namespace

absl::StatusOr<std::vector<OnnxCase>> FindOnnxCases(absl::string_view dir) {
  std::vector<OnnxCase> cases;
  for (const std::string& name : SortedEntries(std::string(dir))) {
    OnnxCase c;
    c.name = name;
    c.dir = absl::StrCat(dir, "/", name);
    c.model_path = absl::StrCat(c.dir, "/model.onnx");
    std::error_code error;
    if (fs::exists(c.model_path, error)) cases.push_back(std::move(c));
  }
  if (cases.empty()) {
    return absl::NotFoundError(absl::StrCat("no ONNX test cases in ", dir));
  }
  return cases;
}

onnx::TypeProto::Tensor* TensorTypeOf(onnx::TypeProto* type) {
  if (type->has_optional_type()) {
    type = type->mutable_optional_type()->mutable_elem_type();
  }
  if (type->has_sequence_type()) {
    type = type->mutable_sequence_type()->mutable_elem_type();
  }
  return type->mutable_tensor_type();
}

absl::StatusOr<std::vector<OnnxDataSet>> ReadDataSets(const OnnxCase& c) {
  absl::StatusOr<Blob> bytes = Blob::MapFile(c.model_path);
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<onnx::ModelProto> model = ParseModel(*bytes);
  if (!model.ok()) return model.status();
  std::vector<onnx::TypeProto> input_types, output_types;
  for (const auto& input : InputsOf(*model)) {
    input_types.push_back(input.type());
  }
  for (const auto& output : model->graph().output()) {
    output_types.push_back(output.type());
  }
  std::vector<OnnxDataSet> sets;
  for (const std::string& name : SortedEntries(c.dir)) {
    if (!absl::StartsWith(name, "test_data_set_")) continue;
    OnnxDataSet set;
    set.dir = absl::StrCat(c.dir, "/", name);
    absl::StatusOr<std::vector<TensorOrSequence>> inputs =
        ReadNumbered(set.dir, "input", input_types, nullptr);
    if (!inputs.ok()) return inputs.status();
    absl::StatusOr<std::vector<TensorOrSequence>> outputs =
        ReadNumbered(set.dir, "output", output_types, &set.text_outputs);
    if (!outputs.ok()) return outputs.status();
    set.inputs = *std::move(inputs);
    set.outputs = *std::move(outputs);
    sets.push_back(std::move(set));
  }
  return sets;
}

std::string OperatorOf(const OnnxCase& c) {
  onnx::ModelProto proto;
  absl::StatusOr<Blob> model = Blob::MapFile(c.model_path);
  if (!model.ok() ||
      !proto.ParseFromArray(model->data(), static_cast<int>(model->size())) ||
      proto.graph().node_size() != 1) {
    return "several operators";
  }
  return proto.graph().node(0).op_type();
}

}  // namespace ingot
