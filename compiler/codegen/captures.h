// The variables that the body of a parallel loop needs from the function around
// it.
#ifndef INGOT_COMPILER_CODEGEN_CAPTURES_H_
#define INGOT_COMPILER_CODEGEN_CAPTURES_H_

#include <vector>

#include "compiler/tir/ir.h"

namespace ingot::codegen {

// Each once, in order of first use, so that generated code is the same every
// time. The nodes live as long as the loop does.
struct Captures {
  std::vector<const tir::BufferNode*> buffers;
  std::vector<const tir::Var*> vars;
};

// The buffers and variables that `loop`'s body uses and that are defined
// outside of it. The loop's own variable is not among them, its `min` is, if
// that is no constant; a buffer brings the variables of its shape.
Captures FindCaptures(const tir::For& loop);

// The same of a statement.
Captures FindCaptures(const tir::Stmt& s);

// Whether the statement has a parallel loop in it.
bool HasParallelLoop(const tir::Stmt& s);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_CAPTURES_H_
