// Loops for operators that are written by hand (te extern operations).
// Internal to compiler/relay/ops.
#ifndef INGOT_COMPILER_RELAY_OPS_LOOPS_H_
#define INGOT_COMPILER_RELAY_OPS_LOOPS_H_

#include <functional>

#include "absl/strings/string_view.h"
#include "compiler/relay/ops/common.h"
#include "compiler/tir/ir.h"

namespace ingot::relay::ops {

// for stem in [0, extent): body(stem)
tir::Stmt Loop(absl::string_view stem, const Expr& extent,
               const std::function<tir::Stmt(const Expr&)>& body);

// One serial loop a dimension, the last innermost.
tir::Stmt LoopNest(const Shape& shape, absl::string_view stem,
                   const std::function<tir::Stmt(const Indices&)>& body);

// A small buffer for MakeAllocate, private to an iteration.
tir::Buffer Scratch(absl::string_view name, DataType dtype, int64_t elements);

}  // namespace ingot::relay::ops

#endif  // INGOT_COMPILER_RELAY_OPS_LOOPS_H_
