#include "compiler/tir/run_facts.h"

#include "compiler/tir/visitor.h"

namespace ingot::tir {
namespace {

class FailureFinder final : public ExprVisitor {
 public:
  bool found = false;

 private:
  void VisitLoad(const Load& node) override { found = true; }
  void VisitBinary(const Binary& node) override {
    found |= MayBeUndefined(node);
    ExprVisitor::VisitBinary(node);
  }
};

class BlockFinder final : public StmtVisitor {
 public:
  bool found = false;

 private:
  void VisitFor(const For& node) override {
    found |= node.for_kind == ForKind::kBlock;
    StmtVisitor::VisitFor(node);
  }
};

}  // namespace

bool MayBeUndefined(const Binary& node) {
  switch (node.op) {
    case BinaryOp::kDiv:
    case BinaryOp::kMod:
    case BinaryOp::kFloorDiv:
    case BinaryOp::kFloorMod: {
      if (node.dtype.is_float()) return false;
      const auto* wide = As<Broadcast>(node.b);
      int64_t divisor;
      return !AsConstInt(wide != nullptr ? wide->value : node.b, &divisor) ||
             divisor == 0 || divisor == -1;
    }
    case BinaryOp::kShl:
    case BinaryOp::kShr:
      return true;
    default:
      return false;
  }
}

bool CanFail(const Expr& e) {
  FailureFinder finder;
  finder.Visit(e);
  return finder.found;
}

bool HasBlocks(const Stmt& s) {
  BlockFinder blocks;
  blocks.Visit(s);
  return blocks.found;
}

}  // namespace ingot::tir
