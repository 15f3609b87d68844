#include "compiler/frontends/onnx/graph/branches.h"

#include <map>
#include <utility>

#include "compiler/frontends/onnx/graph/importer.h"

namespace ingot::onnx_frontend {
namespace {

using relay::Body;

// Gives all bodies the same last inputs: whatever one of them has captured.
// Each has `own` inputs of its own in front.
std::vector<Value> ShareCaptures(const std::vector<Body*>& bodies, size_t own) {
  std::vector<Value> all;
  for (const Body* body : bodies) {
    for (const Value& value : body->captured) {
      if (std::find(all.begin(), all.end(), value) == all.end()) {
        all.push_back(value);
      }
    }
  }
  for (Body* body : bodies) {
    std::map<Value, relay::Node*> inside;
    for (size_t i = 0; i < body->captured.size(); ++i) {
      inside[body->captured[i]] = body->function->inputs[own + i];
    }
    std::vector<relay::Node*> inputs(body->function->inputs.begin(),
                                     body->function->inputs.begin() + own);
    for (const Value& value : all) {
      relay::Node*& input = inside[value];
      if (input == nullptr) {
        input = body->function->AddInput(value.node->name, value.type());
      }
      inputs.push_back(input);
    }
    body->function->inputs = std::move(inputs);
  }
  return all;
}

}  // namespace

tir::Expr ResultDim(NodeContext& c, const tir::Expr& dim) {
  if (c.builder().IsKnownHere(dim)) return dim;
  return c.builder().module().RunTimeSymbol(c.name());
}

absl::StatusOr<Value> OneElement(NodeContext& c, int i, DataType dtype) {
  INGOT_ASSIGN_OR_RETURN(Value v, c.Input(i));
  if (v.type().dtype != dtype) {
    return c.Error("input ", i, " is ", relay::ToString(v.type()), ", not one ",
                   dtype.ToString());
  }
  return c.Reshape(v, {}, "scalar");
}

absl::StatusOr<relay::Node*> AddControl(NodeContext& c, relay::NodeKind kind,
                                        std::vector<Value> inputs, Attrs attrs,
                                        std::vector<TensorType> outputs) {
  if (outputs.empty()) return c.NotSupported("it has no results");
  relay::Node* node = c.builder().function()->AddControl(
      kind, c.name(), std::move(inputs), std::move(attrs), std::move(outputs));
  c.builder().DeclareSymbols(node);
  return node;
}

absl::StatusOr<std::vector<Value>> JoinBranches(NodeContext& c, Body* yes,
                                                Body* no) {
  INGOT_ASSIGN_OR_RETURN(Value condition, OneElement(c, 0, DataType::Bool()));
  std::vector<Body*> bodies;
  Attrs attrs;
  if (yes != nullptr) {
    bodies.push_back(yes);
    attrs.Set("then", yes->name);
  }
  if (no != nullptr) {
    bodies.push_back(no);
    attrs.Set("else", no->name);
  }
  const std::vector<Value>& a = bodies.front()->function->outputs;
  const std::vector<Value>& b = bodies.back()->function->outputs;
  if (a.size() != b.size()) return c.Error("its branches differ in outputs");
  std::vector<TensorType> types;
  for (size_t i = 0; i < a.size(); ++i) {
    TensorType type = a[i].type();
    const TensorType& other = b[i].type();
    if (type.dtype != other.dtype || type.is_sequence != other.is_sequence ||
        type.shape.size() != other.shape.size()) {
      return c.NotSupported("a branch that gives ", relay::ToString(type),
                            " or ", relay::ToString(other));
    }
    for (size_t d = 0; d < type.shape.size(); ++d) {
      tir::Expr& dim = type.shape[d];
      dim = relay::SameShape({dim}, {other.shape[d]})
                ? ResultDim(c, dim)
                : c.builder().module().RunTimeSymbol(c.name());
    }
    types.push_back(std::move(type));
  }
  std::vector<Value> inputs = ShareCaptures(bodies, 0);
  inputs.insert(inputs.begin(), condition);
  INGOT_ASSIGN_OR_RETURN(relay::Node * node,
                         AddControl(c, relay::NodeKind::kIf, std::move(inputs),
                                    std::move(attrs), std::move(types)));
  std::vector<Value> results;
  for (size_t i = 0; i < node->outputs.size(); ++i) {
    results.push_back(Value{node, static_cast<int>(i)});
    if (!node->outputs[i].is_sequence) continue;
    Importer* importer = c.importer();
    importer->sequence_info(results.back()) = SequenceInfo::Join(
        importer->sequence_info(a[i]), importer->sequence_info(b[i]));
  }
  return results;
}

}  // namespace ingot::onnx_frontend
