#include "tests/fuzz/onnx/protos.h"

#include <cstring>
#include <vector>

#include "tests/fuzz/onnx/elements.h"

namespace ingot::fuzz {
namespace {

void AddNamesReadBy(const onnx::GraphProto& graph,
                    std::set<std::string>* names) {
  std::set<std::string> own;
  for (const auto& input : graph.input()) own.insert(input.name());
  for (const auto& t : graph.initializer()) own.insert(t.name());
  std::set<std::string> read;
  for (const auto& node : graph.node()) {
    read.merge(NamesReadBy(node));
    own.insert(node.output().begin(), node.output().end());
  }
  for (const auto& output : graph.output()) read.insert(output.name());
  for (const std::string& name : read) {
    if (own.count(name) == 0) names->insert(name);
  }
}

}  // namespace

onnx::TensorProto ToProto(absl::string_view name, const Tensor& tensor) {
  onnx::TensorProto proto;
  proto.set_name(std::string(name));
  proto.set_data_type(OnnxTypeOf(tensor.dtype()));
  for (int64_t extent : tensor.shape()) proto.add_dims(extent);
  proto.set_raw_data(tensor.raw_data(), tensor.bytes());
  return proto;
}

Tensor FromProto(const onnx::TensorProto& proto) {
  Tensor tensor = *Tensor::Empty(
      TypeOfOnnx(proto.data_type()),
      std::vector<int64_t>(proto.dims().begin(), proto.dims().end()));
  std::memcpy(tensor.mutable_raw_data(), proto.raw_data().data(),
              proto.raw_data().size());
  return tensor;
}

onnx::ValueInfoProto InfoOf(absl::string_view name, const Tensor& tensor) {
  onnx::ValueInfoProto info;
  info.set_name(std::string(name));
  auto* type = info.mutable_type()->mutable_tensor_type();
  type->set_elem_type(OnnxTypeOf(tensor.dtype()));
  type->mutable_shape();
  for (int64_t extent : tensor.shape()) {
    type->mutable_shape()->add_dim()->set_dim_value(extent);
  }
  return info;
}

onnx::ModelProto EmptyModel(int opset) {
  onnx::ModelProto model;
  // The version of the format that each operator set came with.
  model.set_ir_version(opset <= 14   ? 7
                       : opset <= 18 ? 8
                       : opset <= 20 ? 9
                       : opset <= 22 ? 10
                       : opset <= 23 ? 11
                       : opset <= 24 ? 12
                                     : 13);
  auto* set = model.add_opset_import();
  set->set_domain("");
  set->set_version(opset);
  auto* classical = model.add_opset_import();
  classical->set_domain("ai.onnx.ml");
  classical->set_version(3);
  model.mutable_graph()->set_name("fuzz");
  return model;
}

int OpsetOf(const onnx::ModelProto& model) {
  return static_cast<int>(model.opset_import(0).version());
}

std::set<std::string> NamesReadBy(const onnx::NodeProto& node) {
  std::set<std::string> names(node.input().begin(), node.input().end());
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) AddNamesReadBy(attribute.g(), &names);
  }
  names.erase("");
  return names;
}

const onnx::AttributeProto* FindAttribute(const onnx::NodeProto& node,
                                          absl::string_view name) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

std::string TextOf(const onnx::NodeProto& node, absl::string_view name) {
  const auto* attribute = FindAttribute(node, name);
  return attribute == nullptr ? "" : attribute->s();
}

int64_t IntegerOf(const onnx::NodeProto& node, absl::string_view name, int k,
                  int64_t otherwise) {
  const auto* attribute = FindAttribute(node, name);
  return attribute == nullptr || k >= attribute->ints_size()
             ? otherwise
             : attribute->ints(k);
}

}  // namespace ingot::fuzz
