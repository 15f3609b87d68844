#include <map>
#include <utility>

#include "compiler/tir/arith/simplifier.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/visitor.h"

namespace ingot::tir {
namespace {

bool IsEmpty(const Stmt& s) {
  const auto* seq = As<Seq>(s);
  return seq != nullptr && seq->stmts.empty();
}

Stmt Nothing() { return MakeSeq({}); }

class StmtSimplifier final : public StmtMutator {
 public:
  explicit StmtSimplifier(const Bounds* bounds) {
    if (bounds != nullptr) bounds_ = *bounds;
  }

  using StmtMutator::Mutate;
  Expr Mutate(const Expr& e) override {
    // Replaces variables and buffers first, then simplifies what that gives,
    // once and not again for every operand.
    if (inside_) return StmtMutator::Mutate(e);
    inside_ = true;
    Expr replaced = StmtMutator::Mutate(e);
    inside_ = false;
    return Simplify(replaced, &bounds_);
  }

 private:
  Expr MutateVar(const Expr& e, const Var& node) override {
    auto it = values_.find(&node);
    return it == values_.end() ? e : it->second;
  }

  Stmt MutateFor(const Stmt& s, const For& node) override {
    Expr min = Mutate(node.min);
    Expr extent = Mutate(node.extent);
    Simplifier simplifier(&bounds_);
    const Affine iterations = simplifier.ToAffine(extent);
    if (!simplifier.MayOverflow(iterations) &&
        simplifier.Range(iterations).max <= 0) {
      return Nothing();
    }
    if (IsConstInt(extent, 1)) {
      values_[node.var.get()] = min;
      Stmt body = Mutate(node.body);
      values_.erase(node.var.get());
      // A block of one thread still is one.
      const bool stays =
          node.for_kind == ForKind::kBlock || node.for_kind == ForKind::kThread;
      if (!stays || IsEmpty(body)) return body;
      return MakeFor(node.var, std::move(min), std::move(extent), node.for_kind,
                     std::move(body));
    }
    bounds_.SetLoop(node.var.get(), min, extent);
    Stmt body = Mutate(node.body);
    bounds_.Forget(node.var.get());
    if (IsEmpty(body)) return body;
    if (min == node.min && extent == node.extent && body == node.body) return s;
    return MakeFor(node.var, std::move(min), std::move(extent), node.for_kind,
                   std::move(body));
  }

  Stmt MutateIfThenElse(const Stmt& s, const IfThenElse& node) override {
    Expr condition = Mutate(node.condition);
    int64_t decided;
    if (AsConstInt(condition, &decided)) {
      if (decided != 0) return Mutate(node.then_body);
      return node.else_body == nullptr ? Nothing() : Mutate(node.else_body);
    }
    const size_t facts = bounds_.num_facts();
    bounds_.PushFact(condition);
    Stmt then_body = Mutate(node.then_body);
    bounds_.PopFacts(facts);
    Stmt else_body;
    if (node.else_body != nullptr) {
      bounds_.PushFactNot(condition);
      else_body = Mutate(node.else_body);
      bounds_.PopFacts(facts);
      if (IsEmpty(else_body)) else_body = nullptr;
    }
    if (IsEmpty(then_body)) {
      if (else_body == nullptr) return then_body;
      condition = Simplify(MakeUnary(UnaryOp::kNot, condition), &bounds_);
      return MakeIf(std::move(condition), std::move(else_body));
    }
    if (condition == node.condition && then_body == node.then_body &&
        else_body == node.else_body) {
      return s;
    }
    return MakeIf(std::move(condition), std::move(then_body),
                  std::move(else_body));
  }

  Stmt MutateLetStmt(const Stmt& s, const LetStmt& node) override {
    Expr value = Mutate(node.value);
    const Var* var = node.var.get();
    const bool inlined = value->kind == ExprKind::kVar ||
                         value->kind == ExprKind::kIntImm ||
                         value->kind == ExprKind::kFloatImm;
    if (inlined) {
      values_[var] = value;
      Stmt body = Mutate(node.body);
      values_.erase(var);
      return body;
    }
    bounds_.SetValue(var, value);
    Stmt body = Mutate(node.body);
    bounds_.Forget(var);
    if (IsEmpty(body) || !Uses(body, var)) return body;
    if (value == node.value && body == node.body) return s;
    return MakeLet(node.var, std::move(value), std::move(body));
  }

  Stmt MutateAllocate(const Stmt& s, const Allocate& node) override {
    Stmt result = StmtMutator::MutateAllocate(s, node);
    const auto* allocate = As<Allocate>(result);
    return IsEmpty(allocate->body) ? allocate->body : result;
  }

  Stmt MutatePart(const Stmt& s, const Part& node) override {
    Stmt result = StmtMutator::MutatePart(s, node);
    const auto* part = As<Part>(result);
    return IsEmpty(part->body) ? part->body : result;
  }

  // One that holds goes away; one that does not is left to fail.
  Stmt MutateAssert(const Stmt& s, const Assert& node) override {
    Stmt result = StmtMutator::MutateAssert(s, node);
    return IsConstInt(As<Assert>(result)->condition, 1) ? Nothing() : result;
  }

  Stmt MutateWhile(const Stmt& s, const While& node) override {
    Stmt result = StmtMutator::MutateWhile(s, node);
    const auto* loop = As<While>(result);
    return IsConstInt(loop->condition, 0) ? Nothing() : result;
  }

  // Expressions have no effect.
  Stmt MutateEvaluate(const Stmt& s, const Evaluate& node) override {
    return Nothing();
  }

  Bounds bounds_;
  std::map<const Var*, Expr> values_;  // of the variables that go away
  bool inside_ = false;                // an expression
};

}  // namespace

Stmt Simplify(const Stmt& s, const Bounds* bounds) {
  return StmtSimplifier(bounds).Mutate(s);
}

PrimFunc Simplify(const PrimFunc& func) {
  const Bounds bounds = Bounds::Dimensions();
  PrimFunc result = func;
  result.body = Simplify(func.body, &bounds);
  return result;
}

}  // namespace ingot::tir
