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
    if (types[k].tensor_type().elem_type() == onnx::TensorProto::STRING) {
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
        ReadNumbered(set.dir, "input", input_types, &set.text_inputs);
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

absl::StatusOr<std::vector<std::string>> ModelInputNames(const Blob& model) {
  absl::StatusOr<onnx::ModelProto> proto = ParseModel(model);
  if (!proto.ok()) return proto.status();
  std::vector<std::string> names;
  for (const auto& input : InputsOf(*proto)) names.push_back(input.name());
  return names;
}

absl::StatusOr<Blob> WithShapesOf(const Blob& model, const OnnxDataSet& set) {
  absl::StatusOr<onnx::ModelProto> parsed = ParseModel(model);
  if (!parsed.ok()) return parsed.status();
  onnx::ModelProto& proto = *parsed;
  std::set<std::string> initializers;
  for (const auto& t : proto.graph().initializer()) {
    initializers.insert(t.name());
  }
  bool changed = false;
  size_t next = 0;
  for (auto& input : *proto.mutable_graph()->mutable_input()) {
    if (initializers.count(input.name()) > 0) continue;
    if (next == set.inputs.size()) break;
    const auto* tensor = std::get_if<Tensor>(&set.inputs[next++]);
    if (tensor == nullptr) continue;
    absl::Span<const int64_t> dims = tensor->shape();
    if (set.text_inputs.count(next - 1) > 0) dims.remove_suffix(1);
    if (!input.type().has_tensor_type() ||
        !input.type().tensor_type().has_shape()) {
      continue;
    }
    auto* shape = input.mutable_type()->mutable_tensor_type()->mutable_shape();
    bool fits = shape->dim_size() == static_cast<int>(dims.size());
    for (size_t d = 0; fits && d < dims.size(); ++d) {
      const auto& dim = shape->dim(static_cast<int>(d));
      fits = !dim.has_dim_value() || dim.dim_value() == dims[d];
    }
    if (fits) continue;
    changed = true;
    shape->clear_dim();
    for (int64_t d : dims) shape->add_dim()->set_dim_value(d);
  }
  return changed ? Blob::FromString(proto.SerializeAsString()) : model;
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

namespace {

// The string at the start of `width` bytes.
absl::string_view StringAt(const uint8_t* bytes, int64_t width) {
  const absl::string_view all(reinterpret_cast<const char*>(bytes),
                              static_cast<size_t>(width));
  return all.substr(0, all.find('\0'));
}

}  // namespace

absl::Status CompareText(const Tensor& actual, const Tensor& expected) {
  std::vector<int64_t> shapes[2];
  for (const Tensor* t : {&actual, &expected}) {
    if (t->dtype() != DataType::UInt(8) || t->shape().empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(t->TypeString(), " is no text"));
    }
    const absl::Span<const int64_t> shape = t->shape();
    shapes[t == &expected].assign(shape.begin(), shape.end() - 1);
  }
  if (shapes[0] != shapes[1]) {
    return absl::InvalidArgumentError(absl::StrCat(
        "is ", actual.TypeString(), ", expected ", expected.TypeString()));
  }
  absl::StatusOr<int64_t> count = CountElements(shapes[0]);
  if (!count.ok()) return count.status();
  const int64_t width = actual.shape().back();
  const int64_t expected_width = expected.shape().back();
  for (int64_t i = 0; i < *count; ++i) {
    const absl::string_view a =
        StringAt(actual.data<uint8_t>() + i * width, width);
    const absl::string_view b =
        StringAt(expected.data<uint8_t>() + i * expected_width, expected_width);
    if (a != b) {
      return absl::InvalidArgumentError(
          absl::StrCat("string ", i, " is '", a, "', expected '", b, "'"));
    }
  }
  return absl::OkStatus();
}

}  // namespace ingot
