#include "compiler/driver/plan/call_symbols.h"

namespace ingot {

std::map<const tir::Var*, tir::Expr> SymbolsOfCall(const relay::Module& module,
                                                   const relay::Node& call) {
  std::map<const tir::Var*, tir::Expr> symbols;
  const relay::Function& callee = *module.Find(call.callee);
  // After these a call may give constants that code generation asked for.
  for (size_t i = 0; i < callee.inputs.size(); ++i) {
    const relay::Shape& taken = callee.inputs[i]->outputs[0].shape;
    const relay::Shape& given = call.inputs[i].type().shape;
    for (size_t d = 0; d < taken.size(); ++d) {
      const auto* var = tir::As<tir::Var>(taken[d]);
      if (var != nullptr) symbols.emplace(var, given[d]);
    }
  }
  return symbols;
}

}  // namespace ingot
