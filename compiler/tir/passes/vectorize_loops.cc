// Turns vectorized loops into vector code.
#include <map>
#include <utility>
#include <vector>

#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/passes/passes.h"
#include "compiler/tir/typing.h"
#include "compiler/tir/visitor.h"

namespace ingot::tir {
namespace {

// Rewrites the body of one loop for all lanes at once. Expressions that do not
// depend on the lane stay scalar and as they are.
class LaneRewriter final : public StmtMutator {
 public:
  LaneRewriter(const Var* var, const Expr& min, int lanes) : lanes_(lanes) {
    values_[var] = MakeRamp(min, MakeInt(1), lanes);
  }

  // Whether something could not be said in vectors; the result is then void.
  bool failed() const { return failed_; }

 private:
  static bool IsVector(const Expr& e) { return e->dtype.lanes > 1; }

  Expr Wide(const Expr& e) {
    return IsVector(e) ? e : MakeBroadcast(e, lanes_);
  }

  bool WidenAll(std::vector<Expr>* exprs) {
    bool any = false;
    for (const Expr& e : *exprs) any |= IsVector(e);
    if (any) {
      for (Expr& e : *exprs) e = Wide(e);
    }
    return any;
  }

  Expr Give(const Expr& e) {
    failed_ = true;
    return e;
  }
  Stmt Give(const Stmt& s) {
    failed_ = true;
    return s;
  }

  Expr MutateVar(const Expr& e, const Var& node) override {
    auto it = values_.find(&node);
    return it == values_.end() ? e : it->second;
  }

  Expr MutateUnary(const Expr& e, const Unary& node) override {
    return MakeUnary(node.op, Mutate(node.a));
  }

  Expr MutateBinary(const Expr& e, const Binary& node) override {
    std::vector<Expr> args = {Mutate(node.a), Mutate(node.b)};
    if (args[0] == node.a && args[1] == node.b) return e;
    WidenAll(&args);
    return MakeBinary(node.op, args[0], args[1]);
  }

  Expr MutateSelect(const Expr& e, const Select& node) override {
    std::vector<Expr> args = {Mutate(node.condition), Mutate(node.on_true),
                              Mutate(node.on_false)};
    if (args[0] == node.condition && args[1] == node.on_true &&
        args[2] == node.on_false) {
      return e;
    }
    WidenAll(&args);
    return MakeSelect(args[0], args[1], args[2]);
  }

  Expr MutateCast(const Expr& e, const Cast& node) override {
    Expr value = Mutate(node.value);
    if (value == node.value) return e;
    return MakeCast(node.dtype.with_lanes(value->dtype.lanes), value);
  }

  Expr MutateCall(const Expr& e, const Call& node) override {
    bool changed = false;
    std::vector<Expr> args = MutateAll(node.args, &changed);
    if (!changed) return e;
    WidenAll(&args);
    return MakeCall(node.intrinsic, std::move(args));
  }

  Expr MutateLoad(const Expr& e, const Load& node) override {
    bool changed = false;
    std::vector<Expr> indices = MutateAll(node.indices, &changed);
    if (!changed) return e;
    if (IndexTypeError(node.buffer, indices) != nullptr) return Give(e);
    return MakeLoad(node.buffer, std::move(indices));
  }

  // Vector code inside of the loop: the verifier allows none.
  Expr MutateRamp(const Expr& e, const Ramp& node) override { return Give(e); }
  Expr MutateBroadcast(const Expr& e, const Broadcast& node) override {
    return Give(e);
  }

  Stmt MutateStore(const Stmt& s, const Store& node) override {
    bool changed = false;
    std::vector<Expr> indices = MutateAll(node.indices, &changed);
    Expr value = Mutate(node.value);
    // Where all lanes store to one element, the last one wins, or each adds to
    // what the one before has stored: both need the lanes in order.
    if (IndexLanes(indices) == 1 ||
        IndexTypeError(node.buffer, indices) != nullptr) {
      return Give(s);
    }
    return MakeStore(node.buffer, std::move(indices), Wide(value));
  }

  Stmt MutateFor(const Stmt& s, const For& node) override {
    Expr min = Mutate(node.min);
    Expr extent = Mutate(node.extent);
    if (IsVector(min) || IsVector(extent)) return Give(s);
    return MakeFor(node.var, std::move(min), std::move(extent), node.for_kind,
                   Mutate(node.body));
  }

  Stmt MutateIfThenElse(const Stmt& s, const IfThenElse& node) override {
    if (IsVector(Mutate(node.condition))) return Give(s);
    return StmtMutator::MutateIfThenElse(s, node);
  }

