// layout_transform: between plain layouts and ones with inner blocks.
#include "compiler/relay/layout.h"

#include <map>
#include <string>
#include <vector>

#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/known.h"

namespace ingot::relay::ops {
namespace {

struct Plan {
  Layout from, to;
  std::map<char, Dim> extents;  // of whole axes, as the source has them
  Shape output;
};

absl::StatusOr<Plan> MakePlan(const TensorType& x, const Attrs& attrs) {
  Plan plan;
  const std::string& src = attrs.Get<std::string>("src");
  const std::string& dst = attrs.Get<std::string>("dst");
  INGOT_ASSIGN_OR_RETURN(plan.from, ParseLayout(src));
  INGOT_ASSIGN_OR_RETURN(plan.to, ParseLayout(dst));
  if (plan.from.dims.size() != x.shape.size()) {
    return Invalid("layout ", src, " does not fit ", ToString(x));
  }
  for (size_t d = 0; d < plan.from.dims.size(); ++d) {
    const LayoutDim& dim = plan.from.dims[d];
    if (dim.block > 0) {
      if (!MayBeEqual(x.shape[d], I64(dim.block), /*assumed=*/nullptr)) {
        return Invalid("layout ", src, " does not fit ", ToString(x));
      }
    } else {
      plan.extents[dim.axis] = x.shape[d] * plan.from.Step(dim.axis);
    }
  }
  size_t whole = 0;
  for (const LayoutDim& dim : plan.to.dims) {
    auto extent = plan.extents.find(dim.axis);
    if (extent == plan.extents.end()) {
      return Invalid("layout ", dst, " has an axis ", std::string(1, dim.axis),
                     " that ", src, " has not");
    }
    if (dim.block > 0) {
      plan.output.push_back(I64(dim.block));
    } else {
      ++whole;
      plan.output.push_back(CeilDiv(extent->second, plan.to.Step(dim.axis)));
    }
  }
  if (whole != plan.extents.size()) {
    return Invalid("layouts ", src, " and ", dst, " differ in their axes");
  }
  return plan;
}

OpDef LayoutTransform() {
  OpDef def;
  def.name = "layout_transform";
  def.doc =
      "x from one layout to another; a last, partial block is filled up "
      "with zeros";
  def.fusion = FusionKind::kInjective;
  def.compute_known = &CopyToLayout;
  def.attrs = {StringAttr("src", "the operand's layout, as NCHW", kRequired),
               StringAttr("dst", "the result's, as NCHW8c", kRequired)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_ASSIGN_OR_RETURN(Plan plan, MakePlan(c.type(0), c.attrs));
    return Types{{c.type(0).dtype, plan.output}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0];
    INGOT_ASSIGN_OR_RETURN(const Plan plan,
                           MakePlan({x.dtype(), x.shape()}, c.attrs));
    return Tensors{c.graph.Compute(c.name, plan.output, [&](const Indices& i) {
      std::map<char, Expr> position;
      for (size_t d = 0; d < plan.to.dims.size(); ++d) {
        const LayoutDim& dim = plan.to.dims[d];
        const Expr part = dim.block > 0 ? i[d] : i[d] * plan.to.Step(dim.axis);
        Expr& p = position[dim.axis];
        p = p == nullptr ? part : p + part;
      }
      std::vector<Expr> inside;
      for (const auto& [axis, extent] : plan.extents) {
        const int64_t block = plan.to.Step(axis);
        int64_t known;
        const bool fits = block == 1 || plan.from.Step(axis) % block == 0 ||
                          (ConstDim(extent, &known) && known % block == 0);
        if (!fits) inside.push_back(Lt(position[axis], extent));
      }
      Indices at;
      for (const LayoutDim& dim : plan.from.dims) {
        const int64_t block = plan.from.Step(dim.axis);
        const Expr& p = position[dim.axis];
        at.push_back(dim.block > 0 ? p % I64(block) : FloorDiv(p, block));
      }
      if (inside.empty()) return x(at);
      return tir::MakeSelect(All(inside), x(at), tir::MakeConst(x.dtype(), 0));
    })};
  };
  return def;
}

}  // namespace

absl::Status RegisterLayout(OpRegistry* registry) {
  return RegisterAllOf(registry, {LayoutTransform()});
}

}  // namespace ingot::relay::ops
