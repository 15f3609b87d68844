#include "compiler/codegen/captures.h"

#include <set>

#include "compiler/tir/visitor.h"

namespace ingot::codegen {
namespace {

class CaptureFinder : public tir::StmtVisitor {
 public:
  Captures Find(const tir::For& loop) {
    Visit(loop.min);
    defined_vars_.insert(loop.var.get());
    Visit(loop.body);
    return std::move(captures_);
  }
  Captures Find(const tir::Stmt& s) {
    Visit(s);
    return std::move(captures_);
  }

 protected:
  void VisitVar(const tir::Var& var) override {
    if (defined_vars_.count(&var) == 0 && seen_vars_.insert(&var).second) {
      captures_.vars.push_back(&var);
    }
  }
  void VisitLoad(const tir::Load& load) override {
    Use(*load.buffer);
    StmtVisitor::VisitLoad(load);
  }
  void VisitStore(const tir::Store& store) override {
    Use(*store.buffer);
    StmtVisitor::VisitStore(store);
  }
  void VisitPrefetch(const tir::Prefetch& prefetch) override {
    Use(*prefetch.buffer);
    StmtVisitor::VisitPrefetch(prefetch);
  }
  void VisitCallExtern(const tir::CallExtern& call) override {
    for (const auto* list : {&call.reads, &call.writes}) {
      for (const tir::Buffer& buffer : *list) Use(*buffer);
    }
    StmtVisitor::VisitCallExtern(call);
  }
  void VisitFor(const tir::For& loop) override {
    Visit(loop.min);
    Visit(loop.extent);
    defined_vars_.insert(loop.var.get());
    Visit(loop.body);
  }
  void VisitLetStmt(const tir::LetStmt& let) override {
    Visit(let.value);
    defined_vars_.insert(let.var.get());
    Visit(let.body);
  }
  void VisitAllocate(const tir::Allocate& allocate) override {
    defined_buffers_.insert(allocate.buffer.get());
    StmtVisitor::VisitAllocate(allocate);
  }
  void VisitPart(const tir::Part& part) override {
    Use(*part.whole);
    defined_buffers_.insert(part.buffer.get());
    StmtVisitor::VisitPart(part);
  }

 private:
  void Use(const tir::BufferNode& buffer) {
    if (defined_buffers_.count(&buffer) != 0) return;
    if (!seen_buffers_.insert(&buffer).second) return;
    captures_.buffers.push_back(&buffer);
    for (const tir::Expr& dim : buffer.shape) Visit(dim);
  }

  Captures captures_;
  std::set<const tir::Var*> defined_vars_, seen_vars_;
  std::set<const tir::BufferNode*> defined_buffers_, seen_buffers_;
};

class ParallelFinder : public tir::StmtVisitor {
 public:
  bool found = false;

 protected:
  void VisitFor(const tir::For& loop) override {
    found |= loop.for_kind == tir::ForKind::kParallel ||
             loop.for_kind == tir::ForKind::kBlock;
    StmtVisitor::VisitFor(loop);
  }
};

}  // namespace

Captures FindCaptures(const tir::For& loop) {
  return CaptureFinder().Find(loop);
}

Captures FindCaptures(const tir::Stmt& s) { return CaptureFinder().Find(s); }

bool HasParallelLoop(const tir::Stmt& s) {
  ParallelFinder finder;
  finder.Visit(s);
  return finder.found;
}

}  // namespace ingot::codegen
