// Matrix products and einsum.
#include "compiler/relay/dim.h"
#include "compiler/relay/einsum.h"
#include "compiler/relay/ops/clamped_load.h"
#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/known.h"
#include "compiler/te/tags.h"

namespace ingot::relay::ops {
namespace {

// The element types of an integer product differ from its result's.
absl::StatusOr<DataType> ResultType(const InferContext& c) {
  for (int i = 0; i < 2; ++i) {
    INGOT_RETURN_IF_ERROR(ExpectNumber(c.type(i), "an operand"));
  }
  if (c.attrs.Has("out_dtype")) {
    const DataType out = c.attrs.Get<DataType>("out_dtype");
    if (!out.is_float() && !out.is_integer()) {
      return Invalid("out_dtype=", out.ToString());
    }
    return out;
  }
  INGOT_RETURN_IF_ERROR(ExpectSameType(c.type(0), c.type(1)));
  return c.type(0).dtype;
}

// A sum of products in a wide enough type, converted to the result's if needed.
Tensors SumOfProducts(
    const ComputeContext& c, const Dim& k, const Tags& tags,
    const std::function<std::pair<Expr, Expr>(const Indices& i, const Expr& r)>&
        factors) {
  const TensorType& out = c.outputs[0];
  const DataType acc = ComputeType(out.dtype);
  auto term = [&](const Indices& i, const Indices& r) {
    const auto [a, b] = factors(i, r[0]);
    return MakeCast(acc, a) * MakeCast(acc, b);
  };
  const bool direct = out.dtype == acc;
  const te::Tensor sum =
      c.graph.Reduce(direct ? std::string(c.name) : SubName(c, "sum"),
                     out.shape, {k}, te::Reducer::Sum(acc), term, tags);
  if (direct) return {sum};
  return {c.graph.Compute(c.name, out.shape, [&](const Indices& i) {
    return MakeCast(out.dtype, sum(i));
  })};
}

absl::Status InnerMismatch(const InferContext& c) {
  return Invalid("operands ", ToString(c.type(0)), " and ", ToString(c.type(1)),
                 " differ in the dimension summed over");
}

OpDef Matmul() {
  OpDef def;
  def.name = "matmul";
  def.doc = "matrix product over the last two dimensions; others broadcast";
  def.min_inputs = def.max_inputs = 2;
  def.fusion = FusionKind::kAnchor;
  def.traits = kPacksOperands | kTimesMatrix;
  def.compute_known = &MultiplyMatrices;
  def.attrs = {TypeAttr(
      "out_dtype", "of sums and result; a's type when left out", kOptional)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    const Shape &a = c.type(0).shape, &b = c.type(1).shape;
    if (a.size() < 2 || b.size() < 2) {
      return Invalid("operands ", ToString(c.type(0)), " and ",
                     ToString(c.type(1)), " must have at least rank 2");
    }
    INGOT_ASSIGN_OR_RETURN(DataType dtype, ResultType(c));
    if (!MayBeEqual(a.back(), b[b.size() - 2], c.assumed))
      return InnerMismatch(c);
    INGOT_ASSIGN_OR_RETURN(Shape shape,
                           BroadcastShapes({Shape(a.begin(), a.end() - 2),
                                            Shape(b.begin(), b.end() - 2)},
                                           c.assumed));
    shape.push_back(a[a.size() - 2]);
    shape.push_back(b.back());
    return Types{{dtype, shape}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor a = c.inputs[0], b = c.inputs[1];
    const Shape& out = c.outputs[0].shape;
    const Shape batch(out.begin(), out.end() - 2);
    auto batch_index = [&](const te::Tensor& t, const Indices& i) {
      return BroadcastIndices(Shape(t.shape().begin(), t.shape().end() - 2),
                              Indices(i.begin(), i.end() - 2), batch);
    };
    return SumOfProducts(c, a.shape().back(), {{te::kAnchor, te::kMatmul}},
                         [&](const Indices& i, const Expr& r) {
                           Indices ai = batch_index(a, i),
                                   bi = batch_index(b, i);
                           ai.insert(ai.end(), {i[i.size() - 2], r});
                           bi.insert(bi.end(), {r, i.back()});
                           return std::make_pair(a(ai), b(bi));
                         });
  };
  return def;
}

OpDef Dense() {
  OpDef def;
  def.name = "dense";
  def.doc = "x[..., m, k] times the transpose of w[n, k]";
  def.min_inputs = def.max_inputs = 2;
  def.fusion = FusionKind::kAnchor;
  def.traits = kOperandsInMemory | kTimesTranspose;
  def.compute_known = &MultiplyTransposed;
  def.attrs = {TypeAttr(
      "out_dtype", "of sums and result; x's type when left out", kOptional)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    const TensorType &x = c.type(0), &w = c.type(1);
    if (x.shape.size() < 2) return Invalid("x must have at least rank 2");
    INGOT_RETURN_IF_ERROR(ExpectRank(w, 2, "w"));
    INGOT_ASSIGN_OR_RETURN(DataType dtype, ResultType(c));
    if (!MayBeEqual(x.shape.back(), w.shape[1], c.assumed))
      return InnerMismatch(c);
    TensorType out{dtype, x.shape};
    out.shape.back() = w.shape[0];
    return Types{out};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0], w = c.inputs[1];
    return SumOfProducts(c, x.shape().back(), {{te::kAnchor, te::kMatmul}},
                         [&](const Indices& i, const Expr& r) {
                           Indices xi = i;
                           xi.back() = r;
                           return std::make_pair(x(xi), w({i.back(), r}));
                         });
  };
  return def;
}

// The rows of a mixture of experts: reading the matrix in the sum leaves those
// alone that no row asks for.
OpDef ExpertDense() {
  OpDef def;
  def.name = "expert_dense";
  def.doc =
      "row m of x[m, k] times the transpose of w[experts[m]], of w[e, n, k]";
  def.min_inputs = def.max_inputs = 3;
  def.fusion = FusionKind::kReduction;
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    const TensorType &x = c.type(0), &w = c.type(1), &experts = c.type(2);
    INGOT_RETURN_IF_ERROR(ExpectRank(x, 2, "x"));
    INGOT_RETURN_IF_ERROR(ExpectRank(w, 3, "w"));
    INGOT_RETURN_IF_ERROR(ExpectRank(experts, 1, "experts"));
    INGOT_RETURN_IF_ERROR(ExpectNumber(x, "x"));
    INGOT_RETURN_IF_ERROR(ExpectSameType(x, w));
    INGOT_RETURN_IF_ERROR(ExpectInteger(experts, "experts"));
    if (!MayBeEqual(x.shape[1], w.shape[2], c.assumed)) return InnerMismatch(c);
    if (!MayBeEqual(x.shape[0], experts.shape[0], c.assumed)) {
      return Invalid("x is ", ToString(x), ", and experts are ",
                     ToString(experts));
    }
    return Types{{x.dtype, {x.shape[0], w.shape[1]}}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0], w = c.inputs[1], experts = c.inputs[2];
    return SumOfProducts(
        c, x.shape()[1], {}, [&](const Indices& i, const Expr& r) {
          const Expr expert = SafeIndex(experts({i[0]}), w.shape()[0]);
          return std::make_pair(x({i[0], r}),
                                ClampedLoad(w, {expert, i[1], r}, {0}));
        });
  };
  return def;
}

OpDef DensePacked() {
  OpDef def;
  def.name = "dense_packed";
  def.doc =
      "x[..., m, k] times w packed as [ceil(n / nr), k, nr], zero-padded, or "
      "such a w for each of x's matrices; with words [ceil(n / nr), k / 4, "
      "nr], or k / 2";
  def.min_inputs = def.max_inputs = 2;
  def.fusion = FusionKind::kAnchor;
  def.traits = kOperandsInMemory | kTimesPacked;
  def.attrs = {
      IntAttr("units", "n, the columns of the result", kRequired),
      TypeAttr("out_dtype", "of sums and result; x's type when left out",
               kOptional),
      WordsAttr()};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    const TensorType &x = c.type(0), &w = c.type(1);
    if (x.shape.size() < 2) return Invalid("x must have at least rank 2");
    const auto packed = ConstShape(w.shape);
    // The matrices of w, one for each of x's.
    const size_t batch = w.shape.size() < 3 ? 0 : w.shape.size() - 3;
    if (batch == 0) {
      INGOT_RETURN_IF_ERROR(ExpectRank(w, 3, "w"));
    } else if (batch + 2 != x.shape.size() ||
               !SameShape(Shape(w.shape.begin(), w.shape.end() - 3),
                          Shape(x.shape.begin(), x.shape.end() - 2))) {
      return Invalid("x ", ToString(x), " and w ", ToString(w),
                     " are not as many matrices");
    }
    INGOT_ASSIGN_OR_RETURN(DataType dtype, ResultType(c));
    Dim inner = w.shape[batch + 1];
    if (c.attrs.Get<int64_t>("words") != 0) {
      INGOT_RETURN_IF_ERROR(CheckWords(x, w, dtype));
      inner = SimplifyDim(inner * ElementsOfWord(x.dtype));
    }
    if (!MayBeEqual(x.shape.back(), inner, c.assumed)) return InnerMismatch(c);
    const int64_t units = c.attrs.Get<int64_t>("units");
    if (!packed || units < 1 || packed->back() < 1 ||
        (units - 1) / packed->back() + 1 != (*packed)[batch]) {
      return Invalid("w ", ToString(w), " does not hold ", units, " columns");
    }
    TensorType out{dtype, x.shape};
    out.shape.back() = I64(units);
    return Types{out};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0], w = c.inputs[1];
    const size_t batch = w.rank() - 3;
    const Expr nr = w.shape().back();
    const Tags tags = {{te::kAnchor, te::kDensePacked}};
    const auto weight = [&](const Indices& i, const Expr& term) {
      Indices at(i.begin(), i.begin() + batch);
      at.insert(at.end(), {i.back() / nr, term, i.back() % nr});
      return w(at);
    };
    if (c.attrs.Get<int64_t>("words") != 0) {
      return Tensors{c.graph.Reduce(
          c.name, c.outputs[0].shape, {w.shape()[batch + 1]},
          te::Reducer::Sum(DataType::Int(32)),
          [&](const Indices& i, const Indices& r) {
            Indices xi = i;
            xi.back() = r[0] * ElementsOfWord(x.dtype());
            return Dot(x, xi, weight(i, r[0]));
          },
          tags)};
    }
    auto factors = [&](const Indices& i, const Expr& r) {
      Indices xi = i;
      xi.back() = r;
      return std::make_pair(x(xi), weight(i, r));
    };
    return SumOfProducts(c, x.shape().back(), tags, factors);
  };
  return def;
}

