// Normalisations and softmax.
#include <algorithm>
#include <cmath>

#include "compiler/relay/ops/common.h"
#include "compiler/te/tags.h"

namespace ingot::relay::ops {
namespace {

const Tags& NormTags() {
  static const Tags* tags = new Tags{{te::kAnchor, te::kNorm}};
  return *tags;
}
const Tags& SoftmaxTags() {
  static const Tags* tags = new Tags{{te::kAnchor, te::kSoftmax}};
  return *tags;
}

Expr Rsqrt(const Expr& x) {
  return MakeConst(x->dtype, 1) / MakeCall(Intrinsic::kSqrt, {x});
}

absl::Status ExpectVector(const TensorType& type, const Dim& extent,
                          absl::string_view what,
                          std::vector<DimAssumption>* assumed) {
  INGOT_RETURN_IF_ERROR(ExpectRank(type, 1, what));
  if (!MayBeEqual(type.shape[0], extent, assumed)) {
    return Invalid(what, " ", ToString(type),
                   " must have one element for each "
                   "of the channels of x");
  }
  return absl::OkStatus();
}

OpDef BatchNorm() {
  OpDef def;
  def.name = "batch_norm";
  def.doc =
      "(x - mean) / sqrt(var + epsilon) * scale + bias, with one value per "
      "channel";
  def.min_inputs = def.max_inputs = 5;
  def.fusion = FusionKind::kBroadcast;
  def.attrs = {FloatAttr("epsilon", "added to the variance", 1e-5)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    const TensorType& x = c.type(0);
    INGOT_RETURN_IF_ERROR(ExpectFloat(x, "x"));
    if (x.shape.empty()) return Invalid("x is a scalar");
    static constexpr absl::string_view kNames[] = {"scale", "bias", "mean",
                                                   "var"};
    const Dim channels = x.shape.size() < 2 ? I64(1) : x.shape[1];
    for (int i = 0; i < 4; ++i) {
      INGOT_RETURN_IF_ERROR(
          ExpectVector(c.type(1 + i), channels, kNames[i], c.assumed));
      INGOT_RETURN_IF_ERROR(ExpectFloat(c.type(1 + i), kNames[i]));
    }
    return Types{x};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const DataType t = c.inputs[0].dtype(), acc = ComputeType(t);
    return Tensors{
        c.graph.Compute(c.name, c.outputs[0].shape, [&](const Indices& i) {
          const Indices channel = {i.size() < 2 ? I64(0) : i[1]};
          auto at = [&](int k) { return MakeCast(acc, c.inputs[k](channel)); };
          const Expr x = MakeCast(acc, c.inputs[0](i));
          const Expr root = MakeCall(
              Intrinsic::kSqrt,
              {at(4) + MakeConst(acc, c.attrs.Get<double>("epsilon"))});
          return MakeCast(t, (x - at(3)) / root * at(1) + at(2));
        })};
  };
  return def;
}

// The dimensions of x as a normalisation sees them: it runs over the `outer`
// ones and averages over the `inner` ones; `At` joins their indices.
struct Rows {
  Shape outer;
  std::vector<Expr> inner;
  std::function<Expr(const Indices& outer, const Indices& inner)> At;
  Dim count;
};

struct Moments {
  te::Tensor mean, variance;  // of `outer` shape, in the computing type
};

// `row(i)` and the stages' shape are over rows.outer. `centred` false leaves
// the mean out (root mean square).
Moments MakeMoments(const ComputeContext& c, const Rows& rows, bool centred) {
  const DataType acc = ComputeType(c.inputs[0].dtype());
  int64_t known;
  const Expr count = ConstDim(rows.count, &known)
                         ? MakeConst(acc, static_cast<double>(known))
                         : MakeCast(acc, rows.count);
  Moments m;
  if (centred) {
    const te::Tensor sum = c.graph.Reduce(
        SubName(c, "sum"), rows.outer, rows.inner, te::Reducer::Sum(acc),
        [&](const Indices& i, const Indices& r) { return rows.At(i, r); },
        NormTags());
    m.mean = c.graph.Compute(
        SubName(c, "mean"), rows.outer,
        [&](const Indices& i) { return sum(i) / count; }, NormTags());
  }
  const te::Tensor squares = c.graph.Reduce(
      SubName(c, "squares"), rows.outer, rows.inner, te::Reducer::Sum(acc),
      [&](const Indices& i, const Indices& r) {
        const Expr x = rows.At(i, r);
        const Expr d = centred ? x - m.mean(i) : x;
        return d * d;
      },
      NormTags());
  m.variance = c.graph.Compute(
      SubName(c, "var"), rows.outer,
      [&](const Indices& i) { return squares(i) / count; }, NormTags());
  return m;
}

Expr InverseRoot(const ComputeContext& c, const Expr& variance) {
  return Rsqrt(variance +
               MakeConst(variance->dtype, c.attrs.Get<double>("epsilon")));
}

// Layer and RMS norm: over the last dimensions from `axis` on.
OpDef LayerNorm(absl::string_view name, absl::string_view doc, bool centred) {
  OpDef def;
  def.name = std::string(name);
  def.doc = std::string(doc);
  def.min_inputs = 2;
  def.max_inputs = centred ? 3 : 2;
  def.fusion = FusionKind::kReduction;
  def.attrs = {IntAttr("axis", "first dimension averaged over", -1),
               FloatAttr("epsilon", "added to the variance", 1e-5)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    const TensorType& x = c.type(0);
    INGOT_RETURN_IF_ERROR(ExpectFloat(x, "x"));
    INGOT_RETURN_IF_ERROR(NormalizeAxis(c.attrs.Get<int64_t>("axis"),
                                        static_cast<int>(x.shape.size()))
                              .status());
    for (int i = 1; i < 3 && c.has(i); ++i) {
      INGOT_ASSIGN_OR_RETURN(
          Shape joined, BroadcastShapes({x.shape, c.type(i).shape}, c.assumed));
      if (joined.size() != x.shape.size()) {
        return Invalid("scale or bias ", ToString(c.type(i)),
                       " has more dimensions than x ", ToString(x));
      }
    }
    return Types{x};
  };
  def.compute = [centred](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0];
    const DataType t = x.dtype(), acc = ComputeType(t);
    INGOT_ASSIGN_OR_RETURN(
        const int axis, NormalizeAxis(c.attrs.Get<int64_t>("axis"), x.rank()));
    Rows rows;
    rows.outer.assign(x.shape().begin(), x.shape().begin() + axis);
    rows.inner.assign(x.shape().begin() + axis, x.shape().end());
    rows.count = Product(x.shape(), axis, x.rank());
    rows.At = [&](const Indices& i, const Indices& r) {
      Indices at = i;
      at.insert(at.end(), r.begin(), r.end());
      return MakeCast(acc, x(at));
    };
    const Moments m = MakeMoments(c, rows, centred);
    return Tensors{c.graph.Compute(
        c.name, x.shape(),
        [&](const Indices& i) {
          const Indices row(i.begin(), i.begin() + axis);
          Expr y = MakeCast(acc, x(i));
          if (centred) y = y - m.mean(row);
          y = y * InverseRoot(c, m.variance(row)) *
              MakeCast(acc, BroadcastLoad(c.inputs[1], i, x.shape()));
          if (c.has(2)) {
            y = y + MakeCast(acc, BroadcastLoad(c.inputs[2], i, x.shape()));
          }
          return MakeCast(t, y);
        },
        NormTags())};
  };
  return def;
}

// Instance norm is group norm with one group per channel.
OpDef GroupNorm(absl::string_view name, absl::string_view doc, bool instance) {
  OpDef def;
  def.name = std::string(name);
  def.doc = std::string(doc);
  def.min_inputs = def.max_inputs = 3;
  def.fusion = FusionKind::kReduction;
  def.attrs = {FloatAttr("epsilon", "added to the variance", 1e-5)};
  if (!instance)
    def.attrs.push_back(IntAttr("groups", "of channels", kRequired));
  def.infer = [instance](const InferContext& c) -> absl::StatusOr<Types> {
    const TensorType& x = c.type(0);
    INGOT_RETURN_IF_ERROR(ExpectFloat(x, "x"));
    if (x.shape.size() < 2)
      return Invalid("x ", ToString(x), " has no channels");
    INGOT_RETURN_IF_ERROR(
        ExpectVector(c.type(1), x.shape[1], "scale", c.assumed));
    INGOT_RETURN_IF_ERROR(
        ExpectVector(c.type(2), x.shape[1], "bias", c.assumed));
    if (!instance) {
      int64_t channels;
      const int64_t groups = c.attrs.Get<int64_t>("groups");
      if (!ConstDim(x.shape[1], &channels) || groups < 1 ||
          channels % groups != 0) {
        return Invalid("groups=", groups, " does not divide the channels of ",
                       ToString(x));
      }
    }
    return Types{x};
  };
  def.compute = [instance](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0];
    const DataType t = x.dtype(), acc = ComputeType(t);
    int64_t per_group = 1;
    if (!instance) {
      int64_t channels;
      ConstDim(x.shape()[1], &channels);
      // Without channels there is nothing to divide, but still a result.
      per_group =
          std::max<int64_t>(channels / c.attrs.Get<int64_t>("groups"), 1);
    }
    Rows rows;
    rows.outer = {x.shape()[0], FloorDiv(x.shape()[1], per_group)};
    if (per_group > 1) rows.inner.push_back(I64(per_group));
    rows.inner.insert(rows.inner.end(), x.shape().begin() + 2, x.shape().end());
    if (rows.inner.empty()) rows.inner.push_back(I64(1));
    rows.count = Product(rows.inner, 0, static_cast<int>(rows.inner.size()));
    rows.At = [&](const Indices& i, const Indices& r) {
      Indices at = {i[0], i[1]};
      size_t next = 0;
      if (per_group > 1) at[1] = i[1] * per_group + r[next++];
      for (int d = 2; d < x.rank(); ++d) at.push_back(r[next++]);
      return MakeCast(acc, x(at));
    };
    const Moments m = MakeMoments(c, rows, true);
    return Tensors{c.graph.Compute(
        c.name, x.shape(),
        [&](const Indices& i) {
          const Indices row = {i[0], FloorDiv(i[1], per_group)};
          const Expr y = (MakeCast(acc, x(i)) - m.mean(row)) *
                         InverseRoot(c, m.variance(row));
          return MakeCast(t, y * MakeCast(acc, c.inputs[1]({i[1]})) +
                                 MakeCast(acc, c.inputs[2]({i[1]})));
        },
        NormTags())};
  };
  return def;
}

