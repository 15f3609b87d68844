// Floats of 8 bits as bytes, one to an element.
#include <cmath>

#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/families.h"

namespace ingot::relay::ops {
namespace {

// A sign, `exponent` bits and `mantissa` bits. Those with `finite` have no
// infinities: where they would be are numbers, but for the codes that are NaN.
// Formats with `unsigned_zero` have one zero; what would be -0 is their only
// NaN.
struct Format {
  int exponent, mantissa, bias;
  bool finite, unsigned_zero;

  int min_exponent() const { return 1 - bias; }
  // Codes without the sign.
  int largest() const {
    if (unsigned_zero) return 127;
    return finite ? 126 : 127 - (1 << mantissa);
  }
  int infinity() const { return 128 - (1 << mantissa); }  // if not finite
  int nan() const { return unsigned_zero ? 128 : 127; }
  // The exponent of the largest number.
  int max_exponent() const { return (largest() >> mantissa) - bias; }
};

absl::StatusOr<Format> ReadFormat(const Attrs& attrs) {
  const std::string name = attrs.Get<std::string>("format");
  if (name == "e4m3fn") return Format{4, 3, 7, true, false};
  if (name == "e4m3fnuz") return Format{4, 3, 8, true, true};
  if (name == "e5m2") return Format{5, 2, 15, false, false};
  if (name == "e5m2fnuz") return Format{5, 2, 16, true, true};
  return Invalid("there is no format '", name, "'");
}

Expr F(double value) { return MakeConst(DataType::Float(32), value); }

AttrSpec FormatAttr() {
  return StringAttr("format", "e4m3fn, e4m3fnuz, e5m2 or e5m2fnuz", kRequired);
}

// Codes grow with the numbers, so that a code is the number of codes below its
// power of two and the rounded multiple of the distance between numbers there.
Expr Encode(const Format& f, bool saturate, const Expr& x) {
  const Expr size = MakeCall(Intrinsic::kAbs, {x});
  const int least = f.min_exponent();
  Expr below = F(0), per_step = F(std::ldexp(1.0, f.mantissa - least));
  for (int e = least + 1; e <= f.max_exponent(); ++e) {
    const Expr reaches = Ge(size, F(std::ldexp(1.0, e)));
    below = MakeSelect(reaches, F(std::ldexp(e - least, f.mantissa)), below);
    per_step =
        MakeSelect(reaches, F(std::ldexp(1.0, f.mantissa - e)), per_step);
  }
  const Expr code = below + MakeCall(Intrinsic::kRound, {size * per_step});
  const int beyond = saturate ? f.largest() : f.finite ? f.nan() : f.infinity();
  Expr result = MakeSelect(Gt(code, F(f.largest())), F(beyond), code);
  // The sign of a zero shows in its inverse only.
  const Expr negative =
      MakeSelect(Eq(x, F(0)), Lt(F(1) / x, F(0)), Lt(x, F(0)));
  // Neither the one zero nor the NaN in -0's place takes a sign.
  Expr signs = negative;
  if (f.unsigned_zero) {
    signs = And(signs, And(Gt(result, F(0)), Lt(result, F(128))));
  }
  result = MakeSelect(signs, result + F(128), result);
  const Expr is_nan = MakeCall(Intrinsic::kIsNan, {x});
  return MakeCast(DataType::UInt(8), MakeSelect(is_nan, F(f.nan()), result));
}

Expr Decode(const Format& f, const Expr& byte) {
  const DataType i32 = DataType::Int(32);
  auto i = [&](int64_t value) { return tir::MakeInt(value, i32); };
  const Expr code = MakeCast(i32, byte) % i(128);
  const Expr is_negative = Ge(MakeCast(i32, byte), i(128));
  const Expr exponent = code / i(1 << f.mantissa);
  const Expr mantissa = code % i(1 << f.mantissa);
  // Below the first power of two the steps are as above it, without the one.
  const Expr normal = Gt(exponent, i(0));
  const Expr steps = mantissa + MakeSelect(normal, i(1 << f.mantissa), i(0));
  const Expr from_least = MakeSelect(normal, exponent - i(1), i(0));
  Expr value = MakeCast(DataType::Float(32), steps) *
               F(std::ldexp(1.0, f.min_exponent() - f.mantissa));
  for (int bit = 0; bit < f.exponent; ++bit) {
    const Expr set = Eq(from_least / i(int64_t{1} << bit) % i(2), i(1));
    value = value * MakeSelect(set, F(std::ldexp(1.0, 1 << bit)), F(1));
  }
  if (!f.finite) {
    value = MakeSelect(Eq(code, i(f.infinity())), F(INFINITY), value);
  }
  value = MakeSelect(is_negative, -value, value);
  const Expr is_nan = f.unsigned_zero
                          ? Eq(MakeCast(i32, byte), i(128))
                          : Gt(code, i(f.finite ? f.largest() : f.infinity()));
  return MakeSelect(is_nan, F(NAN), value);
}

OpDef Float8Encode() {
  OpDef def;
  def.name = "float8_encode";
  def.doc = "x as floats of 8 bits, rounded to even, in bytes";
  def.fusion = FusionKind::kElementwise;
  def.layout_rule = LayoutRule::kFollows;
  def.attrs = {FormatAttr(), IntAttr("saturate",
                                     "whether what is too large becomes the "
                                     "largest number, not infinity or NaN",
                                     1)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_RETURN_IF_ERROR(ReadFormat(c.attrs).status());
    INGOT_RETURN_IF_ERROR(ExpectFloat(c.type(0), "the operand"));
    return Types{{DataType::UInt(8), c.type(0).shape}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0];
    INGOT_ASSIGN_OR_RETURN(const Format f, ReadFormat(c.attrs));
    const bool saturate = c.attrs.Get<int64_t>("saturate") != 0;
    return Tensors{c.graph.Compute(c.name, x.shape(), [&](const Indices& i) {
      return Encode(f, saturate, MakeCast(DataType::Float(32), x(i)));
    })};
  };
  return def;
}

OpDef Float8Decode() {
  OpDef def;
  def.name = "float8_decode";
  def.doc = "bytes that hold floats of 8 bits as f32";
  def.fusion = FusionKind::kElementwise;
  def.layout_rule = LayoutRule::kFollows;
  def.attrs = {FormatAttr()};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_RETURN_IF_ERROR(ReadFormat(c.attrs).status());
    if (c.type(0).dtype != DataType::UInt(8)) {
      return Invalid("the operand must be u8, not ", ToString(c.type(0)));
    }
    return Types{{DataType::Float(32), c.type(0).shape}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0];
    INGOT_ASSIGN_OR_RETURN(const Format f, ReadFormat(c.attrs));
    return Tensors{c.graph.Compute(
        c.name, x.shape(), [&](const Indices& i) { return Decode(f, x(i)); })};
  };
  return def;
}

}  // namespace

absl::Status RegisterFloat8(OpRegistry* registry) {
  return RegisterAllOf(registry, {Float8Encode(), Float8Decode()});
}

}  // namespace ingot::relay::ops
