#include "compiler/tir/count_operations.h"

#include <algorithm>

#include "compiler/tir/visitor.h"

namespace ingot::tir {
namespace {

// How often a loop runs at most: its extent, or the constant in a minimum, as
// loops have over parts of which the last may be smaller; -1: not known.
int64_t MostRuns(const Expr& extent) {
  if (const auto* number = As<IntImm>(extent)) return number->value;
  const auto* binary = As<Binary>(extent);
  if (binary == nullptr || binary->op != BinaryOp::kMin) return -1;
  return std::max(MostRuns(binary->a), MostRuns(binary->b));
}

class Counter final : public StmtVisitor {
 public:
  using StmtVisitor::Visit;

  bool known() const { return known_; }
  double count() const { return count_; }

 protected:
  void VisitFor(const For& node) override {
    const int64_t most = MostRuns(node.extent);
    const double outer = runs_, before = count_;
    // How often a loop runs that only copies does not matter.
    runs_ *= static_cast<double>(most < 0 ? 1 : most);
    Visit(node.body);
    if (most < 0 && count_ > before) known_ = false;
    runs_ = outer;
  }

  void VisitWhile(const While&) override { known_ = false; }
  void VisitCallExtern(const CallExtern&) override { known_ = false; }
  void VisitEvaluate(const Evaluate&) override {}
  void VisitAssert(const Assert&) override {}
  void VisitPrefetch(const Prefetch&) override {}

  void VisitIfThenElse(const IfThenElse& node) override {
    const double before = count_;
    Visit(node.then_body);
    if (node.else_body == nullptr) return;
    const double after = count_;
    count_ = before;
    Visit(node.else_body);
    count_ = std::max(count_, after);
  }

  void VisitStore(const Store& node) override { Visit(node.value); }

  // Integers of 64 bits with a name are places in memory.
  void VisitLetStmt(const LetStmt& node) override {
    if (node.value->dtype.bits != 64 || node.value->dtype.is_float()) {
      Visit(node.value);
    }
    Visit(node.body);
  }

  void VisitLoad(const Load&) override {}

  void VisitBinary(const Binary& node) override {
    const bool is_arithmetic = node.op <= BinaryOp::kMax;
    if (is_arithmetic) Count(1, node.dtype);
    StmtVisitor::VisitBinary(node);
  }

  void VisitCall(const Call& node) override {
    const int each = node.intrinsic == Intrinsic::kMulAdd ? 2
                     : node.intrinsic == Intrinsic::kDot4 ? 8
                     : node.intrinsic == Intrinsic::kDot2 ? 4
                                                          : 1;
    Count(each, node.dtype);
    StmtVisitor::VisitCall(node);
  }

 private:
  void Count(int each, DataType type) { count_ += runs_ * each * type.lanes; }

  double runs_ = 1;  // of the statement that is visited
  double count_ = 0;
  bool known_ = true;
};

}  // namespace

std::optional<uint64_t> CountOperations(const PrimFunc& func) {
  constexpr double kMost = 1e18;
  Counter counter;
  counter.Visit(func.body);
  if (!counter.known() || counter.count() > kMost) return std::nullopt;
  return static_cast<uint64_t>(counter.count());
}

}  // namespace ingot::tir
