#include "compiler/codegen/load_blocks.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "compiler/codegen/access.h"
#include "compiler/tir/visitor.h"

namespace ingot::codegen {
namespace {

using tir::As;

struct Column {
  std::vector<const tir::Load*> loads;
  tir::Expr base;
  size_t first_store;
};

// Loads of one buffer whose offsets differ by constants.
struct Family {
  const tir::BufferNode* buffer;
  tir::Affine base;  // without its constant
  tir::Affine stride;
  tir::Expr stride_expr;
  int rows;
  tir::Expr guard;
  std::map<int64_t, Column> columns;  // by the constant
};

bool IsPowerOf2(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

// Whether the elements are neighbours, which indices tell sooner than an
// offset.
bool LooksContiguous(const tir::Load& load) {
  for (size_t i = 0; i + 1 < load.indices.size(); ++i) {
    if (load.indices[i]->dtype.lanes > 1) return false;
  }
  const auto* ramp = As<tir::Ramp>(load.indices.back());
  return ramp != nullptr && tir::IsConstInt(ramp->stride, 1);
}

// Whether so few elements lie between those of a load that it is better to load
// all of them.
bool IsFew(const tir::Expr& stride) {
  int64_t constant;
  return tir::AsConstInt(stride, &constant) && constant > -4 && constant < 4;
}

// Collects the loads of one store after the other.
class FamilyFinder final : public tir::ExprVisitor {
 public:
  FamilyFinder(std::set<const tir::BufferNode*> stored,
               const tir::Bounds& bounds)
      : stored_(std::move(stored)), bounds_(bounds) {}

  void VisitStore(const tir::Store& store, size_t number) {
    store_ = number;
    Visit(store.value);
  }

  std::vector<Family> families;

 protected:
  void VisitSelect(const tir::Select& select) override {
    Visit(select.condition);
    guards_.push_back(select.condition);
    Visit(select.on_true);
    guards_.back() = nullptr;
    Visit(select.on_false);
    guards_.pop_back();
  }

  void VisitLoad(const tir::Load& load) override {
    ExprVisitor::VisitLoad(load);
    if (!IsPowerOf2(load.dtype.lanes) || load.dtype.lanes == 1 ||
        IsStoredTo(*load.buffer) || LooksContiguous(load)) {
      return;
    }
    const Access access = AnalyzeAccess(*load.buffer, load.indices, &bounds_);
    if (!access.is_ramp() || IsFew(access.stride) ||
        tir::HasLoad(access.base) || tir::HasLoad(access.stride)) {
      return;
    }
    if (guards_.empty() || InBounds(*load.buffer, load.indices, bounds_)) {
      Add(load, access, nullptr);
    } else if (guards_.size() == 1 && guards_[0] != nullptr &&
               !tir::HasLoad(guards_[0])) {
      Add(load, access, guards_[0]);
    }
  }

 private:
  // Whether the stores may change it: a part is another buffer's memory.
  bool IsStoredTo(const tir::BufferNode& buffer) const {
    const auto is_part = [](const tir::BufferNode* b) {
      return b->scope == tir::Scope::kPart;
    };
    return stored_.count(&buffer) > 0 || is_part(&buffer) ||
           std::any_of(stored_.begin(), stored_.end(), is_part);
  }

  void Add(const tir::Load& load, const Access& access,
           const tir::Expr& guard) {
    tir::Affine base = tir::ToAffine(access.base);
    const int64_t place = base.constant;
    base.constant = 0;
    const tir::Affine stride = tir::ToAffine(access.stride);
    auto family =
        std::find_if(families.begin(), families.end(), [&](const Family& f) {
          return f.buffer == load.buffer.get() && f.rows == load.dtype.lanes &&
                 f.base == base && f.stride == stride &&
                 (f.guard == guard || (f.guard != nullptr && guard != nullptr &&
                                       tir::Equal(f.guard, guard)));
        });
    if (family == families.end()) {
      families.push_back({load.buffer.get(),
                          base,
                          stride,
                          access.stride,
                          load.dtype.lanes,
                          guard,
                          {}});
      family = families.end() - 1;
    }
    Column& column = family->columns[place];
    if (column.loads.empty()) {
      column.base = access.base;
      column.first_store = store_;
    }
    column.loads.push_back(&load);
  }

  const std::set<const tir::BufferNode*> stored_;
  const tir::Bounds& bounds_;
  size_t store_ = 0;
  // The conditions of the Selects around; null: one does not hold.
  std::vector<tir::Expr> guards_;
};

// Appends the blocks of a family's columns from `first` to before `last`, which
// are neighbours.
void CutIntoBlocks(const Family& family,
                   std::map<int64_t, Column>::const_iterator first,
                   int64_t count, int64_t most_columns,
                   std::multimap<size_t, LoadBlock>* blocks) {
  for (int64_t size = most_columns; size >= 2; size /= 2) {
    for (; count >= size; count -= size) {
      LoadBlock block = {family.buffer, first->second.base, family.stride_expr,
                         family.rows,   family.guard,       {}};
      size_t first_store = first->second.first_store;
      for (int64_t i = 0; i < size; ++i, ++first) {
        block.columns.push_back(first->second.loads);
        first_store = std::min(first_store, first->second.first_store);
      }
      blocks->emplace(first_store, std::move(block));
    }
  }
}

}  // namespace

std::multimap<size_t, LoadBlock> FindLoadBlocks(
    absl::Span<const tir::Store* const> stores, const tir::Bounds& bounds,
    int most_row_bits) {
  std::set<const tir::BufferNode*> stored;
  for (const tir::Store* store : stores) stored.insert(store->buffer.get());
  FamilyFinder finder(std::move(stored), bounds);
  for (size_t i = 0; i < stores.size(); ++i) finder.VisitStore(*stores[i], i);
  std::multimap<size_t, LoadBlock> blocks;
  for (const Family& family : finder.families) {
    const int64_t most = std::min<int64_t>(
        family.rows, most_row_bits / (family.buffer->dtype.bytes() * 8));
    auto first = family.columns.begin();
    while (first != family.columns.end()) {
      int64_t count = 0;
      auto last = first;
      while (last != family.columns.end() &&
             last->first == first->first + count) {
        ++last;
        ++count;
      }
      CutIntoBlocks(family, first, count, most, &blocks);
      first = last;
    }
  }
  return blocks;
}

}  // namespace ingot::codegen
