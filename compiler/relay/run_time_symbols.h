// Symbols that only a run gives values.
#ifndef INGOT_COMPILER_RELAY_RUN_TIME_SYMBOLS_H_
#define INGOT_COMPILER_RELAY_RUN_TIME_SYMBOLS_H_

#include "compiler/relay/ir.h"

namespace ingot::relay {

// A symbol that gets its value during a run has a name that begins with "?". It
// is there before a node uses it only if an operand of the node has it in its
// shape, or the node binds it.
//
// Returns one that `node` uses, in an attribute or in the type of a result,
// without that. Null: there is none.
const tir::Var* SymbolWithoutValue(const Node& node);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_RUN_TIME_SYMBOLS_H_
