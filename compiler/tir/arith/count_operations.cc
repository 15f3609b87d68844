#include "compiler/tir/arith/count_operations.h"

#include <algorithm>
#include <map>

#include "compiler/tir/arith/affine.h"
#include "compiler/tir/arith/interval.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/visitor.h"

namespace ingot::tir {
namespace {

class Counter final : public StmtVisitor {
 public:
  using StmtVisitor::Visit;

  bool known() const { return known_; }
  double count() const { return count_; }

 protected:
  void VisitFor(const For& node) override {
    const auto extent = RangeOf(ToAffine(node.extent));
    const double outer = runs_, before = count_;
    // How often a loop runs that only copies does not matter.
    runs_ *=
        static_cast<double>(extent ? std::max<int64_t>(extent->max, 0) : 1);
    const auto min = RangeOf(ToAffine(node.min));
    if (extent && min) {
      ranges_[node.var.get()] = {
          min->min, min->max + std::max<int64_t>(extent->max, 1) - 1};
    }
    Visit(node.body);
    if (!extent && count_ > before) known_ = false;
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
  // The values that it takes, as far as loops' variables are apart from each
  // other; nothing where that depends on more than these and constants.
  std::optional<Interval> RangeOf(const Affine& a) const {
    Interval range = Interval::Point(a.constant);
    for (const Term& term : a.terms) {
      if (term.factors.size() != 1) return std::nullopt;
      const Expr& factor = term.factors[0];
      const auto* binary = As<Binary>(factor);
      if (binary != nullptr &&
          (binary->op == BinaryOp::kMin || binary->op == BinaryOp::kMax)) {
        return RangeOfChoice(a, factor, *binary, term.coefficient);
      }
      const auto known = ranges_.find(As<Var>(factor));
      if (known == ranges_.end()) return std::nullopt;
      range = range + known->second * Interval::Point(term.coefficient);
    }
    return range;
  }

  // The sum with each of two numbers in place of the smaller or larger one.
  std::optional<Interval> RangeOfChoice(const Affine& sum, const Expr& choice,
                                        const Binary& of,
                                        int64_t coefficient) const {
    Affine rest = sum;
    rest.Add(Affine::Atom(choice), -coefficient);
    Affine with_a = rest, with_b = rest;
    with_a.Add(ToAffine(of.a), coefficient);
    with_b.Add(ToAffine(of.b), coefficient);
    const auto a = RangeOf(with_a), b = RangeOf(with_b);
    const bool larger = (of.op == BinaryOp::kMax) == (coefficient > 0);
    // The smaller of two is no more than the one that is known.
    if (!larger && (a || b) && !(a && b)) return a ? a : b;
    if (!a || !b) return std::nullopt;
    return larger
               ? Interval{std::max(a->min, b->min), std::max(a->max, b->max)}
               : Interval{std::min(a->min, b->min), std::min(a->max, b->max)};
  }

  void Count(int each, DataType type) { count_ += runs_ * each * type.lanes; }

  std::map<const Var*, Interval> ranges_;  // of loops
  double runs_ = 1;                        // of the statement that is visited
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
