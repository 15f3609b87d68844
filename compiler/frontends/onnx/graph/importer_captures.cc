// The values that a graph inside sees of the graphs around it.
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/frontends/onnx/graph/importer.h"
#include "compiler/relay/interpreter/constant_value.h"

namespace ingot::onnx_frontend {
namespace {

// A captured value may be computed while importing if it is this small.
constexpr int64_t kSmall = 4096;

}  // namespace

absl::StatusOr<Binding> Importer::Capture(relay::OpenFunction* function,
                                          Binding* outer,
                                          const std::string& name) {
  Binding inside;
  inside.storage = outer->storage;
  inside.optional = outer->optional;
  if (outer->sequence != nullptr) {
    Sequence sequence{outer->sequence->dtype, {}};
    for (const Binding& element : outer->sequence->tensors) {
      Binding copy = element;
      INGOT_ASSIGN_OR_RETURN(copy, Capture(function, &copy, name));
      sequence.tensors.push_back(std::move(copy));
    }
    inside.sequence = std::make_shared<const Sequence>(std::move(sequence));
    return inside;
  }
  if (outer->initializer != nullptr && !outer->value) {
    const relay::ModuleBuilder::Enter enter(&builder_, function->outer);
    INGOT_RETURN_IF_ERROR(Materialize(outer, name).status());
  }
  if (outer->known) {
    inside.known = outer->known;
    return inside;
  }
  Value value = outer->value;
  if (!value.node->constant.has_value() && !value.type().is_sequence) {
    // A value that depends on constants alone is computed, not captured.
    const auto shape = relay::ConstShape(ShapeOf(value));
    absl::StatusOr<int64_t> count =
        shape ? CountElements(*shape) : absl::StatusOr<int64_t>(kSmall + 1);
    if (count.ok() && *count <= kSmall) {
      absl::StatusOr<Tensor> constant = relay::ConstantValue(value);
      if (constant.ok()) {
        inside.value =
            Value{function->function->AddConstant(name, *std::move(constant))};
        return inside;
      }
    }
  }
  INGOT_ASSIGN_OR_RETURN(inside.value, builder_.Capture(function, value));
  return inside;
}

absl::StatusOr<Binding*> Importer::Find(const Scope* scope,
                                        const std::string& name) {
  for (auto* names : {&scope->names, &scope->captures}) {
    auto it = names->find(name);
    if (it != names->end()) return &it->second;
  }
  if (scope->parent == nullptr) return nullptr;
  INGOT_ASSIGN_OR_RETURN(Binding * outer, Find(scope->parent, name));
  if (outer == nullptr || outer->IsLeftOut() ||
      scope->parent->function == scope->function) {
    return outer;
  }
  INGOT_ASSIGN_OR_RETURN(Binding inside, Capture(scope->function, outer, name));
  return &(scope->captures[name] = std::move(inside));
}

absl::Status CheckCanLeave(const Binding& result) {
  if (result.storage == StorageType::kNone) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat("a branch or loop that gives elements of type ",
                   relay::ToString(result.storage)));
}

absl::StatusOr<std::vector<Binding>> Importer::FindResults(
    const Scope* scope, const std::vector<std::string>& names) {
  std::vector<Binding> results;
  for (const std::string& name : names) {
    INGOT_ASSIGN_OR_RETURN(Binding * binding, Find(scope, name));
    if (binding != nullptr && binding->initializer != nullptr) {
      INGOT_RETURN_IF_ERROR(Materialize(binding, name).status());
    }
    results.push_back(binding == nullptr ? Binding() : *binding);
  }
  return results;
}

Rest Importer::FindAll(std::vector<std::string> names) {
  Rest rest;
  rest.import = [this, names](Scope* scope) {
    return FindResults(scope, names);
  };
  rest.results = std::move(names);
  return rest;
}

absl::Status Importer::AddResults(std::vector<Binding> results,
                                  const std::vector<std::string>& names) {
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].IsLeftOut()) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", names[i], "' is computed by no node"));
    }
    INGOT_RETURN_IF_ERROR(CheckCanLeave(results[i]));
    INGOT_ASSIGN_OR_RETURN(Value value, MaterializeAny(&results[i], names[i]));
    builder_.function()->outputs.push_back(value);
  }
  return absl::OkStatus();
}

absl::Status Importer::FillFromGraph(const onnx::GraphProto& graph,
                                     std::vector<Binding> inputs) {
  INGOT_ASSIGN_OR_RETURN(std::vector<Binding> results,
                         Inline(graph, std::move(inputs)));
  std::vector<std::string> names;
  for (const auto& output : graph.output()) names.push_back(output.name());
  return AddResults(std::move(results), names);
}

}  // namespace ingot::onnx_frontend
