// Graphs inside graphs: branches, loop bodies and functions of the model.
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/frontends/onnx/graph/importer.h"
#include "compiler/frontends/onnx/model/newer_fields.h"

namespace ingot::onnx_frontend {
namespace {

// Bounds how deep a small hostile file can make functions call each other.
constexpr int kMaxDepth = 32;

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;
using Attributes = std::map<std::string, onnx::AttributeProto>;

// Gives attributes that refer to the function's the values of these, in the
// graphs inside, too. Those that refer to others are left out.
void SetReferences(const Attributes& values, Nodes* nodes) {
  for (onnx::NodeProto& node : *nodes) {
    auto* const attributes = node.mutable_attribute();
    for (int a = attributes->size() - 1; a >= 0; --a) {
      onnx::AttributeProto* const attribute = attributes->Mutable(a);
      if (attribute->ref_attr_name().empty()) {
        if (attribute->has_g()) {
          SetReferences(values, attribute->mutable_g()->mutable_node());
        }
        continue;
      }
      const auto value = values.find(attribute->ref_attr_name());
      if (value == values.end()) {
        attributes->DeleteSubrange(a, 1);
        continue;
      }
      const std::string name = attribute->name();
      *attribute = value->second;
      attribute->set_name(name);
    }
  }
}

// The nodes of the function, for this call of it.
absl::StatusOr<Nodes> NodesFor(const onnx::FunctionProto& function,
                               const onnx::NodeProto& call) {
  Attributes values;
  INGOT_ASSIGN_OR_RETURN(const auto defaults, DefaultAttributes(function));
  for (const auto& attribute : defaults) values[attribute.name()] = attribute;
  for (const auto& attribute : call.attribute()) {
    values[attribute.name()] = attribute;
  }
  Nodes nodes = function.node();
  SetReferences(values, &nodes);
  // Names stay unique and tell where a node comes from.
  for (onnx::NodeProto& node : nodes) {
    if (node.name().empty()) continue;
    node.set_name(absl::StrCat(call.name(), "/", node.name()));
  }
  return nodes;
}

}  // namespace

absl::StatusOr<std::vector<Binding>> Importer::Inline(
    const onnx::GraphProto& graph, std::vector<Binding> inputs) {
  if (depth_ >= kMaxDepth) {
    return absl::InvalidArgumentError("graphs are nested too deep");
  }
  if (graph.input_size() != static_cast<int>(inputs.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("a graph inside takes ", graph.input_size(),
                     " inputs, not ", inputs.size()));
  }
  Scope scope;
  scope.parent = scope_;
  scope.function = builder_.current();
  for (int i = 0; i < graph.input_size(); ++i) {
    scope.names[graph.input(i).name()] = std::move(inputs[i]);
  }
  INGOT_RETURN_IF_ERROR(AddInitializers(graph, &scope, false));
  ++depth_;
  std::vector<std::string> results;
  for (const auto& output : graph.output()) results.push_back(output.name());
  absl::StatusOr<std::vector<Binding>> outputs = ImportNodes(
      PointersTo(graph.node()), &scope, FindAll(std::move(results)));
  --depth_;
  for (int i = 0; outputs.ok() && i < graph.output_size(); ++i) {
    if ((*outputs)[i].IsLeftOut()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a graph inside computes no '", graph.output(i).name(), "'"));
    }
  }
  return outputs;
}

absl::StatusOr<std::vector<Binding>> Importer::InlineFunction(
    const onnx::FunctionProto& function, const onnx::NodeProto& call,
    const std::vector<Binding*>& inputs) {
  if (depth_ >= kMaxDepth) {
    return absl::InvalidArgumentError("functions call each other too deep");
  }
  if (call.input_size() > function.input_size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the function takes at most ", function.input_size(),
                     " inputs, not ", call.input_size()));
  }
  Scope scope;
  scope.function = builder_.current();
  for (int i = 0; i < function.input_size(); ++i) {
    Binding& inside = scope.names[function.input(i)];
    if (i >= static_cast<int>(inputs.size()) || inputs[i] == nullptr) continue;
    if (inputs[i]->initializer != nullptr) {
      INGOT_RETURN_IF_ERROR(Materialize(inputs[i], call.input(i)).status());
    }
    inside = *inputs[i];
  }
  INGOT_ASSIGN_OR_RETURN(const Nodes nodes, NodesFor(function, call));
  std::map<std::string, int> saved = opsets_;
  for (const auto& import : function.opset_import()) {
    opsets_[CanonicalDomain(import.domain())] =
        static_cast<int>(std::min<int64_t>(import.version(), 1 << 20));
  }
  ++depth_;
  absl::StatusOr<std::vector<Binding>> outputs = ImportNodes(
      PointersTo(nodes), &scope,
      FindAll({function.output().begin(), function.output().end()}));
  --depth_;
  opsets_ = std::move(saved);
  return outputs;
}

}  // namespace ingot::onnx_frontend
