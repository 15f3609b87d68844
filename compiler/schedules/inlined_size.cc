#include "compiler/schedules/inlined_size.h"

#include <algorithm>

#include "compiler/schedules/stage_facts.h"
#include "compiler/tir/visitor.h"

namespace ingot::te {
namespace {

constexpr int64_t kMost = int64_t{1} << 30;

class Counter : public tir::ExprVisitor {
 public:
  int64_t nodes = 0;
  int64_t vars = 0;

  void Visit(const Expr& e) override {
    ++nodes;
    tir::ExprVisitor::Visit(e);
  }

 protected:
  void VisitVar(const tir::Var& node) override { ++vars; }
};

}  // namespace

InlinedSizes::Size InlinedSizes::Of(const Stage* stage) const {
  Counter own;
  own.Visit(stage->op().value);
  Size size{own.nodes, own.vars};
  for (const tir::Load* load : LoadsOf(stage->op().value)) {
    auto found = inlined_.find(load->buffer.get());
    if (found == inlined_.end()) continue;
    // Each use of a variable there becomes an index here.
    int64_t nodes = 1, vars = 1;
    for (const Expr& index : load->indices) {
      Counter at;
      at.Visit(index);
      nodes = std::max(nodes, at.nodes);
      vars = std::max(vars, at.vars);
    }
    const Size& value = found->second;
    size.nodes =
        std::min(kMost, size.nodes + value.nodes + value.vars * (nodes - 1));
    size.vars = std::min(kMost, size.vars + value.vars * vars);
  }
  return size;
}

void InlinedSizes::Inline(const Stage* stage, const Size& size) {
  inlined_[stage->output().buffer.get()] = size;
}

}  // namespace ingot::te
