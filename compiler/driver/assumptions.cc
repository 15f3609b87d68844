#include "compiler/driver/assumptions.h"

#include "base/status_macros.h"
#include "compiler/tir/arith/simplify.h"

namespace ingot {
namespace {

absl::Status Collect(const relay::Module& module,
                     const relay::Function& function,
                     std::vector<relay::DimAssumption>* assumed) {
  for (const auto& node : function.nodes()) {
    if (node->kind == relay::NodeKind::kCallFunction) {
      INGOT_RETURN_IF_ERROR(
          Collect(module, *module.Find(node->callee), assumed));
    }
    if (node->kind != relay::NodeKind::kOp) continue;
    INGOT_RETURN_IF_ERROR(
        relay::InferTypes(*node->op, node->inputs, node->attrs, assumed)
            .status());
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<relay::DimAssumption>> AssumptionsOf(
    const relay::Node& node) {
  std::vector<relay::DimAssumption> assumed;
  INGOT_RETURN_IF_ERROR(
      relay::InferTypes(*node.op, node.inputs, node.attrs, &assumed).status());
  return assumed;
}

absl::StatusOr<std::vector<relay::DimAssumption>> AssumptionsOf(
    const relay::Module& module, const relay::Function& function) {
  std::vector<relay::DimAssumption> assumed;
  INGOT_RETURN_IF_ERROR(Collect(module, function, &assumed));
  return assumed;
}

void GuardAssumptions(const std::vector<relay::DimAssumption>& assumed,
                      tir::PrimFunc* kernel) {
  tir::Expr holds = tir::MakeBool(true);
  for (const relay::DimAssumption& a : assumed) {
    tir::Expr one = Eq(a.a, a.b);
    if (a.or_one) {
      const tir::Expr i1 = tir::MakeInt(1);
      one = Or(one, Or(Eq(a.a, i1), Eq(a.b, i1)));
    }
    holds = And(holds, one);
  }
  const tir::Bounds bounds = tir::Bounds::Dimensions();
  holds = tir::Simplify(holds, &bounds);
  if (tir::IsConstInt(holds, 1)) return;
  kernel->body = tir::MakeIf(holds, kernel->body);
}

}  // namespace ingot
