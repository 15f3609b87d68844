#include "compiler/tir/expr_size.h"

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

}  // namespace

int ExprSize(const Expr& e, int limit) {
  Counter counter(limit);
  counter.Visit(e);
  return counter.count();
}

}  // namespace ingot::tir
