// Stores that follow one another: what their places have in common has a name,
// and loads that are a transposition together are vectors of neighbours.
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/codegen/c_printer.h"
#include "compiler/codegen/load_blocks.h"
#include "compiler/codegen/shared_offsets.h"
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
  const auto* number = As<tir::FloatImm>(e);
  return number != nullptr ? number->value == 0 && !std::signbit(number->value)
                           : tir::IsConstInt(e, 0);
}

}  // namespace

// The text of the stores comes first, as it tells which of the names are used.
void CPrinter::PrintStores(absl::Span<const tir::Store* const> given) {
  if (given.empty()) return;
  const std::vector<tir::Stmt> slices = SlicesOf(given);
  std::vector<const tir::Store*> stores;
  for (const tir::Stmt& s : slices) stores.push_back(As<tir::Store>(s));
  std::vector<std::string> values;
  if (stores.size() > 1) {
    for (tir::Affine& shared : SharedOffsets(stores, bounds_)) {
      values.push_back(Print(shared.ToExpr()));
      offsets_.push_back({std::move(shared), Declare("at"), false});
    }
  }
  std::string before = std::move(text_);
  text_.clear();
  PrintEach(stores);
  const std::string text = std::move(text_);
  text_ = std::move(before);
  for (size_t i = 0; i < offsets_.size(); ++i) {
    if (!offsets_[i].is_used) continue;
    const std::string value =
        uses_vectors_
            ? absl::StrCat(Helper("ingot_opaque_i64"), "(", values[i], ")")
            : values[i];
    Line(absl::StrCat("const int64_t ", offsets_[i].name, " = ", value, ";"));
  }
  text_ += text;
  loaded_.clear();
  offsets_.clear();
}

void CPrinter::PrintEach(absl::Span<const tir::Store* const> stores) {
  const std::multimap<size_t, LoadBlock> blocks = BlocksOf(stores);
  Expr guard;
  std::string rows;
  auto next = blocks.begin();
  for (size_t i = 0; i < stores.size(); ++i) {
    const size_t first = i;
    const bool turns =
        i + 1 < stores.size() && TakeTurns(*stores[i], *stores[i + 1]);
    if (turns) ++i;
    for (; next != blocks.end() && next->first <= i; ++next) {
      PrintLoadBlock(next->second, &guard, &rows);
    }
    if (turns) {
      PrintTurns(*stores[first], *stores[i]);
    } else {
      PrintStore(*stores[i]);
    }
  }
}

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
