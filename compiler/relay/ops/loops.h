// Loops for operators that are written by hand (te extern operations).
// Internal to compiler/relay/ops.
#ifndef INGOT_COMPILER_RELAY_OPS_LOOPS_H_
#define INGOT_COMPILER_RELAY_OPS_LOOPS_H_

#include <cstdint>
#include <functional>
#include <initializer_list>

#include "absl/strings/string_view.h"
#include "compiler/relay/ops/common.h"
#include "compiler/tir/ir.h"

namespace ingot::relay::ops {

using tir::MakeIf;
using tir::MakeLoad;
using tir::MakeSeq;
using tir::MakeStore;
using tir::Stmt;

// for stem in [0, extent): body(stem)
Stmt Loop(absl::string_view stem, const Expr& extent,
          const std::function<Stmt(const Expr&)>& body,
          tir::ForKind kind = tir::ForKind::kSerial);

// One serial loop a dimension, the last innermost.
Stmt LoopNest(const Shape& shape, absl::string_view stem,
              const std::function<Stmt(const Indices&)>& body);

// A small buffer for MakeAllocate, private to an iteration.
tir::Buffer Scratch(absl::string_view name, DataType dtype, int64_t elements);

// One number in a kernel, which statements change.
class Cell {
 public:
  Cell(absl::string_view name, DataType dtype)
      : buffer_(Scratch(name, dtype, 1)) {}

  Expr value() const;
  Stmt Set(const Expr& value) const;
  Stmt Set(int64_t value) const;
  Stmt Increment() const;
  const tir::Buffer& buffer() const { return buffer_; }

 private:
  tir::Buffer buffer_;
};

// `body` with these cells, all 0 at first.
Stmt WithCells(std::initializer_list<const Cell*> cells, Stmt body);

}  // namespace ingot::relay::ops

#endif  // INGOT_COMPILER_RELAY_OPS_LOOPS_H_
