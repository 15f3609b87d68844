// Graphs inside graphs: branches, loop bodies and functions of the model.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/frontends/onnx/graph/importer.h"

namespace ingot::onnx_frontend {
namespace {

// Bounds how deep a small hostile file can make functions call each other.
constexpr int kMaxDepth = 32;

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
  const absl::Status status =
      ImportNodes(PointersTo(graph.node()), results, &scope);
  --depth_;
  INGOT_RETURN_IF_ERROR(status);
  std::vector<Binding> outputs;
  for (const auto& output : graph.output()) {
    INGOT_ASSIGN_OR_RETURN(Binding * binding, Find(&scope, output.name()));
    if (binding == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("a graph inside computes no '", output.name(), "'"));
    }
    if (binding->initializer != nullptr) {
      INGOT_RETURN_IF_ERROR(Materialize(binding, output.name()).status());
    }
    outputs.push_back(*binding);
  }
  return outputs;
}

absl::StatusOr<std::vector<Binding>> Importer::InlineFunction(
    const onnx::FunctionProto& function, const onnx::NodeProto& call,
    const std::vector<Binding*>& inputs) {
  if (depth_ >= kMaxDepth) {
    return absl::InvalidArgumentError("functions call each other too deep");
  }
  Scope scope;
  scope.function = builder_.current();
  for (int i = 0; i < function.input_size(); ++i) {
    if (i < static_cast<int>(inputs.size()) && inputs[i] != nullptr) {
      if (inputs[i]->initializer != nullptr) {
        INGOT_RETURN_IF_ERROR(Materialize(inputs[i], call.input(i)).status());
      }
      scope.names[function.input(i)] = *inputs[i];
    }
  }
  // Attributes that refer to the call's get its values.
  google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes = function.node();
  for (onnx::NodeProto& node : nodes) {
    auto* attributes = node.mutable_attribute();
    for (int a = attributes->size() - 1; a >= 0; --a) {
      const std::string wanted = attributes->Get(a).ref_attr_name();
      if (wanted.empty()) continue;
      const std::string own = attributes->Get(a).name();
      bool found = false;
      for (const auto& given : call.attribute()) {
        if (given.name() != wanted) continue;
        *attributes->Mutable(a) = given;
        attributes->Mutable(a)->set_name(own);
        found = true;
      }
      if (!found) attributes->DeleteSubrange(a, 1);
    }
    // Names stay unique and tell where a node comes from.
    if (!node.name().empty()) {
      node.set_name(absl::StrCat(call.name(), "/", node.name()));
    }
  }
  std::map<std::string, int> saved = opsets_;
  for (const auto& import : function.opset_import()) {
    opsets_[CanonicalDomain(import.domain())] =
        static_cast<int>(std::min<int64_t>(import.version(), 1 << 20));
  }
  ++depth_;
  const std::vector<std::string> results(function.output().begin(),
                                         function.output().end());
  const absl::Status status = ImportNodes(PointersTo(nodes), results, &scope);
  --depth_;
  opsets_ = std::move(saved);
  INGOT_RETURN_IF_ERROR(status);
  std::vector<Binding> outputs;
  for (const std::string& output : function.output()) {
    INGOT_ASSIGN_OR_RETURN(Binding * binding, Find(&scope, output));
    outputs.push_back(binding == nullptr ? Binding() : *binding);
  }
  return outputs;
}

}  // namespace ingot::onnx_frontend
