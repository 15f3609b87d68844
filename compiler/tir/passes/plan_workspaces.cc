// Makes allocated workspaces parameters, and lets them share memory.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "compiler/tir/passes/passes.h"
#include "compiler/tir/visitor.h"

namespace ingot::tir {
namespace {

// A workspace and the statements between its first and its last use, counted
// in the order of the text.
struct Lifetime {
  Buffer buffer;
  int64_t elements = -1;  // -1 when not constant
  size_t loops = 0;       // around the allocation
  int first = -1, last = -1;

  bool Overlaps(const Lifetime& other) const {
    return first <= other.last && other.first <= last;
  }
};

class LifetimeFinder final : public StmtVisitor {
 public:
  std::vector<Lifetime> lifetimes;

  using StmtVisitor::Visit;
  void Visit(const Stmt& s) override {
    ++time_;
    StmtVisitor::Visit(s);
  }

 private:
  void VisitAllocate(const Allocate& node) override {
    if (node.buffer->scope == Scope::kWorkspace) {
      Lifetime life;
      life.buffer = node.buffer;
      life.elements = 1;
      for (const Expr& dim : node.buffer->shape) {
        int64_t extent;
        if (!AsConstInt(dim, &extent) || extent < 0 ||
            __builtin_mul_overflow(life.elements, extent, &life.elements)) {
          life.elements = -1;
          break;
        }
      }
      life.loops = loops_.size();
      // Copies of an unrolled body may allocate one buffer several times.
      auto [it, added] = index_.emplace(node.buffer.get(), lifetimes.size());
      if (added) lifetimes.push_back(std::move(life));
    }
    StmtVisitor::VisitAllocate(node);
  }

  void Use(const Buffer& buffer) {
    auto it = index_.find(buffer.get());
    if (it == index_.end()) return;
    Lifetime& life = lifetimes[it->second];
    // An iteration may read what the one before it left, so a use in a loop
    // that the buffer outlives lasts as long as the loop.
    int from = time_;
    if (loops_.size() > life.loops) {
      from = loops_[life.loops].start;
      loops_[life.loops].used.push_back(it->second);
    }
    if (life.first < 0 || from < life.first) life.first = from;
    life.last = std::max(life.last, time_);
  }

  void VisitLoad(const Load& node) override {
    Use(node.buffer);
    StmtVisitor::VisitLoad(node);
  }

  void VisitStore(const Store& node) override {
    Use(node.buffer);
    StmtVisitor::VisitStore(node);
  }

  void VisitPrefetch(const Prefetch& node) override {
    Use(node.buffer);
    StmtVisitor::VisitPrefetch(node);
  }

  void VisitCallExtern(const CallExtern& node) override {
    for (const Buffer& buffer : node.reads) Use(buffer);
    for (const Buffer& buffer : node.writes) Use(buffer);
    StmtVisitor::VisitCallExtern(node);
  }

  void VisitPart(const Part& node) override {
    // Uses of the part are uses of the whole, for as long as it has the name.
    Use(node.whole);
    StmtVisitor::VisitPart(node);
    Use(node.whole);
  }

  void VisitFor(const For& node) override {
    Visit(node.min);
    Visit(node.extent);
    loops_.push_back({time_, {}});
    Visit(node.body);
    CloseLoop();
  }

  void VisitWhile(const While& node) override {
    loops_.push_back({time_, {}});
    StmtVisitor::VisitWhile(node);
    CloseLoop();
  }

  void CloseLoop() {
    for (size_t i : loops_.back().used) {
      lifetimes[i].last = std::max(lifetimes[i].last, time_);
    }
    loops_.pop_back();
  }

  struct Loop {
    int start;
    std::vector<size_t> used;
  };
  int time_ = 0;
  std::vector<Loop> loops_;
  std::map<const BufferNode*, size_t> index_;
};

// Removes the allocations and makes buffers that share memory one.
class Rewriter final : public StmtMutator {
 public:
  // Uses of `from` become uses of the one-dimensional `to`.
  void Flatten(const Buffer& from, const Buffer& to) { flat_[from.get()] = to; }

