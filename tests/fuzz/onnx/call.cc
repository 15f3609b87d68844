#include "tests/fuzz/onnx/grower.h"
#include "tests/fuzz/onnx/protos.h"

namespace ingot::fuzz {
namespace {

onnx::AttributeProto* AddAttribute(Call* call, absl::string_view name,
                                   onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto& attribute = call->attributes.emplace_back();
  attribute.set_name(std::string(name));
  attribute.set_type(type);
  return &attribute;
}

}  // namespace

Call& Call::Int(absl::string_view name, int64_t value) {
  AddAttribute(this, name, onnx::AttributeProto::INT)->set_i(value);
  return *this;
}

Call& Call::Ints(absl::string_view name, const Shape& values) {
  auto* attribute = AddAttribute(this, name, onnx::AttributeProto::INTS);
  for (int64_t value : values) attribute->add_ints(value);
  return *this;
}

Call& Call::Float(absl::string_view name, double value) {
  AddAttribute(this, name, onnx::AttributeProto::FLOAT)
      ->set_f(static_cast<float>(value));
  return *this;
}

Call& Call::Floats(absl::string_view name, const std::vector<double>& values) {
  auto* attribute = AddAttribute(this, name, onnx::AttributeProto::FLOATS);
  for (double value : values) {
    attribute->add_floats(static_cast<float>(value));
  }
  return *this;
}

Call& Call::String(absl::string_view name, absl::string_view value) {
  AddAttribute(this, name, onnx::AttributeProto::STRING)
      ->set_s(std::string(value));
  return *this;
}

Call& Call::Strings(absl::string_view name,
                    const std::vector<std::string>& values) {
  auto* attribute = AddAttribute(this, name, onnx::AttributeProto::STRINGS);
  for (const std::string& value : values) attribute->add_strings(value);
  return *this;
}

Call& Call::Value(absl::string_view name, const Tensor& tensor) {
  *AddAttribute(this, name, onnx::AttributeProto::TENSOR)->mutable_t() =
      ToProto("", tensor);
  return *this;
}

Call& Call::Graph(absl::string_view name, onnx::GraphProto graph) {
  *AddAttribute(this, name, onnx::AttributeProto::GRAPH)->mutable_g() =
      std::move(graph);
  return *this;
}

}  // namespace ingot::fuzz