OpDef Lrn() {
  OpDef def;
  def.name = "lrn";
  def.doc = "x / (bias + alpha / size * sum of squares of near channels)^beta";
  def.fusion = FusionKind::kReduction;
  def.traits = kOperandsInMemory;
  def.attrs = {IntAttr("size", "channels summed over", kRequired),
               FloatAttr("alpha", "factor of the sum", 1e-4),
               FloatAttr("beta", "exponent", 0.75),
               FloatAttr("bias", "added to the sum", 1)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_RETURN_IF_ERROR(ExpectFloat(c.type(0), "x"));
    if (c.type(0).shape.size() < 2) return Invalid("x has no channels");
    const int64_t size = c.attrs.Get<int64_t>("size");
    if (size < 1 || size > 65536) return Invalid("size=", size);
    return Types{c.type(0)};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0];
    const DataType t = x.dtype(), acc = ComputeType(t);
    const int64_t size = c.attrs.Get<int64_t>("size");
    const int64_t before = (size - 1) / 2;
    const te::Tensor squares = c.graph.Reduce(
        SubName(c, "squares"), x.shape(), {I64(size)}, te::Reducer::Sum(acc),
        [&](const Indices& i, const Indices& r) {
          Indices at = i;
          at[1] = i[1] + r[0] - before;
          const Expr e = MakeCast(acc, x(at));
          return MakeSelect(And(Ge(at[1], I64(0)), Lt(at[1], x.shape()[1])),
                            e * e, MakeConst(acc, 0));
        });
    return Tensors{c.graph.Compute(c.name, x.shape(), [&](const Indices& i) {
      const Expr base = MakeConst(acc, c.attrs.Get<double>("bias")) +
                        MakeConst(acc, c.attrs.Get<double>("alpha") /
                                           static_cast<double>(size)) *
                            squares(i);
      return MakeCast(
          t, MakeCast(acc, x(i)) /
                 MakeCall(Intrinsic::kPow,
                          {base, MakeConst(acc, c.attrs.Get<double>("beta"))}));
    })};
  };
  return def;
}

