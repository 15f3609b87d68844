// Operators on two or three tensors that broadcast against each other.
#include <functional>

#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/known.h"

namespace ingot::relay::ops {
namespace {

using tir::BinaryOp;
using tir::MakeBinary;

using BinaryFn =
    std::function<Expr(const Expr& a, const Expr& b, const Attrs& attrs)>;

enum class Domain { kNumber, kInteger, kBool, kAny };

absl::Status CheckDomain(Domain domain, const TensorType& type) {
  const DataType t = type.dtype;
  const bool fits = domain == Domain::kAny ||
                    (domain == Domain::kNumber && !t.is_bool()) ||
                    (domain == Domain::kInteger && t.is_integer()) ||
                    (domain == Domain::kBool && t.is_bool());
  if (fits) return absl::OkStatus();
  return Invalid("not defined for operands of ", ToString(type));
}

absl::StatusOr<Shape> BroadcastOf(const InferContext& c) {
  std::vector<Shape> shapes;
  for (size_t i = 0; i < c.inputs.size(); ++i)
    shapes.push_back(c.type(i).shape);
  absl::StatusOr<Shape> shape = BroadcastShapes(shapes, c.assumed);
  if (shape.ok()) return shape;
  std::string operands;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    absl::StrAppend(&operands, i == 0 ? "" : " and ", ToString(c.type(i)));
  }
  return Invalid("operands ", operands, ": ", shape.status().message());
}

// `same_type`: the operands have one type, which the result has too; otherwise
// the result has the first operand's.
OpDef Binary(absl::string_view name, absl::string_view doc, Domain domain,
             BinaryFn fn, bool to_bool = false,
             std::vector<AttrSpec> attrs = {}, bool same_type = true) {
  OpDef def;
  def.name = std::string(name);
  def.doc = std::string(doc);
  def.min_inputs = def.max_inputs = 2;
  def.fusion = FusionKind::kBroadcast;
  def.layout_rule = LayoutRule::kFollows;
  def.attrs = std::move(attrs);
  def.infer = [=](const InferContext& c) -> absl::StatusOr<Types> {
    if (same_type) {
      INGOT_RETURN_IF_ERROR(ExpectSameType(c.type(0), c.type(1)));
    }
    INGOT_RETURN_IF_ERROR(CheckDomain(domain, c.type(0)));
    INGOT_RETURN_IF_ERROR(CheckDomain(domain, c.type(1)));
    INGOT_ASSIGN_OR_RETURN(Shape shape, BroadcastOf(c));
    return Types{{to_bool ? DataType::Bool() : c.type(0).dtype, shape}};
  };
  def.compute = [fn](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const Shape& shape = c.outputs[0].shape;
    return Tensors{c.graph.Compute(c.name, shape, [&](const Indices& i) {
      const Expr a = BroadcastLoad(c.inputs[0], i, shape);
      const Expr b = BroadcastLoad(c.inputs[1], i, shape);
      return MakeCast(c.outputs[0].dtype, fn(Widen(a), Widen(b), c.attrs));
    })};
  };
  return def;
}

BinaryFn Op(BinaryOp op) {
  return [op](const Expr& a, const Expr& b, const Attrs&) {
    return MakeBinary(op, a, b);
  };
}

// A NaN in either operand stays one: of the second operand by what kMin and
// kMax are, which is why a constant limit does best as the first.
BinaryFn Extreme(BinaryOp op) {
  return [op](const Expr& a, const Expr& b, const Attrs&) {
    const Expr extreme = MakeBinary(op, a, b);
    return a->dtype.is_float() ? MakeSelect(Ne(a, a), a, extreme) : extreme;
  };
}

// Zero divisors come from the caller's data and must not trap.
Expr NonZero(const Expr& b) {
  return MakeSelect(Eq(b, MakeConst(b->dtype, 0)), MakeConst(b->dtype, 1), b);
}

Expr Div(const Expr& a, const Expr& b, const Attrs&) {
  if (a->dtype.is_float()) return a / b;
  return MakeBinary(BinaryOp::kDiv, a, NonZero(b));
}

Expr Mod(const Expr& a, const Expr& b, const Attrs& attrs) {
  const bool c_style = attrs.Get<int64_t>("fmod") != 0;
  if (a->dtype.is_float()) {
    const Expr rest = MakeCall(Intrinsic::kFmod, {a, b});
    if (c_style) return rest;
    const Expr zero = MakeConst(a->dtype, 0);
    const Expr signs_differ =
        And(Ne(rest, zero), Ne(Lt(rest, zero), Lt(b, zero)));
    return MakeSelect(signs_differ, rest + b, rest);
  }
  return MakeBinary(c_style ? BinaryOp::kMod : BinaryOp::kFloorMod, a,
                    NonZero(b));
}

// In double for integers: exact up to 2^53, and defined for any exponent.
Expr Pow(const Expr& a, const Expr& b, const Attrs&) {
  if (a->dtype.is_float()) {
    return MakeCall(Intrinsic::kPow, {a, MakeCast(a->dtype, b)});
  }
  const DataType wide = DataType::Float(64);
  return MakeCast(a->dtype, MakeCall(Intrinsic::kPow,
                                     {MakeCast(wide, a), MakeCast(wide, b)}));
}

// Shifts by as many bits as there are, or more, give 0.
Expr BitShift(const Expr& a, const Expr& b, const Attrs& attrs) {
  const bool left = attrs.Get<std::string>("direction") == "LEFT";
  const Expr bits = MakeConst(b->dtype, a->dtype.bits);
  const Expr small = Lt(b, bits);
  const Expr shift = MakeSelect(small, b, MakeConst(b->dtype, 0));
  return MakeSelect(
      small, MakeBinary(left ? BinaryOp::kShl : BinaryOp::kShr, a, shift),
      MakeConst(a->dtype, 0));
}

Expr PRelu(const Expr& x, const Expr& slope, const Attrs&) {
  return MakeSelect(Lt(x, MakeConst(x->dtype, 0)), x * slope, x);
}

OpDef Where() {
  OpDef def;
  def.name = "where";
  def.doc =
      "an element of the second operand where the first is true, else "
      "of the third";
  def.min_inputs = def.max_inputs = 3;
  def.fusion = FusionKind::kBroadcast;
  def.traits = kCheap;
  def.layout_rule = LayoutRule::kFollows;
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_RETURN_IF_ERROR(CheckDomain(Domain::kBool, c.type(0)));
    INGOT_RETURN_IF_ERROR(ExpectSameType(c.type(1), c.type(2)));
    INGOT_ASSIGN_OR_RETURN(Shape shape, BroadcastOf(c));
    return Types{{c.type(1).dtype, shape}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const Shape& shape = c.outputs[0].shape;
    return Tensors{c.graph.Compute(c.name, shape, [&](const Indices& i) {
      return MakeSelect(BroadcastLoad(c.inputs[0], i, shape),
                        BroadcastLoad(c.inputs[1], i, shape),
                        BroadcastLoad(c.inputs[2], i, shape));
    })};
  };
  return def;
}

OpDef Expand() {
  OpDef def;
  def.name = "expand";
  def.doc = "x repeated along dimensions of size 1, and new leading ones";
  def.max_inputs = -1;
  def.fusion = FusionKind::kBroadcast;
  def.compute_known = &CopyExpanded;
  def.attrs = {ShapeAttr("shape", "what x broadcasts with", kRequired)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_ASSIGN_OR_RETURN(
        Shape shape,
        BroadcastShapes({c.type(0).shape, c.attrs.Get<Shape>("shape")},
                        c.assumed));
    return Types{{c.type(0).dtype, shape}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const Shape& shape = c.outputs[0].shape;
    return Tensors{c.graph.Compute(c.name, shape, [&](const Indices& i) {
      return BroadcastLoad(c.inputs[0], i, shape);
    })};
  };
  return def;
}

std::vector<OpDef> Arithmetic() {
  return {
      With(kCheap | kCommutes,
           With(&AddKnown,
                Binary("add", "a + b", Domain::kNumber, Op(BinaryOp::kAdd)))),
      With(kCheap, With(&SubtractKnown, Binary("sub", "a - b", Domain::kNumber,
                                               Op(BinaryOp::kSub)))),
      With(kCheap | kCommutes,
           With(&MultiplyKnown,
                Binary("mul", "a * b", Domain::kNumber, Op(BinaryOp::kMul)))),
      With(&DivideKnown,
           Binary("div", "a / b; truncates integers", Domain::kNumber, &Div)),
      With(kJumps,
           Binary(
               "mod", "remainder, with the sign of b (of a if fmod)",
               Domain::kNumber, &Mod, false,
               {IntAttr("fmod", "whether it has the sign of a, as in C", 0)})),
      Binary("pow", "a to the b, in a's type", Domain::kNumber, &Pow, false, {},
             /*same_type=*/false),
      With(kCheap | kCommutes,
           Binary("minimum", "the smaller, NaN where either is",
                  Domain::kNumber, Extreme(BinaryOp::kMin))),
      With(kCheap | kCommutes,
           Binary("maximum", "the larger, NaN where either is", Domain::kNumber,
                  Extreme(BinaryOp::kMax))),
      Binary("prelu", "x, or x * slope below zero", Domain::kNumber, &PRelu),
  };
}

std::vector<OpDef> Comparisons() {
  const bool to_bool = true;
  return {
      With(kCommutes | kJumps,
           Binary("equal", "a = b", Domain::kAny, Op(BinaryOp::kEq), to_bool)),
      With(kCommutes | kJumps, Binary("not_equal", "a != b", Domain::kAny,
                                      Op(BinaryOp::kNe), to_bool)),
      With(kJumps, Binary("less", "a < b", Domain::kNumber, Op(BinaryOp::kLt),
                          to_bool)),
      With(kJumps, Binary("less_equal", "a <= b", Domain::kNumber,
                          Op(BinaryOp::kLe), to_bool)),
      With(kJumps, Binary("greater", "a > b", Domain::kNumber,
                          Op(BinaryOp::kGt), to_bool)),
      With(kJumps, Binary("greater_equal", "a >= b", Domain::kNumber,
                          Op(BinaryOp::kGe), to_bool)),
  };
}

std::vector<OpDef> LogicAndBits() {
  return {
      With(kCommutes,
           Binary("logical_and", "both", Domain::kBool, Op(BinaryOp::kAnd))),
      With(kCommutes,
           Binary("logical_or", "either", Domain::kBool, Op(BinaryOp::kOr))),
      With(kCommutes, Binary("logical_xor", "one but not both", Domain::kBool,
                             Op(BinaryOp::kNe))),
      With(kCommutes, Binary("bitwise_and", "bits in both", Domain::kInteger,
                             Op(BinaryOp::kBitAnd))),
      With(kCommutes, Binary("bitwise_or", "bits in either", Domain::kInteger,
                             Op(BinaryOp::kBitOr))),
      With(kCommutes, Binary("bitwise_xor", "bits in one of both",
                             Domain::kInteger, Op(BinaryOp::kBitXor))),
      Binary("bit_shift", "a shifted by b bits", Domain::kInteger, &BitShift,
             false, {StringAttr("direction", "LEFT or RIGHT", kRequired)}),
  };
}

}  // namespace

absl::Status RegisterBinary(OpRegistry* registry) {
  INGOT_RETURN_IF_ERROR(RegisterAllOf(registry, Arithmetic()));
  INGOT_RETURN_IF_ERROR(RegisterAllOf(registry, Comparisons()));
  INGOT_RETURN_IF_ERROR(RegisterAllOf(registry, LogicAndBits()));
  return RegisterAllOf(registry, {Where(), Expand()});
}

}  // namespace ingot::relay::ops
