// Reductions over whole dimensions.
#include <functional>

#include "compiler/relay/dim.h"
#include "compiler/relay/ops/common.h"
#include "compiler/te/tags.h"

namespace ingot::relay::ops {
namespace {

const Tags& ReduceTags() {
  static const Tags* tags = new Tags{{te::kAnchor, te::kReduce}};
  return *tags;
}

// The dimensions reduced over; all when the attribute is left out.
absl::StatusOr<std::vector<int>> AxesOf(const Attrs& attrs, int rank) {
  const auto* const axes = attrs.Find<std::vector<int64_t>>("axes");
  if (axes == nullptr) {
    std::vector<int> all(rank);
    for (int d = 0; d < rank; ++d) all[d] = d;
    return all;
  }
  return NormalizeAxes(*axes, rank);
}

// The extents that a reduction over `axes` runs over, and how its indices are
// put together.
struct Reduction {
  int rank = 0;
  std::vector<int> axes;
  bool keepdims = true;
  Shape output;
  std::vector<Expr> extents;

  Indices Join(const Indices& i, const Indices& r) const {
    Indices at;
    size_t next_r = 0, next_i = 0;
    for (int d = 0; d < rank; ++d) {
      if (next_r < axes.size() && axes[next_r] == d) {
        at.push_back(r[next_r++]);
        if (keepdims) ++next_i;
      } else {
        at.push_back(i[next_i++]);
      }
    }
    return at;
  }
};

absl::StatusOr<Reduction> Plan(const Shape& shape, const Attrs& attrs) {
  Reduction plan;
  plan.rank = static_cast<int>(shape.size());
  INGOT_ASSIGN_OR_RETURN(plan.axes, AxesOf(attrs, plan.rank));
  plan.keepdims = attrs.Get<int64_t>("keepdims") != 0;
  size_t next = 0;
  for (int d = 0; d < plan.rank; ++d) {
    if (next < plan.axes.size() && plan.axes[next] == d) {
      plan.extents.push_back(shape[d]);
      ++next;
      if (plan.keepdims) plan.output.push_back(I64(1));
    } else {
      plan.output.push_back(shape[d]);
    }
  }
  return plan;
}

struct ReduceSpec {
  te::Reducer (*reducer)(DataType);
  std::function<Expr(const Expr&)> before;  // of each element; may be null
  // Computes the result from the reduced value and the number of elements; may
  // be null.
  std::function<Expr(const Expr& value, const Dim& count)> after;
  bool float_only = false;
};

// The type in which elements are reduced. A mean or a root fits the elements'
// type where the sum that it is made from may not, so that sum is wide, as
// numpy's is.
DataType SumType(DataType t, bool has_after) {
  return has_after && t.is_integer() && t.bits < 64 ? DataType::Int(64)
                                                    : ComputeType(t);
}

OpDef Reduce(absl::string_view name, absl::string_view doc, ReduceSpec spec) {
  OpDef def;
  def.name = std::string(name);
  def.doc = std::string(doc);
  def.fusion = FusionKind::kReduction;
  def.traits = kReadsOnce;
  def.attrs = {
      IntsAttr("axes",
               "dimensions reduced over; all when left out, none when empty",
               kOptional),
      IntAttr("keepdims", "whether they stay, as 1", 1)};
  def.infer = [spec](const InferContext& c) -> absl::StatusOr<Types> {
    if (spec.float_only) {
      INGOT_RETURN_IF_ERROR(ExpectFloat(c.type(0), "the operand"));
    }
    INGOT_RETURN_IF_ERROR(ExpectNumber(c.type(0), "the operand"));
    INGOT_ASSIGN_OR_RETURN(Reduction plan, Plan(c.type(0).shape, c.attrs));
    return Types{{c.type(0).dtype, plan.output}};
  };
  def.compute = [spec](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0];
    INGOT_ASSIGN_OR_RETURN(const Reduction plan, Plan(x.shape(), c.attrs));
    const DataType t = x.dtype(), acc = SumType(t, spec.after != nullptr);
    auto element = [&](const Indices& at) {
      const Expr e = MakeCast(acc, x(at));
      return spec.before ? spec.before(e) : e;
    };
    auto finish = [&](const Expr& value) {
      return MakeCast(t, spec.after
                             ? spec.after(value, Product(plan.extents, 0,
                                                         plan.extents.size()))
                             : value);
    };
    if (plan.axes.empty()) {
      return Tensors{c.graph.Compute(
          c.name, plan.output,
          [&](const Indices& i) { return finish(element(i)); })};
    }
    const bool direct = acc == t && !spec.after;
    const te::Tensor reduced = c.graph.Reduce(
        direct ? std::string(c.name) : SubName(c, "acc"), plan.output,
        plan.extents, spec.reducer(acc),
        [&](const Indices& i, const Indices& r) {
          return element(plan.Join(i, r));
        },
        ReduceTags());
    if (direct) return Tensors{reduced};
    return Tensors{c.graph.Compute(c.name, plan.output, [&](const Indices& i) {
      return finish(reduced(i));
    })};
  };
  return def;
}

Expr AbsOf(const Expr& x) {
  if (x->dtype.is_float()) return MakeCall(Intrinsic::kAbs, {x});
  if (x->dtype.is_uint()) return x;
  return MakeSelect(Lt(x, MakeConst(x->dtype, 0)), -x, x);
}

Expr Mean(const Expr& sum, const Dim& count) {
  int64_t known;
  if (sum->dtype.is_float()) {
    return sum / (ConstDim(count, &known)
                      ? MakeConst(sum->dtype, static_cast<double>(known))
                      : MakeCast(sum->dtype, count));
  }
  const Expr divisor = MakeCast(sum->dtype, Max(count, I64(1)));
  return tir::MakeBinary(tir::BinaryOp::kDiv, sum, divisor);
}

Expr LogOf(const Expr& x, const Dim&) { return MakeCall(Intrinsic::kLog, {x}); }

// In float for the integers, as numpy does.
Expr SqrtOf(const Expr& x, const Dim&) {
  if (x->dtype.is_float()) return MakeCall(Intrinsic::kSqrt, {x});
  return MakeCast(
      x->dtype, MakeCall(Intrinsic::kSqrt, {MakeCast(DataType::Float(64), x)}));
}

Expr Square(const Expr& x) { return x * x; }

// max + log(sum(e^(x - max))): no overflow for large elements.
OpDef LogSumExp() {
  OpDef def = Reduce("reduce_log_sum_exp", "log of the sum of e^x",
                     {&te::Reducer::Sum, nullptr, nullptr, true});
  def.traits = kNoTraits;  // once for the maximum, once for the sum
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0];
    INGOT_ASSIGN_OR_RETURN(const Reduction plan, Plan(x.shape(), c.attrs));
    const DataType t = x.dtype(), acc = ComputeType(t);
    if (plan.axes.empty()) {
      return Tensors{c.graph.Compute(c.name, plan.output,
                                     [&](const Indices& i) { return x(i); })};
    }
    const te::Tensor top = c.graph.Reduce(
        SubName(c, "max"), plan.output, plan.extents, te::Reducer::Max(acc),
        [&](const Indices& i, const Indices& r) {
          return Widen(x(plan.Join(i, r)));
        },
        ReduceTags());
    // Infinite maxima would make inf - inf below.
    auto shift = [&](const Indices& i) {
      return MakeSelect(MakeCall(Intrinsic::kIsInf, {top(i)}),
                        MakeConst(acc, 0), top(i));
    };
    const te::Tensor sum = c.graph.Reduce(
        SubName(c, "sum"), plan.output, plan.extents, te::Reducer::Sum(acc),
        [&](const Indices& i, const Indices& r) {
          return MakeCall(Intrinsic::kExp,
                          {Widen(x(plan.Join(i, r))) - shift(i)});
        },
        ReduceTags());
    return Tensors{c.graph.Compute(c.name, plan.output, [&](const Indices& i) {
      return MakeCast(t, shift(i) + MakeCall(Intrinsic::kLog, {sum(i)}));
    })};
  };
  return def;
}

