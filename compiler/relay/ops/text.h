// What operators on text share. A tensor of strings is one of bytes with one
// dimension more: the UTF-8 bytes of each string, with zeros behind it up to
// the length of the longest. A string cannot end in a zero byte. Internal to
// compiler/relay/ops.
#ifndef INGOT_COMPILER_RELAY_OPS_TEXT_H_
#define INGOT_COMPILER_RELAY_OPS_TEXT_H_

#include <cstdint>
#include <initializer_list>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "compiler/relay/ops/common.h"
#include "compiler/tir/ir.h"

namespace ingot::relay::ops {

absl::Status ExpectText(const TensorType& type, absl::string_view what);

Expr U8(int value);

// Byte `at` of the string of t at `i`; 0 beyond its end and before its start.
Expr ByteAt(const te::Tensor& t, Indices i, const Expr& at);

// One number in a kernel, which statements change.
class Cell {
 public:
  Cell(absl::string_view name, DataType dtype);
  Expr value() const;
  tir::Stmt Set(const Expr& value) const;
  tir::Stmt Set(int64_t value) const;
  const tir::Buffer& buffer() const { return buffer_; }

 private:
  tir::Buffer buffer_;
};

// `body` with the cells, 0 at first.
tir::Stmt WithCells(std::initializer_list<const Cell*> cells, tir::Stmt body);

}  // namespace ingot::relay::ops

#endif  // INGOT_COMPILER_RELAY_OPS_TEXT_H_
