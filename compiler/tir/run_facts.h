// Facts that the interpreter must know of code before it runs. Private to this
// folder.
#ifndef INGOT_COMPILER_TIR_RUN_FACTS_H_
#define INGOT_COMPILER_TIR_RUN_FACTS_H_

#include "compiler/tir/ir.h"

namespace ingot::tir {

// Whether some operands have no result: division by zero, a wide shift.
bool MayBeUndefined(const Binary& node);

// Whether evaluating it may fail: it loads, or may be undefined.
bool CanFail(const Expr& e);

// Whether there is a block loop.
bool HasBlocks(const Stmt& s);

}  // namespace ingot::tir

#endif  // INGOT_COMPILER_TIR_RUN_FACTS_H_
