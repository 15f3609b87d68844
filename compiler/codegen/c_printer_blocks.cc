// Loads that are a transposition together, as vectors of neighbours.
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/codegen/c_printer.h"
#include "compiler/codegen/load_blocks.h"
#include "compiler/tir/visitor.h"

namespace ingot::codegen {
namespace {

using tir::As;
using tir::Expr;

// Instructions interleave the elements of two vectors of so many bits.
constexpr int kRowBits = 128;

class LoadFinder : public tir::ExprVisitor {
 public:
  explicit LoadFinder(const Expr& e) { Visit(e); }
  std::set<const tir::Load*> loads;

 protected:
  void VisitLoad(const tir::Load& node) override {
    loads.insert(&node);
    tir::ExprVisitor::VisitLoad(node);
  }
};

bool ReadsBlock(const std::set<const tir::Load*>& loads,
                const LoadBlock& block) {
  for (const auto& column : block.columns) {
    for (const tir::Load* load : column) {
      if (loads.count(load) != 0) return true;
    }
  }
  return false;
}

bool IsZero(const Expr& e) {
  if (const auto* all = As<tir::Broadcast>(e)) return IsZero(all->value);
  return tir::IsConstInt(e, 0);
}

}  // namespace

const tir::Load* CPrinter::LoadedUnder(const tir::Select& select) const {
  const auto found = loaded_.find(As<tir::Load>(select.on_true));
  const bool is_guarded = found != loaded_.end() &&
                          found->second.guard != nullptr &&
                          tir::Equal(found->second.guard, select.condition);
  return is_guarded && IsZero(select.on_false) ? found->first : nullptr;
}

std::multimap<size_t, LoadBlock> CPrinter::BlocksOf(
    absl::Span<const tir::Store* const> stores) {
  if (!uses_vectors_) return {};
  std::multimap<size_t, LoadBlock> blocks =
      FindLoadBlocks(stores, bounds_, kRowBits);
  for (const auto& [first, block] : blocks) {
    for (const auto& column : block.columns) {
      for (const tir::Load* load : column) loaded_[load] = {"", block.guard};
    }
  }
  // Those whose users would be loops over lanes stay as they are, and may make
  // loops of others.
  for (bool changes = !blocks.empty(); changes;) {
    changes = false;
    for (const tir::Store* store : stores) {
      const std::set<const tir::Load*> loads = LoadFinder(store->value).loads;
      for (auto block = blocks.begin(); block != blocks.end();) {
        const bool fits =
            HasVectorType(block->second.columns[0][0]->dtype) &&
            (!ReadsBlock(loads, block->second) || IsVectorStore(*store));
        if (fits) {
          ++block;
          continue;
        }
        for (const auto& column : block->second.columns) {
          for (const tir::Load* load : column) loaded_.erase(load);
        }
        block = blocks.erase(block);
        changes = true;
      }
    }
  }
  return blocks;
}

void CPrinter::PrintLoadBlock(const LoadBlock& block, Expr* guard,
                              std::string* rows) {
  const DataType t = block.columns[0][0]->dtype;
  const size_t count = block.columns.size();
  if (block.guard != nullptr &&
      (*guard == nullptr || !tir::Equal(*guard, block.guard))) {
    *guard = block.guard;
    *rows = Declare("rows");
    Line(absl::StrCat("uint64_t ", *rows, " = 0;"));
    ForLanes(block.rows, [&] {
      Line(absl::StrCat(*rows, " |= (uint64_t)(", Print(block.guard), ") << ",
                        lane_, ";"));
    });
  }
  const std::string name = Declare("columns");
  Line(absl::StrCat(VectorType(t), " ", name, "[", count, "];"));
  Line(absl::StrCat(
      VectorHelper(
          absl::StrCat(block.guard == nullptr ? "columns" : "rows", count), t),
      "(&", NameOf(block.buffer), "[", PrintOffset(block.base), "], ",
      Print(block.stride), ", ",
      block.guard == nullptr ? "" : absl::StrCat(*rows, ", "), name, ");"));
  for (size_t c = 0; c < count; ++c) {
    for (const tir::Load* load : block.columns[c]) {
      loaded_[load].name = absl::StrCat(name, "[", c, "]");
    }
  }
}

}  // namespace ingot::codegen