// Reads x with dimension `axis` replaced by a reduction index; the row stages
// keep that dimension, with extent 1.
Indices AtAxis(const Indices& i, int axis, const Expr& value) {
  Indices at = i;
  at[axis] = value;
  return at;
}

OpDef Softmax(absl::string_view name, absl::string_view doc, bool log) {
  OpDef def;
  def.name = std::string(name);
  def.doc = std::string(doc);
  def.fusion = FusionKind::kReduction;
  def.attrs = {IntAttr("axis", "dimension that is normalised", -1)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_RETURN_IF_ERROR(ExpectFloat(c.type(0), "x"));
    INGOT_RETURN_IF_ERROR(
        NormalizeAxis(c.attrs.Get<int64_t>("axis"),
                      static_cast<int>(c.type(0).shape.size()))
            .status());
    return Types{c.type(0)};
  };
  def.compute = [log](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0];
    const DataType t = x.dtype(), acc = ComputeType(t);
    INGOT_ASSIGN_OR_RETURN(
        const int axis, NormalizeAxis(c.attrs.Get<int64_t>("axis"), x.rank()));
    Shape rows = x.shape();
    const Dim extent = rows[axis];
    rows[axis] = I64(1);
    auto row_of = [&](const Indices& i) { return AtAxis(i, axis, I64(0)); };
    const te::Tensor top = c.graph.Reduce(
        SubName(c, "max"), rows, {extent}, te::Reducer::Max(acc),
        [&](const Indices& i, const Indices& r) {
          return MakeCast(acc, x(AtAxis(i, axis, r[0])));
        },
        SoftmaxTags());
    auto shifted = [&](const Indices& i) {
      return MakeCast(acc, x(i)) - top(row_of(i));
    };
    if (log) {
      const te::Tensor sum = c.graph.Reduce(
          SubName(c, "sum"), rows, {extent}, te::Reducer::Sum(acc),
          [&](const Indices& i, const Indices& r) {
            return MakeCall(Intrinsic::kExp, {shifted(AtAxis(i, axis, r[0]))});
          },
          SoftmaxTags());
      return Tensors{c.graph.Compute(
          c.name, x.shape(),
          [&](const Indices& i) {
            return MakeCast(
                t, shifted(i) - MakeCall(Intrinsic::kLog, {sum(row_of(i))}));
          },
          SoftmaxTags())};
    }
    const te::Tensor exps = c.graph.Compute(
        SubName(c, "exp"), x.shape(),
        [&](const Indices& i) {
          return MakeCall(Intrinsic::kExp, {shifted(i)});
        },
        SoftmaxTags());
    const te::Tensor sum = c.graph.Reduce(
        SubName(c, "sum"), rows, {extent}, te::Reducer::Sum(acc),
        [&](const Indices& i, const Indices& r) {
          return exps(AtAxis(i, axis, r[0]));
        },
        SoftmaxTags());
    // A row divides once: rounding twice costs half of a last place, and each
    // element would wait for a division of its own.
    return Tensors{c.graph.Compute(
        c.name, x.shape(),
        [&](const Indices& i) {
          return MakeCast(t, exps(i) * (MakeConst(acc, 1) / sum(row_of(i))));
        },
        SoftmaxTags())};
  };
  return def;
}

