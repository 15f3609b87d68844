#include "compiler/relay/ops/loops.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace ingot::relay::ops {

tir::Stmt Loop(absl::string_view stem, const Expr& extent,
               const std::function<tir::Stmt(const Expr&)>& body,
               tir::ForKind kind) {
  const tir::VarPtr var = tir::MakeVar(stem);
  return tir::MakeFor(var, I64(0), extent, kind, body(var));
}

tir::Stmt LoopNest(const Shape& shape, absl::string_view stem,
                   const std::function<tir::Stmt(const Indices&)>& body) {
  std::vector<tir::VarPtr> vars;
  Indices indices;
  for (size_t d = 0; d < shape.size(); ++d) {
    vars.push_back(tir::MakeVar(absl::StrCat(stem, d)));
    indices.push_back(vars.back());
  }
  tir::Stmt nest = body(indices);
  for (size_t d = shape.size(); d-- > 0;) {
    nest = tir::MakeFor(vars[d], I64(0), shape[d], tir::ForKind::kSerial, nest);
  }
  return nest;
}

tir::Buffer Scratch(absl::string_view name, DataType dtype, int64_t elements) {
  return tir::MakeBuffer(name, dtype, {I64(elements)}, tir::Scope::kStack);
}

Expr Cell::value() const { return tir::MakeLoad(buffer_, {I64(0)}); }

tir::Stmt Cell::Set(const Expr& value) const {
  return tir::MakeStore(buffer_, {I64(0)}, value);
}

tir::Stmt Cell::Set(int64_t value) const {
  return Set(tir::MakeConst(buffer_->dtype, static_cast<double>(value)));
}

tir::Stmt Cell::Increment() const { return Set(value() + 1); }

tir::Stmt WithCells(std::initializer_list<const Cell*> cells, tir::Stmt body) {
  for (const Cell* cell : cells) {
    body = tir::MakeAllocate(cell->buffer(),
                             tir::MakeSeq({cell->Set(0), std::move(body)}));
  }
  return body;
}

}  // namespace ingot::relay::ops
