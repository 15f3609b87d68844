#include "compiler/frontends/onnx/expr_size.h"

#include <algorithm>

#include "compiler/tir/visitor.h"

namespace ingot::onnx_frontend {
namespace {

class Counter : public tir::ExprVisitor {
 public:
  explicit Counter(int limit) : limit_(limit) {}
  void Visit(const tir::Expr& e) override {
    if (count_ > limit_) return;
    ++count_;
    tir::ExprVisitor::Visit(e);
  }
  int count() const { return count_; }

 private:
  const int limit_;
  int count_ = 0;
};

class VarCollector : public tir::ExprVisitor {
 public:
  std::vector<const tir::Var*> vars;

 protected:
  void VisitVar(const tir::Var& var) override {
    if (std::find(vars.begin(), vars.end(), &var) == vars.end()) {
      vars.push_back(&var);
    }
  }
};

}  // namespace

int ExprSize(const tir::Expr& e, int limit) {
  Counter counter(limit);
  counter.Visit(e);
  return counter.count();
}

std::vector<const tir::Var*> VarsOf(const tir::Expr& e) {
  VarCollector collector;
  collector.Visit(e);
  return collector.vars;
}

}  // namespace ingot::onnx_frontend
