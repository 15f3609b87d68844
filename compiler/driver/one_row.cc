#include "compiler/driver/one_row.h"

#include <algorithm>
#include <string>

#include "absl/strings/string_view.h"
#include "compiler/te/tags.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/visitor.h"

namespace ingot {
namespace {

// How many axes of a product come after its rows; 0: it is no product.
size_t AxesAfterRows(const te::Operation& op) {
  const auto it = op.tags.find(te::kAnchor);
  const absl::string_view anchor =
      it == op.tags.end() ? absl::string_view() : it->second;
  if (anchor == te::kDenseBits || anchor == te::kDenseGroups) return 2;
  const bool is_product = anchor == te::kMatmul || anchor == te::kDensePacked ||
                          anchor == te::kDenseWords;
  return is_product ? 1 : 0;
}

// The rows of a product, or where that is one element, what is before it.
tir::Expr RowsOf(const te::Operation& op) {
  const std::vector<tir::Expr>& shape = op.outputs[0].shape();
  const size_t after = AxesAfterRows(op);
  tir::Expr rows = tir::MakeInt(1);
  if (after == 0) return rows;
  for (size_t i = shape.size() - after; i > 0; --i) {
    rows = shape[i - 1];
    if (!tir::IsConstInt(rows, 1)) break;
  }
  return rows;
}

// Puts the parameters of one function in the place of another one's.
class Renamer final : public tir::StmtMutator {
 public:
  void Rename(const tir::Buffer& from, const tir::Buffer& to) {
    ReplaceBuffer(from, to);
  }
};

// The dimension that is the symbol.
tir::Expr AsDimension(const tir::Var* symbol, const tir::PrimFunc& func) {
  for (const tir::Buffer& buffer : func.params) {
    for (const tir::Expr& dim : buffer->shape) {
      if (dim.get() == symbol) return dim;
    }
  }
  return nullptr;
}

}  // namespace

std::vector<const tir::Var*> RowSymbols(const te::Graph& graph) {
  std::vector<const tir::Var*> symbols;
  for (const auto& op : graph.operations()) {
    for (const tir::Var* var : tir::VarsOf(RowsOf(*op))) {
      if (std::find(symbols.begin(), symbols.end(), var) == symbols.end()) {
        symbols.push_back(var);
      }
    }
  }
  return symbols;
}

tir::PrimFunc ChooseByRows(const std::vector<const tir::Var*>& symbols,
                           const tir::PrimFunc& one, const tir::PrimFunc& any) {
  tir::Expr is_one = tir::MakeBool(true);
  for (const tir::Var* symbol : symbols) {
    const tir::Expr dim = AsDimension(symbol, any);
    if (dim == nullptr) return any;
    is_one = tir::And(is_one, tir::Eq(dim, tir::MakeInt(1)));
  }
  tir::PrimFunc both = any;
  Renamer renamer;
  const size_t shared = any.params.size() - any.num_workspaces;
  for (size_t i = 0; i < one.params.size(); ++i) {
    if (i < shared) {
      renamer.Rename(one.params[i], any.params[i]);
    } else {
      both.params.push_back(one.params[i]);
      ++both.num_workspaces;
    }
  }
  both.body = tir::MakeIf(is_one, renamer.Mutate(one.body), any.body);
  return both;
}

}  // namespace ingot