  Stmt MutateLetStmt(const Stmt& s, const LetStmt& node) override {
    Expr value = Mutate(node.value);
    if (!IsVector(value)) {
      return MakeLet(node.var, std::move(value), Mutate(node.body));
    }
    VarPtr wide = MakeVar(node.var->name, value->dtype);
    values_[node.var.get()] = wide;
    Stmt body = Mutate(node.body);
    values_.erase(node.var.get());
    return MakeLet(std::move(wide), std::move(value), std::move(body));
  }

  // A buffer of each iteration would have to become one of all lanes.
  Stmt MutateAllocate(const Stmt& s, const Allocate& node) override {
    return Give(s);
  }
  Stmt MutateWhile(const Stmt& s, const While& node) override {
    return Give(s);
  }
  Stmt MutateCallExtern(const Stmt& s, const CallExtern& node) override {
    return Give(s);
  }
  Stmt MutatePart(const Stmt& s, const Part& node) override { return Give(s); }
  Stmt MutateAssert(const Stmt& s, const Assert& node) override {
    return Give(s);
  }
  Stmt MutatePrefetch(const Stmt& s, const Prefetch& node) override {
    return Give(s);
  }

  const int lanes_;
  std::map<const Var*, Expr> values_;
  bool failed_ = false;
};

class Vectorizer final : public StmtMutator {
 private:
  Stmt MutateFor(const Stmt& s, const For& node) override {
    if (node.for_kind != ForKind::kVectorized) {
      return StmtMutator::MutateFor(s, node);
    }
    Stmt serial =
        MakeFor(node.var, node.min, node.extent, ForKind::kSerial, node.body);
    int64_t lanes;
    if (!AsConstInt(node.extent, &lanes)) return serial;
    if (lanes == 1) {
      return Substitute(node.body, {{node.var.get(), node.min}});
    }
    // Conditions on the lane that the whole body is under.
    Stmt body = node.body;
    Expr all_lanes = MakeBool(true);
    while (const auto* branch = As<IfThenElse>(body)) {
      if (branch->else_body != nullptr ||
          !Uses(branch->condition, node.var.get()) ||
          !HoldsBetween(branch->condition, node.var.get())) {
        break;
      }
      all_lanes = And(all_lanes, AllLanes(branch->condition, node, lanes));
      body = branch->then_body;
    }
    LaneRewriter rewriter(node.var.get(), node.min, static_cast<int>(lanes));
    Stmt vector = rewriter.Mutate(body);
    if (rewriter.failed()) return serial;
    return IsConstInt(all_lanes, 1) ? vector
                                    : MakeIf(all_lanes, vector, serial);
  }

  // The condition for the first and the last lane; for one of them, where that
  // implies the other.
  static Expr AllLanes(const Expr& condition, const For& loop, int64_t lanes) {
    const Var* var = loop.var.get();
    Expr first = Substitute(condition, {{var, loop.min}});
    Expr last = Substitute(condition, {{var, loop.min + (lanes - 1)}});
    for (int turn = 0; turn < 2; ++turn) {
      Bounds bounds;
      bounds.PushFact(last);
      if (Prove(first, &bounds)) return last;
      std::swap(first, last);
    }
    return And(first, last);
  }

  // Whether a condition that holds for two values of `var` holds for all
  // between them: comparisons of affine expressions, joined by kAnd.
  static bool HoldsBetween(const Expr& condition, const Var* var) {
    const auto* node = As<Binary>(condition);
    if (node == nullptr || HasLoad(condition)) return false;
    switch (node->op) {
      case BinaryOp::kAnd:
        return HoldsBetween(node->a, var) && HoldsBetween(node->b, var);
      case BinaryOp::kLt:
      case BinaryOp::kLe:
      case BinaryOp::kGt:
      case BinaryOp::kGe:
        return IsAffineIn(node->a, var) && IsAffineIn(node->b, var);
      default:
        return !Uses(condition, var);
    }
  }

  static bool IsAffineIn(const Expr& e, const Var* var) {
    if (!Uses(e, var)) return true;
    if (e->kind == ExprKind::kVar) return true;
    const auto* node = As<Binary>(e);
    if (node == nullptr || e->dtype != DataType::Int(64)) return false;
    switch (node->op) {
      case BinaryOp::kAdd:
      case BinaryOp::kSub:
        return IsAffineIn(node->a, var) && IsAffineIn(node->b, var);
      case BinaryOp::kMul:
        return (IsAffineIn(node->a, var) && !Uses(node->b, var)) ||
               (IsAffineIn(node->b, var) && !Uses(node->a, var));
      default:
        return false;
    }
  }
};

}  // namespace

absl::StatusOr<PrimFunc> VectorizeLoops(const PrimFunc& func) {
  // First, so that (i * 8 + j) // 8 does not look as if it depended on j.
  PrimFunc simple = Simplify(func);
  PrimFunc result = simple;
  result.body = Vectorizer().Mutate(simple.body);
  return result.body == simple.body ? simple : Simplify(result);
}

}  // namespace ingot::tir
