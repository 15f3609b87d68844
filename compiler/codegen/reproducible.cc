#include "compiler/codegen/reproducible.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "compiler/tir/visitor.h"

namespace ingot::codegen {
namespace {

using tir::As;
using tir::BinaryOp;
using tir::Expr;
using tir::Intrinsic;

// Whether all machines compute it alike: it is exact, or rounded once, or we
// have a polynomial for it.
bool IsAlike(Intrinsic f, DataType t) {
  switch (f) {
    case Intrinsic::kSqrt:
    case Intrinsic::kRsqrt:  // a root and a quotient, each rounded once
    case Intrinsic::kFloor:
    case Intrinsic::kCeil:
    case Intrinsic::kRound:
    case Intrinsic::kTrunc:
    case Intrinsic::kAbs:
    case Intrinsic::kIsNan:
    case Intrinsic::kIsInf:
    case Intrinsic::kFmod:  // always exact
    case Intrinsic::kMulAdd:
    case Intrinsic::kDot4:
    case Intrinsic::kDot2:
      return true;
    case Intrinsic::kExp:
    case Intrinsic::kLog:
    case Intrinsic::kTanh:
    case Intrinsic::kErf:
    case Intrinsic::kSin:
    case Intrinsic::kCos:
    case Intrinsic::kPow:
      return t.bits <= 32;
    default:
      return false;
  }
}

bool IsF32(const Expr& e) { return e->dtype.is_float() && e->dtype.bits == 32; }

const tir::Binary* AsProduct(const Expr& e) {
  const auto* binary = As<tir::Binary>(e);
  return binary != nullptr && binary->op == BinaryOp::kMul ? binary : nullptr;
}

Expr MulAdd(const Expr& a, const Expr& b, const Expr& c) {
  return tir::MakeCall(Intrinsic::kMulAdd, {a, b, c});
}

class Rewriter final : public tir::StmtMutator {
 public:
  // `functions` are those that are rewritten, too.
  explicit Rewriter(const std::set<std::string>* functions)
      : functions_(*functions) {}

  using StmtMutator::Mutate;

  // Each node once, so that shared ones stay shared.
  Expr Mutate(const Expr& e) override {
    const auto it = done_.find(e.get());
    if (it != done_.end()) return it->second.second;
    Expr result = StmtMutator::Mutate(e);
    done_[e.get()] = {e, result};
    return result;
  }

  // Empty: nothing.
  std::string refused;

 private:
  Expr MutateBinary(const Expr& e, const tir::Binary& node) override {
    const Expr result = StmtMutator::MutateBinary(e, node);
    const auto* sum = As<tir::Binary>(result);
    if (sum == nullptr || !IsF32(result)) return result;
    if (sum->op == BinaryOp::kAdd) {
      if (const auto* p = AsProduct(sum->a)) return MulAdd(p->a, p->b, sum->b);
      if (const auto* p = AsProduct(sum->b)) return MulAdd(p->a, p->b, sum->a);
    } else if (sum->op == BinaryOp::kSub) {
      if (const auto* p = AsProduct(sum->a)) return MulAdd(p->a, p->b, -sum->b);
      if (const auto* p = AsProduct(sum->b)) return MulAdd(-p->a, p->b, sum->a);
    }
    return result;
  }

  Expr MutateCall(const Expr& e, const tir::Call& node) override {
    const Expr result = StmtMutator::MutateCall(e, node);
    const auto* call = As<tir::Call>(result);
    if (call == nullptr) return result;
    if (call->intrinsic == Intrinsic::kPow) {
      if (const Expr product = SmallPower(*call)) return product;
    }
    const DataType t = call->args[0]->dtype;
    if (refused.empty() && t.is_float() && !IsAlike(call->intrinsic, t)) {
      refused = absl::StrCat(tir::IntrinsicName(call->intrinsic), " of ",
                             t.element().ToString());
    }
    return result;
  }

  tir::Stmt MutateCallExtern(const tir::Stmt& s,
                             const tir::CallExtern& node) override {
    if (refused.empty() && functions_.count(node.symbol) == 0) {
      refused = absl::StrCat("what ", node.symbol, " does");
    }
    return StmtMutator::MutateCallExtern(s, node);
  }

  // Null: none that a product or a quotient gives.
  static Expr SmallPower(const tir::Call& power) {
    const Expr& x = power.args[0];
    Expr exponent = power.args[1];
    if (const auto* all = As<tir::Broadcast>(exponent)) exponent = all->value;
    const auto* value = As<tir::FloatImm>(exponent);
    if (value == nullptr) return nullptr;
    if (value->value == 1) return x;
    if (value->value == 2) return x * x;
    if (value->value == 3) return x * x * x;
    return nullptr;
  }

  const std::set<std::string>& functions_;
  // The keys are kept alive, so that their addresses stay their own.
  std::map<const tir::ExprNode*, std::pair<Expr, Expr>> done_;
};

}  // namespace

TargetOption ReproducibleOption() {
  return {"1: results have the same bits on every machine", "0"};
}

absl::StatusOr<bool> IsReproducible(const Target& target) {
  const std::string value = target.Option(kReproducibleOption, "0");
  if (value == "1") return true;
  if (value == "0") return false;
  return absl::InvalidArgumentError(absl::StrCat(
      "target option -", kReproducibleOption, "=", value, ": must be 0 or 1"));
}

absl::StatusOr<std::vector<tir::PrimFunc>> MakeReproducible(
    absl::Span<const tir::PrimFunc> kernels) {
  std::set<std::string> names;
  for (const tir::PrimFunc& kernel : kernels) names.insert(kernel.name);
  std::vector<tir::PrimFunc> results(kernels.begin(), kernels.end());
  for (tir::PrimFunc& kernel : results) {
    Rewriter rewriter(&names);
    kernel.body = rewriter.Mutate(kernel.body);
    if (rewriter.refused.empty()) continue;
    const auto nodes = kernel.attrs.find("sources");
    return absl::UnimplementedError(absl::StrCat(
        "kernel ", kernel.name,
        nodes == kernel.attrs.end() ? ""
                                    : absl::StrCat(" (", nodes->second, ")"),
        " computes ", rewriter.refused,
        ", for which there is no code that gives the same bits everywhere: "
        "compile without --reproducible"));
  }
  return results;
}

}  // namespace ingot::codegen
