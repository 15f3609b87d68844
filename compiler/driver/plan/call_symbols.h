#ifndef INGOT_COMPILER_DRIVER_PLAN_CALL_SYMBOLS_H_
#define INGOT_COMPILER_DRIVER_PLAN_CALL_SYMBOLS_H_

#include <map>

#include "compiler/relay/ir.h"
#include "compiler/tir/ir.h"

namespace ingot {

// The values that the symbols of a called function have in a call, by the
// operands that bind them.
std::map<const tir::Var*, tir::Expr> SymbolsOfCall(const relay::Module& module,
                                                   const relay::Node& call);

}  // namespace ingot

#endif  // INGOT_COMPILER_DRIVER_PLAN_CALL_SYMBOLS_H_
