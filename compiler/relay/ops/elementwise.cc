// Operators on one tensor, element by element.
#include <cmath>
#include <functional>

#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/known.h"

namespace ingot::relay::ops {
namespace {

// x in its computing type, which the result has too (or bool).
using UnaryFn = std::function<Expr(const Expr& x, const Attrs& attrs)>;

enum class Domain { kFloat, kNumber, kInteger, kBool, kAny };

absl::Status CheckDomain(Domain domain, const TensorType& type) {
  switch (domain) {
    case Domain::kFloat:
      return ExpectFloat(type, "the operand");
    case Domain::kInteger:
      return ExpectInteger(type, "the operand");
    case Domain::kNumber:
      if (type.dtype.is_bool()) {
        return Invalid("the operand must be of a number type, not ",
                       ToString(type));
      }
      return absl::OkStatus();
    case Domain::kBool:
      if (!type.dtype.is_bool()) {
        return Invalid("the operand must be bool, not ", ToString(type));
      }
      return absl::OkStatus();
    case Domain::kAny:
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

OpDef Unary(absl::string_view name, absl::string_view doc, Domain domain,
            UnaryFn fn, std::vector<AttrSpec> attrs = {},
            bool to_bool = false) {
  OpDef def;
  def.name = std::string(name);
  def.doc = std::string(doc);
  def.fusion = FusionKind::kElementwise;
  def.layout_rule = LayoutRule::kFollows;
  def.attrs = std::move(attrs);
  def.infer = [domain,
               to_bool](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_RETURN_IF_ERROR(CheckDomain(domain, c.type(0)));
    TensorType type = c.type(0);
    if (to_bool) type.dtype = DataType::Bool();
    return Types{type};
  };
  def.compute = [fn](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0];
    return Tensors{c.graph.Compute(c.name, x.shape(), [&](const Indices& i) {
      return MakeCast(c.outputs[0].dtype, fn(Widen(x(i)), c.attrs));
    })};
  };
  return def;
}

Expr Like(const Expr& x, double value) { return MakeConst(x->dtype, value); }
Expr AttrLike(const Expr& x, const Attrs& attrs, absl::string_view name) {
  return Like(x, attrs.Get<double>(name));
}
Expr Exp(const Expr& x) { return MakeCall(Intrinsic::kExp, {x}); }
Expr Tanh(const Expr& x) { return MakeCall(Intrinsic::kTanh, {x}); }

Expr AbsOf(const Expr& x) {
  if (x->dtype.is_float()) return MakeCall(Intrinsic::kAbs, {x});
  if (x->dtype.is_uint()) return x;
  return MakeSelect(Lt(x, Like(x, 0)), -x, x);
}

// A NaN stays one, since it is the second operand.
Expr Clamp(const Expr& x, const Expr& low, const Expr& high) {
  return Min(high, Max(low, x));
}

Expr Sigmoid(const Expr& x) { return Like(x, 1) / (Like(x, 1) + Exp(-x)); }

// log(1 + e^x) without overflow for large x.
Expr Softplus(const Expr& x) {
  return Max(x, Like(x, 0)) +
         MakeCall(Intrinsic::kLog, {Like(x, 1) + Exp(-AbsOf(x))});
}

UnaryFn Call(Intrinsic intrinsic) {
  return [intrinsic](const Expr& x, const Attrs&) {
    return MakeCall(intrinsic, {x});
  };
}

UnaryFn Plain(Expr (*fn)(const Expr&)) {
  return [fn](const Expr& x, const Attrs&) { return fn(x); };
}

// Rounding leaves integers as they are.
UnaryFn Rounding(Intrinsic intrinsic) {
  return [intrinsic](const Expr& x, const Attrs&) {
    return x->dtype.is_float() ? MakeCall(intrinsic, {x}) : x;
  };
}

Expr Gelu(const Expr& x, const Attrs& attrs) {
  const Expr half = Like(x, 0.5) * x;
  if (attrs.Get<std::string>("approximate") == "tanh") {
    const Expr inner =
        Like(x, std::sqrt(2 / M_PI)) * (x + Like(x, 0.044715) * x * x * x);
    return half * (Like(x, 1) + Tanh(inner));
  }
  return half * (Like(x, 1) +
                 MakeCall(Intrinsic::kErf, {x * Like(x, std::sqrt(0.5))}));
}

// As in Clamp, a NaN stays one.
Expr Clip(const Expr& x, const Attrs& attrs) {
  Expr y = x;
  if (attrs.Has("min")) y = Max(AttrLike(x, attrs, "min"), y);
  if (attrs.Has("max")) y = Min(AttrLike(x, attrs, "max"), y);
  return y;
}

Expr Shrink(const Expr& x, const Attrs& attrs) {
  const Expr bias = AttrLike(x, attrs, "bias");
  const double lambd = attrs.Get<double>("lambd");
  Expr y = MakeSelect(Gt(x, Like(x, lambd)), x - bias, Like(x, 0));
  if (x->dtype.is_uint()) return y;
  return MakeSelect(Lt(x, Like(x, -lambd)), x + bias, y);
}

Expr IsInf(const Expr& x, const Attrs& attrs) {
  Expr result = MakeCall(Intrinsic::kIsInf, {x});
  if (attrs.Get<int64_t>("detect_positive") == 0) {
    result = And(result, Lt(x, Like(x, 0)));
  }
  if (attrs.Get<int64_t>("detect_negative") == 0) {
    result = And(result, Gt(x, Like(x, 0)));
  }
  return result;
}

// A number that is neither above nor below 0 is a zero or a NaN, and stays it.
Expr Sign(const Expr& x) {
  const Expr positive = MakeSelect(Gt(x, Like(x, 0)), Like(x, 1), x);
  if (x->dtype.is_uint()) return positive;
  return MakeSelect(Lt(x, Like(x, 0)), Like(x, -1), positive);
}

// All keep finite values finite.
std::vector<OpDef> Activations() {
  return {
      With(kCheap, Unary("relu", "max(x, 0)", Domain::kNumber,
                         [](const Expr& x, const Attrs&) {
                           return Max(Like(x, 0), x);  // a NaN stays one
                         })),
      Unary("leaky_relu", "x, or alpha * x below zero", Domain::kFloat,
            [](const Expr& x, const Attrs& a) {
              return MakeSelect(Lt(x, Like(x, 0)), x * AttrLike(x, a, "alpha"),
                                x);
            },
            {FloatAttr("alpha", "slope below zero", 0.01)}),
      Unary("elu", "x, or alpha * (e^x - 1) below zero", Domain::kFloat,
            [](const Expr& x, const Attrs& a) {
              return MakeSelect(Lt(x, Like(x, 0)),
                                AttrLike(x, a, "alpha") * (Exp(x) - Like(x, 1)),
                                x);
            },
            {FloatAttr("alpha", "the limit far below zero, negated", 1)}),
      Unary(
          "selu", "gamma * x, or gamma * alpha * (e^x - 1) up to zero",
          Domain::kFloat,
          [](const Expr& x, const Attrs& a) {
            const Expr alpha = AttrLike(x, a, "alpha");
            return AttrLike(x, a, "gamma") *
                   MakeSelect(Le(x, Like(x, 0)), alpha * Exp(x) - alpha, x);
          },
          {FloatAttr("alpha", "the limit far below zero, over -gamma",
                     1.67326319217681884765625),
           FloatAttr("gamma", "slope above zero", 1.05070102214813232421875)}),
      Unary("sigmoid", "1 / (1 + e^-x)", Domain::kFloat, Plain(&Sigmoid)),
      Unary("hard_sigmoid", "max(0, min(1, alpha * x + beta))", Domain::kFloat,
            [](const Expr& x, const Attrs& a) {
              return Clamp(AttrLike(x, a, "alpha") * x + AttrLike(x, a, "beta"),
                           Like(x, 0), Like(x, 1));
            },
            {FloatAttr("alpha", "slope", 0.2),
             FloatAttr("beta", "value at zero", 0.5)}),
      Unary("hard_swish", "x * max(0, min(1, x / 6 + 0.5))", Domain::kFloat,
            [](const Expr& x, const Attrs&) {
              return x * Clamp(Like(x, 1.0 / 6) * x + Like(x, 0.5), Like(x, 0),
                               Like(x, 1));
            }),
      Unary("swish", "x * sigmoid(alpha * x)", Domain::kFloat,
            [](const Expr& x, const Attrs& a) {
              return x * Sigmoid(AttrLike(x, a, "alpha") * x);
            },
            {FloatAttr("alpha", "factor of x in the sigmoid", 1)}),
      Unary("gelu", "x * Phi(x), the Gaussian distribution", Domain::kFloat,
            &Gelu, {StringAttr("approximate", "none or tanh", "none")}),
      Unary("mish", "x * tanh(softplus(x))", Domain::kFloat,
            [](const Expr& x, const Attrs&) { return x * Tanh(Softplus(x)); }),
      Unary("celu", "max(0, x) + min(0, alpha * (e^(x / alpha) - 1))",
            Domain::kFloat,
            [](const Expr& x, const Attrs& a) {
              const Expr alpha = AttrLike(x, a, "alpha");
              return Max(x, Like(x, 0)) +
                     Min(Like(x, 0), alpha * (Exp(x / alpha) - Like(x, 1)));
            },
            {FloatAttr("alpha", "the limit far below zero, negated", 1)}),
      Unary("softplus", "log(1 + e^x)", Domain::kFloat, Plain(&Softplus)),
      Unary("softsign", "x / (1 + |x|)", Domain::kFloat,
            [](const Expr& x, const Attrs&) {
              return x / (Like(x, 1) + AbsOf(x));
            }),
      Unary("thresholded_relu", "x above alpha, else 0", Domain::kFloat,
            [](const Expr& x, const Attrs& a) {
              return MakeSelect(Gt(x, AttrLike(x, a, "alpha")), x, Like(x, 0));
            },
            {FloatAttr("alpha", "the threshold", 1)}),
      Unary("shrink", "x moved towards 0 by bias where |x| > lambd, else 0",
            Domain::kNumber, &Shrink,
            {FloatAttr("bias", "distance that x moves", 0),
             FloatAttr("lambd", "half the width of the gap", 0.5)}),
      With(
          kCheap,
          Unary("clip", "x limited to [min, max]; either may be left out",
                Domain::kNumber, &Clip,
                {FloatAttr("min", "lower limit; none when left out", kOptional),
                 FloatAttr("max", "upper limit; none when left out",
                           kOptional)})),
  };
}

std::vector<OpDef> BasicMath() {
  return {
      Unary("erf", "error function", Domain::kFloat, Call(Intrinsic::kErf)),
      Unary("tanh", "hyperbolic tangent", Domain::kFloat,
            Call(Intrinsic::kTanh)),
      Unary("sin", "sine", Domain::kFloat, Call(Intrinsic::kSin)),
      Unary("cos", "cosine", Domain::kFloat, Call(Intrinsic::kCos)),
      Unary("atan", "arc tangent", Domain::kFloat, Call(Intrinsic::kAtan)),
      With(kJumps, Unary("floor", "largest integer not above x",
                         Domain::kNumber, Rounding(Intrinsic::kFloor))),
      With(kJumps, Unary("ceil", "smallest integer not below x",
                         Domain::kNumber, Rounding(Intrinsic::kCeil))),
      With(kJumps, Unary("round", "nearest integer, halves to even",
                         Domain::kNumber, Rounding(Intrinsic::kRound))),
      With(kCheap, Unary("abs", "|x|", Domain::kNumber, Plain(&AbsOf))),
      With(kCheap, With(&NegateKnown,
                        Unary("neg", "-x", Domain::kNumber,
                              [](const Expr& x, const Attrs&) { return -x; }))),
      Unary("sign", "-1, 0 or 1", Domain::kNumber, Plain(&Sign)),
      Unary("logical_not", "not x", Domain::kBool,
            [](const Expr& x, const Attrs&) {
              return tir::MakeUnary(tir::UnaryOp::kNot, x);
            }),
      Unary("bitwise_not", "every bit flipped", Domain::kInteger,
            [](const Expr& x, const Attrs&) {
              return tir::MakeUnary(tir::UnaryOp::kBitNot, x);
            }),
      Unary("is_nan", "x is not a number", Domain::kFloat,
            Call(Intrinsic::kIsNan), {}, /*to_bool=*/true),
      Unary("is_inf", "x is infinite", Domain::kFloat, &IsInf,
            {IntAttr("detect_negative", "whether -inf counts", 1),
             IntAttr("detect_positive", "whether +inf counts", 1)},
            /*to_bool=*/true),
  };
}

// Powers, roots and the like, and their inverses.
std::vector<OpDef> FurtherMath() {
  return {
      Unary("exp", "e^x", Domain::kFloat, Call(Intrinsic::kExp)),
      Unary("log", "natural logarithm", Domain::kFloat, Call(Intrinsic::kLog)),
      With(&SquareRootKnown, Unary("sqrt", "square root", Domain::kFloat,
                                   Call(Intrinsic::kSqrt))),
      Unary("rsqrt", "1 / sqrt(x)", Domain::kFloat, Call(Intrinsic::kRsqrt)),
      Unary("tan", "tangent", Domain::kFloat, Call(Intrinsic::kTan)),
      Unary("asin", "arc sine", Domain::kFloat, Call(Intrinsic::kAsin)),
      Unary("acos", "arc cosine", Domain::kFloat, Call(Intrinsic::kAcos)),
      Unary("sinh", "hyperbolic sine", Domain::kFloat, Call(Intrinsic::kSinh)),
      Unary("cosh", "hyperbolic cosine", Domain::kFloat,
            Call(Intrinsic::kCosh)),
      Unary("asinh", "inverse of sinh", Domain::kFloat,
            Call(Intrinsic::kAsinh)),
      Unary("acosh", "inverse of cosh", Domain::kFloat,
            Call(Intrinsic::kAcosh)),
      Unary("atanh", "inverse of tanh", Domain::kFloat,
            Call(Intrinsic::kAtanh)),
      With(&InvertKnown,
           Unary("reciprocal", "1 / x", Domain::kFloat,
                 [](const Expr& x, const Attrs&) { return Like(x, 1) / x; })),
  };
}

OpDef Cast() {
  OpDef def;
  def.name = "cast";
  def.doc = "x converted to another element type";
  def.fusion = FusionKind::kElementwise;
  def.compute_known = &CopyCast;
  def.traits = kCheap | kJumps;
  def.layout_rule = LayoutRule::kFollows;
  def.attrs = {TypeAttr("dtype", "the type of the result", kRequired)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    const DataType to = c.attrs.Get<DataType>("dtype");
    if (to.lanes != 1 || to.code == DataType::kHandle) {
      return Invalid("cannot cast to ", to.ToString());
    }
    return Types{{to, c.type(0).shape}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0];
    const DataType to = c.outputs[0].dtype;
    return Tensors{c.graph.Compute(c.name, x.shape(), [&](const Indices& i) {
      return MakeCast(to, x(i));
    })};
  };
  return def;
}

}  // namespace

absl::Status RegisterElementwise(OpRegistry* registry) {
  INGOT_RETURN_IF_ERROR(RegisterAllOf(registry, Activations()));
  INGOT_RETURN_IF_ERROR(RegisterAllOf(registry, BasicMath()));
  INGOT_RETURN_IF_ERROR(RegisterAllOf(registry, FurtherMath()));
  return RegisterAllOf(registry, {Cast()});
}

}  // namespace ingot::relay::ops