// The extreme of nothing has no position: where there are results, the axis is
// not empty.
absl::Status ExpectElements(const Reduction& plan, const InferContext& c) {
  Dim results = I64(1);  // 1 where there are any, else 0
  for (const Dim& dim : plan.output) results = results * HasElements(dim);
  const Dim both = results * HasElements(plan.extents[0]);
  if (MayBeEqual(SimplifyDim(both), SimplifyDim(results), c.assumed)) {
    return absl::OkStatus();
  }
  return Invalid("the axis has no elements, so none of them has a position");
}

// The position of the extreme element: found first, then looked for.
OpDef ArgReduce(absl::string_view name, bool is_max) {
  OpDef def;
  def.name = std::string(name);
  def.doc = absl::StrCat("position of the ", is_max ? "largest" : "smallest",
                         " element along an axis");
  def.fusion = FusionKind::kReduction;
  def.attrs = {IntAttr("axis", "dimension that is searched", 0),
               IntAttr("keepdims", "whether it stays, as 1", 1),
               IntAttr("select_last_index",
                       "whether the last of several equal ones counts", 0)};
  auto plan_of = [](const Shape& shape, const Attrs& attrs) {
    Attrs plan_attrs;
    plan_attrs.Set("axes", std::vector<int64_t>{attrs.Get<int64_t>("axis")});
    plan_attrs.Set("keepdims", attrs.Get<int64_t>("keepdims"));
    return Plan(shape, plan_attrs);
  };
  def.infer = [plan_of](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_RETURN_IF_ERROR(ExpectNumber(c.type(0), "the operand"));
    INGOT_ASSIGN_OR_RETURN(Reduction plan, plan_of(c.type(0).shape, c.attrs));
    INGOT_RETURN_IF_ERROR(ExpectElements(plan, c));
    return Types{{DataType::Int(64), plan.output}};
  };
  def.compute = [=](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0];
    INGOT_ASSIGN_OR_RETURN(const Reduction plan, plan_of(x.shape(), c.attrs));
    const DataType t = x.dtype(), i64 = DataType::Int(64);
    const te::Tensor best = c.graph.Reduce(
        SubName(c, "best"), plan.output, plan.extents,
        is_max ? te::Reducer::Max(t) : te::Reducer::Min(t),
        [&](const Indices& i, const Indices& r) { return x(plan.Join(i, r)); },
        ReduceTags());
    const bool last = c.attrs.Get<int64_t>("select_last_index") != 0;
    const Expr none = last ? I64(-1) : plan.extents[0];
    const te::Tensor found = c.graph.Reduce(
        SubName(c, "found"), plan.output, plan.extents,
        last ? te::Reducer::Max(i64) : te::Reducer::Min(i64),
        [&](const Indices& i, const Indices& r) {
          return MakeSelect(Eq(x(plan.Join(i, r)), best(i)), r[0], none);
        },
        ReduceTags());
    // NaNs equal nothing, so a row of NaNs has no best; the answer stays in
    // range.
    return Tensors{c.graph.Compute(c.name, plan.output, [&](const Indices& i) {
      return Max(Min(found(i), plan.extents[0] - 1), I64(0));
    })};
  };
  return def;
}

}  // namespace

absl::Status RegisterReduction(OpRegistry* registry) {
  return RegisterAllOf(
      registry,
      {Reduce("reduce_sum", "sum", {&te::Reducer::Sum, nullptr, nullptr}),
       Reduce("reduce_mean", "mean", {&te::Reducer::Sum, nullptr, &Mean}),
       Reduce("reduce_max", "maximum", {&te::Reducer::Max, nullptr, nullptr}),
       Reduce("reduce_min", "minimum", {&te::Reducer::Min, nullptr, nullptr}),
       Reduce("reduce_prod", "product", {&te::Reducer::Prod, nullptr, nullptr}),
       Reduce("reduce_l1", "sum of |x|", {&te::Reducer::Sum, &AbsOf, nullptr}),
       Reduce("reduce_l2", "root of the sum of squares",
              {&te::Reducer::Sum, &Square, &SqrtOf}),
       Reduce("reduce_log_sum", "log of the sum",
              {&te::Reducer::Sum, nullptr, &LogOf, true}),
       Reduce("reduce_sum_square", "sum of squares",
              {&te::Reducer::Sum, &Square, nullptr}),
       LogSumExp(), ArgReduce("argmax", true), ArgReduce("argmin", false)});
}

}  // namespace ingot::relay::ops
