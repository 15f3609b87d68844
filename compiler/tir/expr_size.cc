#include "compiler/tir/expr_size.h"

#include <algorithm>

#include "compiler/tir/visitor.h"

namespace ingot::tir {
namespace {

class Counter : public ExprVisitor {
 public:
  explicit Counter(int limit) : limit_(limit) {}
  void Visit(const Expr& e) override {
    if (count_ > limit_) return;
    ++count_;
    ExprVisitor::Visit(e);
  }
  int count() const { return count_; }

 private:
  const int limit_;
  int count_ = 0;
};

class VarCollector : public ExprVisitor {
 public:
  std::vector<const Var*> vars;

 protected:
  void VisitVar(const Var& var) override {
    if (std::find(vars.begin(), vars.end(), &var) == vars.end()) {
      vars.push_back(&var);
    }
  }
};

}  // namespace

int ExprSize(const Expr& e, int limit) {
  Counter counter(limit);
  counter.Visit(e);
  return counter.count();
}

std::vector<const Var*> VarsOf(const Expr& e) {
  VarCollector collector;
  collector.Visit(e);
  return collector.vars;
}

}  // namespace ingot::tir
