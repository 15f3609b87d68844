// layout_transform: between plain layouts and ones with inner blocks.
#include "compiler/relay/ops/layout.h"

#include "absl/strings/ascii.h"
#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/families.h"
#include "compiler/relay/ops/known.h"

namespace ingot::relay::ops {

absl::StatusOr<std::vector<LayoutDim>> ParseLayout(absl::string_view text) {
  std::vector<LayoutDim> dims;
  int64_t number = 0;
  auto bad = [&] { return Invalid("'", text, "' is not a layout"); };
  for (char ch : text) {
    const unsigned char u = static_cast<unsigned char>(ch);
    if (absl::ascii_isdigit(u)) {
      number = number * 10 + (ch - '0');
      if (number > 4096) return bad();
      continue;
    }
    if (!absl::ascii_isalpha(u)) return bad();
    const bool block = absl::ascii_islower(u);
    const char axis = absl::ascii_toupper(u);
    bool seen_axis = false;
    for (const LayoutDim& d : dims) {
      if (d.axis != axis) continue;
      if (!block || d.block > 0) return bad();
      seen_axis = true;
    }
    if (block != (number > 0) || (block && !seen_axis)) return bad();
    dims.push_back({axis, number});
    number = 0;
  }
  if (number != 0 || dims.empty()) return bad();
  return dims;
}

int64_t BlockOf(const std::vector<LayoutDim>& dims, char axis) {
  for (const LayoutDim& d : dims) {
    if (d.axis == axis && d.block > 0) return d.block;
  }
  return 1;
}

namespace {

struct Plan {
  std::vector<LayoutDim> from, to;
  std::map<char, Dim> extents;  // of whole axes, as the source has them
  Shape output;
};

absl::StatusOr<Plan> MakePlan(const TensorType& x, const Attrs& attrs) {
  Plan plan;
  const std::string& src = attrs.Get<std::string>("src");
  const std::string& dst = attrs.Get<std::string>("dst");
  INGOT_ASSIGN_OR_RETURN(plan.from, ParseLayout(src));
  INGOT_ASSIGN_OR_RETURN(plan.to, ParseLayout(dst));
  if (plan.from.size() != x.shape.size()) {
    return Invalid("layout ", src, " does not fit ", ToString(x));
  }
  for (size_t d = 0; d < plan.from.size(); ++d) {
    const LayoutDim& dim = plan.from[d];
    if (dim.block > 0) {
      if (!MayBeEqual(x.shape[d], I64(dim.block), /*assumed=*/nullptr)) {
        return Invalid("layout ", src, " does not fit ", ToString(x));
      }
    } else {
      plan.extents[dim.axis] = x.shape[d] * BlockOf(plan.from, dim.axis);
    }
  }
  size_t whole = 0;
  for (const LayoutDim& dim : plan.to) {
    auto extent = plan.extents.find(dim.axis);
    if (extent == plan.extents.end()) {
      return Invalid("layout ", dst, " has an axis ", std::string(1, dim.axis),
                     " that ", src, " has not");
    }
    if (dim.block > 0) {
      plan.output.push_back(I64(dim.block));
    } else {
      ++whole;
      plan.output.push_back(
          CeilDiv(extent->second, BlockOf(plan.to, dim.axis)));
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
      for (size_t d = 0; d < plan.to.size(); ++d) {
        const LayoutDim& dim = plan.to[d];
        const Expr part =
            dim.block > 0 ? i[d] : i[d] * BlockOf(plan.to, dim.axis);
        Expr& p = position[dim.axis];
        p = p == nullptr ? part : p + part;
      }
      std::vector<Expr> inside;
      for (const auto& [axis, extent] : plan.extents) {
        const int64_t block = BlockOf(plan.to, axis);
        int64_t known;
        const bool fits = block == 1 || BlockOf(plan.from, axis) % block == 0 ||
                          (ConstDim(extent, &known) && known % block == 0);
        if (!fits) inside.push_back(Lt(position[axis], extent));
      }
      Indices at;
      for (const LayoutDim& dim : plan.from) {
        const int64_t block = BlockOf(plan.from, dim.axis);
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
