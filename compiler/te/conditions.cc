#include "compiler/te/conditions.h"

#include <algorithm>

#include "compiler/tir/visitor.h"

namespace ingot::te {

using tir::BinaryOp;

namespace {

// Values of an axis at which a comparison changes, from anywhere in the value.
class Thresholds : public tir::ExprVisitor {
 public:
  Thresholds(const Operation& op, int axis, const Ranges& ranges)
      : op_(op), var_(op.axis[axis].get()), ranges_(ranges) {}
  std::vector<Linear> found;

 protected:
  void VisitBinary(const tir::Binary& node) override {
    tir::ExprVisitor::VisitBinary(node);
    const bool above = node.op == BinaryOp::kLt || node.op == BinaryOp::kGe;
    const bool below = node.op == BinaryOp::kLe || node.op == BinaryOp::kGt;
    if ((!above && !below) || node.a->dtype != DataType::Int(64)) return;
    Linear d = Linear::Of(node.a, &ranges_) - Linear::Of(node.b, &ranges_);
    const int64_t k = d.CoefficientOf(var_);
    if (k != 1 && k != -1) return;
    Linear rest(d.constant());
    for (const auto& t : d.terms()) {
      if (t.atom.get() == var_) continue;
      // A value that another stage computes cannot bound a loop.
      if (tir::HasLoad(t.atom)) return;
      for (const auto& other : op_.axis) {
        if (tir::Uses(t.atom, other.get())) return;
      }
      for (const auto& other : op_.reduce_axis) {
        if (tir::Uses(t.atom, other.get())) return;
      }
      rest = rest + Linear::Atom(t.atom) * t.coefficient;
    }
    // d < 0 and d >= 0 change at d = 0; d <= 0 and d > 0 one above.
    Linear at;
    if (k == 1) {
      at = rest * -1 + Linear(above ? 0 : 1);
    } else {
      at = rest + Linear(above ? 1 : 0);
    }
    if (std::find(found.begin(), found.end(), at) == found.end()) {
      found.push_back(at);
    }
  }

 private:
  const Operation& op_;
  const tir::Var* var_;
  const Ranges& ranges_;
};

}  // namespace

std::vector<Linear> ConditionCuts(const Operation& op, int axis,
                                  const Ranges& ranges) {
  if (op.value == nullptr) return {};
  Thresholds thresholds(op, axis, ranges);
  thresholds.Visit(op.value);
  return std::move(thresholds.found);
}

}  // namespace ingot::te
