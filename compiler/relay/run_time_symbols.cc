#include "compiler/relay/run_time_symbols.h"

#include <set>
#include <variant>

#include "compiler/tir/visitor.h"

namespace ingot::relay {
namespace {

class RunTimeSymbols final : public tir::ExprVisitor {
 public:
  using tir::ExprVisitor::Visit;
  std::set<const tir::Var*> found;

  void VisitShape(const Shape& shape) {
    for (const Dim& dim : shape) Visit(dim);
  }

 protected:
  void VisitVar(const tir::Var& var) override {
    if (!var.name.empty() && var.name[0] == '?') found.insert(&var);
  }
};

}  // namespace

const tir::Var* SymbolWithoutValue(const Node& node) {
  RunTimeSymbols used, given;
  for (const auto& [name, value] : node.attrs.values()) {
    if (const auto* shape = std::get_if<Shape>(&value)) used.VisitShape(*shape);
  }
  for (const TensorType& type : node.outputs) {
    used.VisitShape(type.shape);
    if (!node.BindsResults()) continue;
    // A symbol that is a dimension of a result by itself is bound from the
    // result.
    for (const Dim& dim : type.shape) {
      if (tir::As<tir::Var>(dim) != nullptr) given.Visit(dim);
    }
  }
  if (used.found.empty()) return nullptr;
  for (const Value& input : node.inputs) {
    if (input.node != nullptr) given.VisitShape(input.type().shape);
  }
  for (const tir::Var* var : used.found) {
    if (given.found.count(var) == 0) return var;
  }
  return nullptr;
}

}  // namespace ingot::relay