OpDef Einsum() {
  OpDef def;
  def.name = "einsum";
  def.doc = "sum of products over named dimensions, as numpy's";
  def.max_inputs = -1;
  def.fusion = FusionKind::kReduction;
  def.traits = kOperandsInMemory;
  def.attrs = {
      StringAttr("equation", "\"ij,jk->ik\", with ... allowed", kRequired)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    std::vector<Shape> shapes;
    for (size_t i = 0; i < c.inputs.size(); ++i) {
      if (!c.has(i)) return Invalid("operand ", i, " is missing");
      INGOT_RETURN_IF_ERROR(ExpectNumber(c.type(i), "an operand"));
      INGOT_RETURN_IF_ERROR(ExpectSameType(c.type(0), c.type(i)));
      shapes.push_back(c.type(i).shape);
    }
    INGOT_ASSIGN_OR_RETURN(
        EinsumPlan plan,
        PlanEinsum(c.attrs.Get<std::string>("equation"), shapes, c.assumed));
    return Types{{c.type(0).dtype, plan.output}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    std::vector<Shape> shapes;
    for (const te::Tensor& t : c.inputs) shapes.push_back(t.shape());
    INGOT_ASSIGN_OR_RETURN(
        const EinsumPlan plan,
        PlanEinsum(c.attrs.Get<std::string>("equation"), shapes));
    const DataType out = c.outputs[0].dtype, acc = ComputeType(out);
    auto product = [&](const Indices& i, const Indices& r) {
      Expr value;
      for (size_t t = 0; t < c.inputs.size(); ++t) {
        Indices at;
        for (const EinsumPlan::Source& source : plan.operands[t]) {
          at.push_back(source.broadcast ? I64(0)
                       : source.reduced ? r[source.index]
                                        : i[source.index]);
        }
        const Expr factor = MakeCast(acc, c.inputs[t](at));
        value = value == nullptr ? factor : value * factor;
      }
      return value;
    };
    te::Tensor sum;
    if (plan.summed.empty()) {
      return Tensors{c.graph.Compute(
          c.name, plan.output,
          [&](const Indices& i) { return MakeCast(out, product(i, {})); })};
    }
    sum = c.graph.Reduce(out == acc ? std::string(c.name) : SubName(c, "sum"),
                         plan.output, plan.summed, te::Reducer::Sum(acc),
                         product);
    if (out == acc) return Tensors{sum};
    return Tensors{c.graph.Compute(c.name, plan.output, [&](const Indices& i) {
      return MakeCast(out, sum(i));
    })};
  };
  return def;
}

}  // namespace

absl::Status RegisterMatmul(OpRegistry* registry) {
  return RegisterAllOf(
      registry, {Matmul(), Dense(), ExpertDense(), DensePacked(), Einsum()});
}

}  // namespace ingot::relay::ops
