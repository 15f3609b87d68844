#include "compiler/driver/one_row.h"

#include <algorithm>
#include <cstdint>
#include <map>
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

// A dimension where these symbols are 1.
tir::Expr OfOnes(const tir::Expr& dim,
                 const std::vector<const tir::Var*>& symbols) {
  std::map<const tir::Var*, tir::Expr> ones;
  for (const tir::Var* symbol : symbols) ones[symbol] = tir::MakeInt(1);
  return tir::Simplify(tir::Substitute(dim, ones));
}

// Whether there are values of such sizes, as there are none of n - 2 elements.
bool MayBeOnes(const te::Graph& graph,
               const std::vector<const tir::Var*>& symbols) {
  for (const auto& op : graph.operations()) {
    for (const te::Tensor& result : op->outputs) {
      for (const tir::Expr& dim : result.shape()) {
        int64_t extent;
        if (tir::AsConstInt(OfOnes(dim, symbols), &extent) && extent < 0) {
          return false;
        }
      }
    }
  }
  return true;
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
    const tir::Expr rows = RowsOf(*op);
    const std::vector<const tir::Var*> own = tir::VarsOf(rows);
    if (!tir::IsConstInt(OfOnes(rows, own), 1)) continue;
    for (const tir::Var* var : own) {
      if (std::find(symbols.begin(), symbols.end(), var) == symbols.end()) {
        symbols.push_back(var);
      }
    }
  }
  if (!MayBeOnes(graph, symbols)) return {};
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
