#include "compiler/codegen/device_blocks.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "compiler/tir/visitor.h"

namespace ingot::codegen {
namespace {

using tir::As;
using tir::Scope;

// Gives each work item its own part of registers, the last half of their
// dimensions, and shared memory a place for the whole of a block: some
// languages know no other.
class ItemsView final : public tir::StmtMutator {
 public:
  using StmtMutator::Mutate;

  tir::Stmt Run(const tir::Stmt& body) {
    tir::Stmt result = Mutate(body);
    for (const tir::Buffer& buffer : shared_) {
      result = tir::MakeAllocate(buffer, result);
    }
    return result;
  }

 private:
  tir::Stmt MutateAllocate(const tir::Stmt& s,
                           const tir::Allocate& node) override {
    const tir::BufferNode& all = *node.buffer;
    if (all.scope == Scope::kShared) {
      shared_.push_back(node.buffer);
      return Mutate(node.body);
    }
    if (all.scope != Scope::kRegisters) {
      return StmtMutator::MutateAllocate(s, node);
    }
    const tir::Buffer own = tir::MakeBuffer(
        all.name, all.dtype,
        {all.shape.begin() + all.shape.size() / 2, all.shape.end()},
        Scope::kStack);
    own_[node.buffer.get()] = own;
    return tir::MakeAllocate(own, Mutate(node.body));
  }

  tir::Expr MutateLoad(const tir::Expr& e, const tir::Load& node) override {
    const auto own = own_.find(node.buffer.get());
    if (own == own_.end()) return StmtMutator::MutateLoad(e, node);
    return tir::MakeLoad(own->second, OwnIndices(node.indices));
  }

  tir::Stmt MutateStore(const tir::Stmt& s, const tir::Store& node) override {
    const auto own = own_.find(node.buffer.get());
    if (own == own_.end()) return StmtMutator::MutateStore(s, node);
    return tir::MakeStore(own->second, OwnIndices(node.indices),
                          Mutate(node.value));
  }

  std::vector<tir::Expr> OwnIndices(const std::vector<tir::Expr>& all) {
    std::vector<tir::Expr> own;
    for (size_t i = all.size() / 2; i < all.size(); ++i) {
      own.push_back(Mutate(all[i]));
    }
    return own;
  }

  std::map<const tir::BufferNode*, tir::Buffer> own_;
  std::vector<tir::Buffer> shared_;
};

// Whether other work items see what a thread loop does, or it what they did.
class SharedUse final : public tir::StmtVisitor {
 public:
  bool found = false;

 private:
  void VisitLoad(const tir::Load& node) override {
    found |= node.buffer->scope == Scope::kShared;
    StmtVisitor::VisitLoad(node);
  }
  void VisitStore(const tir::Store& node) override {
    found |= node.buffer->scope != Scope::kStack;
    StmtVisitor::VisitStore(node);
  }
};

// Looks at the thread loops of a block.
class ThreadLoops final : public tir::StmtVisitor {
 public:
  int64_t items = 1;
  std::set<const tir::For*> barriers;
  const tir::For* last = nullptr;  // what follows no other, ever

 private:
  void VisitFor(const tir::For& node) override {
    if (node.for_kind != tir::ForKind::kThread) {
      const bool outer = repeats_;
      repeats_ = true;
      StmtVisitor::VisitFor(node);
      repeats_ = outer;
      return;
    }
    int64_t extent = 1;
    tir::AsConstInt(node.extent, &extent);
    items = std::max(items, extent);
    SharedUse use;
    use.Visit(node.body);
    if (use.found) barriers.insert(&node);
    last = repeats_ ? nullptr : &node;
  }

  void VisitWhile(const tir::While& node) override {
    const bool outer = repeats_;
    repeats_ = true;
    StmtVisitor::VisitWhile(node);
    repeats_ = outer;
  }

  bool repeats_ = false;
};

}  // namespace

BlockOfItems SplitBlock(const tir::For& block) {
  BlockOfItems result;
  result.loop = tir::MakeFor(block.var, block.min, block.extent, block.for_kind,
                             ItemsView().Run(block.body));
  ThreadLoops threads;
  threads.Visit(As<tir::For>(result.loop)->body);
  result.items = threads.items;
  result.barriers = std::move(threads.barriers);
  result.barriers.erase(threads.last);
  return result;
}

}  // namespace ingot::codegen
