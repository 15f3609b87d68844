// Floats of 8 and 4 bits as their codes, one to a byte.
#include <cmath>

#include "compiler/relay/ops/common.h"
namespace ingot::relay::ops {
namespace {

// A sign, `exponent` bits and `mantissa` bits. Those with `finite` have no
// infinities: where they would be are numbers, but for the codes that are NaN.
// Formats with `unsigned_zero` have one zero; what would be -0 is their only
// NaN.
struct Format {
  int exponent, mantissa, bias;
  bool finite, unsigned_zero;
  bool has_nan = true;

  int min_exponent() const { return 1 - bias; }
  // The code of the sign; other codes are without it.
  int sign() const { return 1 << (exponent + mantissa); }
  int largest() const {
    if (unsigned_zero || !has_nan) return sign() - 1;
    return finite ? sign() - 2 : infinity() - 1;
  }
  int infinity() const { return sign() - (1 << mantissa); }  // if not finite
  // Of several the quiet one, as in ONNX's cases. A NaN becomes -0 where there
  // is none, as there.
  int nan() const {
    if (unsigned_zero || !has_nan) return sign();
    return finite ? sign() - 1 : infinity() + (1 << (mantissa - 1));
  }
  // The exponent of the largest number.
  int max_exponent() const { return (largest() >> mantissa) - bias; }
};

// The exponent alone: all codes but 255, which is NaN, are powers of two.
constexpr char kScale[] = "e8m0";
constexpr int kScaleBias = 127, kScaleNan = 255;

absl::StatusOr<Format> ReadFormat(const Attrs& attrs) {
  const std::string name = attrs.Get<std::string>("format");
  if (name == "e4m3fn") return Format{4, 3, 7, true, false};
  if (name == "e4m3fnuz") return Format{4, 3, 8, true, true};
  if (name == "e5m2") return Format{5, 2, 15, false, false};
  if (name == "e5m2fnuz") return Format{5, 2, 16, true, true};
  if (name == "e2m1") return Format{2, 1, 1, true, false, false};
  return Invalid("there is no format '", name, "'");
}

bool IsScale(const Attrs& attrs) {
  return attrs.Get<std::string>("format") == kScale;
}

absl::Status CheckFormat(const Attrs& attrs) {
  return IsScale(attrs) ? absl::OkStatus() : ReadFormat(attrs).status();
}

Expr F(double value) { return MakeConst(DataType::Float(32), value); }

AttrSpec FormatAttr() {
  return StringAttr("format", "e4m3fn, e4m3fnuz, e5m2, e5m2fnuz, e8m0 or e2m1",
                    kRequired);
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
  const int beyond = saturate || !f.has_nan ? f.largest()
                     : f.finite             ? f.nan()
                                            : f.infinity();
  Expr result = MakeSelect(Gt(code, F(f.largest())), F(beyond), code);
  // The sign of a zero shows in its inverse only.
  const Expr negative =
      MakeSelect(Eq(x, F(0)), Lt(F(1) / x, F(0)), Lt(x, F(0)));
  // Neither the one zero nor the NaN in -0's place takes a sign.
  Expr signs = negative;
  if (f.unsigned_zero) {
    signs = And(signs, And(Gt(result, F(0)), Lt(result, F(f.sign()))));
  }
  result = MakeSelect(signs, result + F(f.sign()), result);
  const Expr is_nan = MakeCall(Intrinsic::kIsNan, {x});
  return MakeCast(DataType::UInt(8), MakeSelect(is_nan, F(f.nan()), result));
}

Expr Decode(const Format& f, const Expr& byte) {
  const DataType i32 = DataType::Int(32);
  auto i = [&](int64_t value) { return tir::MakeInt(value, i32); };
  const Expr code = MakeCast(i32, byte) % i(f.sign());
  const Expr is_negative = Ge(MakeCast(i32, byte), i(f.sign()));
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
  if (!f.has_nan) return value;
  const Expr is_nan = f.unsigned_zero
                          ? Eq(MakeCast(i32, byte), i(f.sign()))
                          : Gt(code, i(f.finite ? f.largest() : f.infinity()));
  return MakeSelect(is_nan, F(NAN), value);
}

// The size of x as a power of two; signs are not kept. In f64, where all powers
// and what is between them have room.
Expr EncodeScale(const std::string& rounding, bool saturate, const Expr& x) {
  const DataType f64 = DataType::Float(64);
  auto d = [&](double value) { return MakeConst(f64, value); };
  const Expr size = MakeCall(Intrinsic::kAbs, {MakeCast(f64, x)});
  // At first 1 is the smallest number of f32 that is not subnormal, whose code
  // is 1; in the end the rest lies between 1 and 2.
  Expr rest = size * d(std::ldexp(1.0, kScaleBias - 1)), code = d(1);
  const Expr is_subnormal = Lt(rest, d(1));
  for (int bit = 7; bit >= 0; --bit) {
    const int power = 1 << bit;
    const Expr reaches = Ge(rest, d(std::ldexp(1.0, power)));
    // Not a choice of two that both read the last: each of eight steps would
    // be three times as large as the one before.
    code = code + MakeSelect(reaches, d(power), d(0));
    rest = rest * MakeSelect(reaches, d(std::ldexp(1.0, -power)), d(1));
  }
  code = MakeSelect(is_subnormal, d(0), code);
  if (rounding != "down") {
    // Below the first code nothing is a whole step; halves go up but there,
    // where the half is the number of code 0.
    const Expr up =
        rounding == "up"
            ? MakeSelect(is_subnormal, Gt(rest, d(0)), Gt(rest, d(1)))
            : MakeSelect(is_subnormal, Gt(rest, d(0.5)), Ge(rest, d(1.5)));
    code = MakeSelect(up, code + d(1), code);
  }
  if (saturate) code = Min(code, d(kScaleNan - 1));
  const Expr is_number = Lt(size, d(INFINITY));  // nor NaN
  return MakeCast(DataType::UInt(8), MakeSelect(is_number, code, d(kScaleNan)));
}

Expr DecodeScale(const Expr& byte) {
  const DataType i32 = DataType::Int(32), f64 = DataType::Float(64);
  const Expr code = MakeCast(i32, byte);
  Expr value = MakeConst(f64, std::ldexp(1.0, -kScaleBias));
  for (int bit = 0; bit < 8; ++bit) {
    const Expr set =
        Eq(code / tir::MakeInt(int64_t{1} << bit, i32) % tir::MakeInt(2, i32),
           tir::MakeInt(1, i32));
    value = value * MakeSelect(set, MakeConst(f64, std::ldexp(1.0, 1 << bit)),
                               MakeConst(f64, 1));
  }
  const Expr is_nan = Eq(code, tir::MakeInt(kScaleNan, i32));
  return MakeSelect(is_nan, F(NAN), MakeCast(DataType::Float(32), value));
}

OpDef Float8Encode() {
  OpDef def;
  def.name = "float8_encode";
  def.doc = "x as the codes of floats of 8 or 4 bits, rounded to even";
  def.fusion = FusionKind::kElementwise;
  def.layout_rule = LayoutRule::kFollows;
  def.attrs = {FormatAttr(),
               IntAttr("saturate",
                       "whether what is too large becomes the "
                       "largest number, not infinity or NaN",
                       1),
               StringAttr("rounding", "of e8m0: up, down or nearest", "up")};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_RETURN_IF_ERROR(CheckFormat(c.attrs));
    const std::string rounding = c.attrs.Get<std::string>("rounding");
    if (rounding != "up" && rounding != "down" && rounding != "nearest") {
      return Invalid("there is no rounding '", rounding, "'");
    }
    INGOT_RETURN_IF_ERROR(ExpectFloat(c.type(0), "the operand"));
    return Types{{DataType::UInt(8), c.type(0).shape}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0];
    const bool saturate = c.attrs.Get<int64_t>("saturate") != 0;
    if (IsScale(c.attrs)) {
      const std::string rounding = c.attrs.Get<std::string>("rounding");
      return Tensors{c.graph.Compute(c.name, x.shape(), [&](const Indices& i) {
        return EncodeScale(rounding, saturate,
                           MakeCast(DataType::Float(32), x(i)));
      })};
    }
    INGOT_ASSIGN_OR_RETURN(const Format f, ReadFormat(c.attrs));
    return Tensors{c.graph.Compute(c.name, x.shape(), [&](const Indices& i) {
      return Encode(f, saturate, MakeCast(DataType::Float(32), x(i)));
    })};
  };
  return def;
}

OpDef Float8Decode() {
  OpDef def;
  def.name = "float8_decode";
  def.doc = "codes of floats of 8 or 4 bits as f32";
  def.fusion = FusionKind::kElementwise;
  def.layout_rule = LayoutRule::kFollows;
  def.attrs = {FormatAttr()};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_RETURN_IF_ERROR(CheckFormat(c.attrs));
    if (c.type(0).dtype != DataType::UInt(8)) {
      return Invalid("the operand must be u8, not ", ToString(c.type(0)));
    }
    return Types{{DataType::Float(32), c.type(0).shape}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0];
    if (IsScale(c.attrs)) {
      return Tensors{c.graph.Compute(c.name, x.shape(), [&](const Indices& i) {
        return DecodeScale(x(i));
      })};
    }
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
