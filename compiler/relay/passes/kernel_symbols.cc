#include "compiler/relay/passes/kernel_symbols.h"

#include <variant>

#include "absl/strings/str_cat.h"
#include "compiler/tir/visitor.h"

namespace ingot::relay {

namespace {

// Those in types and attributes.
std::set<const tir::Var*> SymbolsOf(const Function& kernel,
                                    const Node* without) {
  std::set<const tir::Var*> symbols;
  const auto add = [&symbols](const Shape& shape) {
    for (const Dim& dim : shape) {
      for (const tir::Var* var : tir::VarsOf(dim)) symbols.insert(var);
    }
  };
  for (const auto& node : kernel.nodes()) {
    if (node.get() == without) continue;
    for (const TensorType& type : node->outputs) add(type.shape);
    for (const auto& [name, value] : node->attrs.values()) {
      if (const auto* shape = std::get_if<Shape>(&value)) add(*shape);
    }
  }
  return symbols;
}

}  // namespace

bool ReadsSymbols(const Function& kernel, const Node* without) {
  std::set<const tir::Var*> symbols = SymbolsOf(kernel, without);
  for (const Node* input : kernel.inputs) {
    if (input == without) continue;
    for (const Dim& dim : input->outputs[0].shape) {
      if (const auto* var = tir::As<tir::Var>(dim)) symbols.erase(var);
    }
  }
  return symbols.empty();
}

SymbolMaker::SymbolMaker(const Function& kernel) {
  for (const tir::Var* var : SymbolsOf(kernel, nullptr)) {
    taken_.insert(var->name);
  }
}

tir::VarPtr SymbolMaker::Make(absl::string_view name) {
  std::string unused(name);
  for (int i = 1; !taken_.insert(unused).second; ++i) {
    unused = absl::StrCat(name, "_", i);
  }
  return tir::MakeVar(unused);
}

std::set<const Node*> InputsNotRead(const Function& kernel) {
  std::set<const Node*> inputs(kernel.inputs.begin(), kernel.inputs.end());
  for (const auto& node : kernel.nodes()) {
    for (const Value& input : node->inputs) inputs.erase(input.node);
  }
  for (const Value& output : kernel.outputs) inputs.erase(output.node);
  return inputs;
}

}  // namespace ingot::relay