OpDef LpNorm() {
  OpDef def = Softmax("lp_norm", "x / its Lp norm along an axis", false);
  def.attrs.push_back(IntAttr("p", "1 or 2", 2));
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0];
    const DataType t = x.dtype(), acc = ComputeType(t);
    INGOT_ASSIGN_OR_RETURN(
        const int axis, NormalizeAxis(c.attrs.Get<int64_t>("axis"), x.rank()));
    const bool squares = c.attrs.Get<int64_t>("p") == 2;
    Shape rows = x.shape();
    const Dim extent = rows[axis];
    rows[axis] = I64(1);
    const te::Tensor sum = c.graph.Reduce(
        SubName(c, "sum"), rows, {extent}, te::Reducer::Sum(acc),
        [&](const Indices& i, const Indices& r) {
          const Expr e = MakeCast(acc, x(AtAxis(i, axis, r[0])));
          return squares ? e * e : MakeCall(Intrinsic::kAbs, {e});
        },
        NormTags());
    return Tensors{c.graph.Compute(
        c.name, x.shape(),
        [&](const Indices& i) {
          const Expr s = sum(AtAxis(i, axis, I64(0)));
          const Expr norm = squares ? MakeCall(Intrinsic::kSqrt, {s}) : s;
          // A row of zeros stays one.
          const Expr zero = MakeConst(acc, 0);
          return MakeCast(
              t, MakeSelect(
                     Eq(norm, zero), zero,
                     MakeCast(acc, x(i)) /
                         MakeSelect(Eq(norm, zero), MakeConst(acc, 1), norm)));
        },
        NormTags())};
  };
  return def;
}

}  // namespace

absl::Status RegisterNormalization(OpRegistry* registry) {
  return RegisterAllOf(
      registry,
      {BatchNorm(),
       LayerNorm("layer_norm",
                 "x with its trailing axes brought to zero mean and unit "
                 "variance, times scale, plus bias",
                 true),
       LayerNorm("rms_norm", "x over its root mean square, times scale", false),
       GroupNorm("instance_norm",
                 "x with each plane brought to zero mean and unit variance",
                 true),
       GroupNorm("group_norm",
                 "x with each group of channels brought to zero mean and unit "
                 "variance",
                 false),
       Lrn(), Softmax("softmax", "e^x over its sum along an axis", false),
       Softmax("log_softmax", "logarithm of softmax", true), LpNorm()});
}

}  // namespace ingot::relay::ops