 private:
  // Scalars are added up as scalars, as far as the vector index.
  static Expr FlatIndex(const Buffer& buffer,
                        const std::vector<Expr>& indices) {
    auto combine = [](BinaryOp op, Expr a, Expr b) {
      const int lanes = std::max(a->dtype.lanes, b->dtype.lanes);
      if (a->dtype.lanes != lanes) a = MakeBroadcast(a, lanes);
      if (b->dtype.lanes != lanes) b = MakeBroadcast(b, lanes);
      return MakeBinary(op, a, b);
    };
    Expr flat = MakeInt(0);
    for (size_t i = 0; i < indices.size(); ++i) {
      flat = combine(BinaryOp::kMul, flat, buffer->shape[i]);
      flat = combine(BinaryOp::kAdd, flat, indices[i]);
    }
    return flat;
  }

  Expr MutateLoad(const Expr& e, const Load& node) override {
    Expr same = StmtMutator::MutateLoad(e, node);
    auto it = flat_.find(node.buffer.get());
    if (it == flat_.end()) return same;
    const auto& load = static_cast<const Load&>(*same);
    return MakeLoad(it->second, {FlatIndex(node.buffer, load.indices)});
  }

  Stmt MutateStore(const Stmt& s, const Store& node) override {
    Stmt same = StmtMutator::MutateStore(s, node);
    auto it = flat_.find(node.buffer.get());
    if (it == flat_.end()) return same;
    const auto& store = static_cast<const Store&>(*same);
    return MakeStore(it->second, {FlatIndex(node.buffer, store.indices)},
                     store.value);
  }

  Stmt MutatePrefetch(const Stmt& s, const Prefetch& node) override {
    Stmt same = StmtMutator::MutatePrefetch(s, node);
    auto it = flat_.find(node.buffer.get());
    if (it == flat_.end()) return same;
    const auto& prefetch = static_cast<const Prefetch&>(*same);
    return MakePrefetch(it->second, {FlatIndex(node.buffer, prefetch.indices)},
                        node.ahead, node.bytes);
  }

  Stmt MutateCallExtern(const Stmt& s, const CallExtern& node) override {
    std::vector<Buffer> reads = node.reads, writes = node.writes;
    for (std::vector<Buffer>* list : {&reads, &writes}) {
      for (Buffer& buffer : *list) {
        auto it = flat_.find(buffer.get());
        if (it != flat_.end()) buffer = it->second;
      }
    }
    return MakeCallExtern(node.symbol, std::move(reads), std::move(writes),
                          node.scalars);
  }

  Stmt MutatePart(const Stmt& s, const Part& node) override {
    Stmt same = StmtMutator::MutatePart(s, node);
    auto it = flat_.find(node.whole.get());
    if (it == flat_.end()) return same;
    const auto& part = static_cast<const Part&>(*same);
    return MakePart(part.buffer, it->second, part.offset, part.body);
  }

  Stmt MutateAllocate(const Stmt& s, const Allocate& node) override {
    if (node.buffer->scope == Scope::kWorkspace) return Mutate(node.body);
    return StmtMutator::MutateAllocate(s, node);
  }

  std::map<const BufferNode*, Buffer> flat_;
};

}  // namespace

absl::StatusOr<PrimFunc> PlanWorkspaces(const PrimFunc& func) {
  LifetimeFinder finder;
  finder.Visit(func.body);
  if (finder.lifetimes.empty()) return func;

  // First fit, in the order of the allocations.
  std::vector<std::vector<Lifetime>> shared;
  for (Lifetime& life : finder.lifetimes) {
    if (life.first < 0) continue;  // never used
    std::vector<Lifetime>* home = nullptr;
    for (std::vector<Lifetime>& group : shared) {
      const bool fits =
          life.elements >= 0 && group[0].elements >= 0 &&
          group[0].buffer->dtype == life.buffer->dtype &&
          std::none_of(group.begin(), group.end(),
                       [&life](const Lifetime& l) { return l.Overlaps(life); });
      if (fits) {
        home = &group;
        break;
      }
    }
    if (home == nullptr) home = &shared.emplace_back();
    home->push_back(std::move(life));
  }

  PrimFunc result = func;
  Rewriter rewriter;
  for (const std::vector<Lifetime>& group : shared) {
    Buffer param = group[0].buffer;
    if (group.size() > 1) {
      int64_t elements = 0;
      for (const Lifetime& life : group) {
        elements = std::max(elements, life.elements);
      }
      param = MakeBuffer(param->name, param->dtype, {MakeInt(elements)},
                         Scope::kWorkspace);
      for (const Lifetime& life : group) rewriter.Flatten(life.buffer, param);
    }
    result.params.push_back(std::move(param));
    ++result.num_workspaces;
  }
  result.body = rewriter.Mutate(func.body);
  return result;
}

}  // namespace ingot::tir
