#include "compiler/te/conditions.h"

#include <algorithm>

#include "compiler/tir/visitor.h"

namespace ingot::te {

using tir::BinaryOp;

namespace {

// Values of an axis at which a comparison changes, from anywhere in the value.
class Thresholds : public tir::ExprVisitor {
 public:
  Thresholds(const Operation& op, int axis, const Bounds& bounds)
      : op_(op), var_(op.axis[axis]), bounds_(bounds) {}
  std::vector<Affine> found;

 protected:
  // A search for the part that an element is in compares with the beginnings of
  // parts, which then come in order.
  void VisitSelect(const tir::Select& node) override {
    Visit(node.on_true);
    Visit(node.condition);
    Visit(node.on_false);
  }
  void VisitBinary(const tir::Binary& node) override {
    tir::ExprVisitor::VisitBinary(node);
    const bool above = node.op == BinaryOp::kLt || node.op == BinaryOp::kGe;
    const bool below = node.op == BinaryOp::kLe || node.op == BinaryOp::kGt;
    if ((!above && !below) || node.a->dtype != DataType::Int(64)) return;
    const Affine d = bounds_.ToAffine(node.a) - bounds_.ToAffine(node.b);
    const int64_t k = d.CoefficientOf(var_.get());
    if (k != 1 && k != -1) return;
    const Affine rest = d - Affine::Atom(var_) * k;
    for (const tir::Term& term : rest.terms) {
      for (const Expr& factor : term.factors) {
        if (DependsOnPlace(factor)) return;
      }
    }
    // d < 0 and d >= 0 change at d = 0; d <= 0 and d > 0 one above.
    Affine at;
    if (k == 1) {
      at = rest * -1 + Affine(above ? 0 : 1);
    } else {
      at = rest + Affine(above ? 1 : 0);
    }
    if (std::find(found.begin(), found.end(), at) == found.end()) {
      found.push_back(at);
    }
  }

 private:
  // Whether it may differ from one element to another. A value that another
  // stage computes cannot bound a loop.
  bool DependsOnPlace(const Expr& e) const {
    const auto uses = [&e](const tir::VarPtr& axis) {
      return tir::Uses(e, axis.get());
    };
    return tir::HasLoad(e) ||
           std::any_of(op_.axis.begin(), op_.axis.end(), uses) ||
           std::any_of(op_.reduce_axis.begin(), op_.reduce_axis.end(), uses);
  }

  const Operation& op_;
  const tir::VarPtr var_;
  const Bounds& bounds_;
};

}  // namespace

std::vector<Affine> ConditionCuts(const Operation& op, int axis,
                                  const Bounds& bounds) {
  if (op.value == nullptr) return {};
  Thresholds thresholds(op, axis, bounds);
  thresholds.Visit(op.value);
  return std::move(thresholds.found);
}

}  // namespace ingot::te
