// Operators that turn text into numbers and back.
#include <cmath>
#include <cstdint>
#include <functional>

#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/loops.h"
#include "compiler/relay/ops/text.h"

namespace ingot::relay::ops {
namespace {

const DataType kU8 = DataType::UInt(8);
const DataType kF64 = DataType::Float(64);
const DataType kI64 = DataType::Int(64);

// ------------------------------------------------------------ text to numbers

Expr PowerOfTen(const Expr& exponent) {
  return MakeCall(Intrinsic::kPow,
                  {MakeConst(kF64, 10), MakeCast(kF64, exponent)});
}

// value * 10^exponent; up to 10^22 the power is exact, and so is the way that
// keeps it whole.
Expr Scaled(const Expr& value, const Expr& exponent) {
  return MakeSelect(Lt(exponent, I64(0)),
                    value / PowerOfTen(Max(-exponent, I64(0))),
                    value * PowerOfTen(Max(exponent, I64(0))));
}

// Reads a number byte by byte: a sign, digits with a point, an exponent; or a
// word that starts with n (not a number) or i (infinity). What is neither gives
// NaN. Digits that do not fit a double are counted only.
class NumberParser {
 public:
  // Reads the string in the last dimension of `x` at `s`, and gives `store`
  // its value in `dtype`.
  Stmt Parse(const te::Tensor& x, const Indices& s, DataType dtype,
             const std::function<Stmt(const Expr& value)>& store) const {
    const Stmt read = Loop("w", x.shape().back(), [&](const Expr& w) {
      Indices at = s;
      at.push_back(w);
      return Take(x(at));
    });
    return WithCells({&phase_, &negative_, &digits_, &shift_, &seen_,
                      &exponent_, &exponent_negative_, &infinite_},
                     MakeSeq({read, store(Value(dtype))}));
  }

 private:
  enum Phase {
    kBefore,    // no digit yet
    kDigits,    // in front of the point
    kFraction,  // after it
    kExponent,
    kWord,
    kWrong,
  };

  Expr In(Phase phase) const { return Eq(phase_.value(), I64(phase)); }
  Expr InMantissa() const { return Le(phase_.value(), I64(kFraction)); }

  Stmt Take(const Expr& byte) const {
    const Expr is_mark = And(tir::Ne(byte, U8(0)), tir::Ne(byte, U8(' ')));
    const Expr is_minus = Eq(byte, U8('-'));
    const Stmt on_sign =
        MakeIf(In(kBefore), MakeIf(is_minus, negative_.Set(1)),
               MakeIf(And(In(kExponent), is_minus), exponent_negative_.Set(1)));
    const Stmt on_point = MakeIf(Le(phase_.value(), I64(kDigits)),
                                 phase_.Set(kFraction), phase_.Set(kWrong));
    return MakeIf(Between(byte, '0', '9'),
                  TakeDigit(MakeCast(kI64, byte - U8('0'))),
                  MakeIf(Or(is_minus, Eq(byte, U8('+'))), on_sign,
                         MakeIf(Eq(byte, U8('.')), on_point,
                                MakeIf(is_mark, TakeLetter(byte)))));
  }

  Stmt TakeDigit(const Expr& digit) const {
    const Expr fits = Lt(digits_.value(), I64(100000000000000000));
    const Stmt keep =
        MakeSeq({digits_.Set(digits_.value() * 10 + digit),
                 MakeIf(In(kFraction), shift_.Set(shift_.value() - 1))});
    const Stmt count = MakeIf(tir::Ne(phase_.value(), I64(kFraction)),
                              shift_.Set(shift_.value() + 1));
    const Stmt mantissa = MakeSeq({seen_.Set(1), MakeIf(fits, keep, count),
                                   MakeIf(In(kBefore), phase_.Set(kDigits))});
    const Stmt exponent = MakeIf(Lt(exponent_.value(), I64(10000)),
                                 exponent_.Set(exponent_.value() * 10 + digit));
    return MakeIf(In(kExponent), exponent, MakeIf(InMantissa(), mantissa));
  }

  Stmt TakeLetter(const Expr& byte) const {
    const Expr letter =
        byte - MakeSelect(Between(byte, 'a', 'z'), U8(32), U8(0));
    const Expr is_i = Eq(letter, U8('I'));
    const Expr starts_exponent =
        And(Eq(letter, U8('E')), And(Eq(seen_.value(), I64(1)), InMantissa()));
    return MakeIf(And(In(kBefore), Or(is_i, Eq(letter, U8('N')))),
                  MakeSeq({phase_.Set(kWord), MakeIf(is_i, infinite_.Set(1))}),
                  MakeIf(starts_exponent, phase_.Set(kExponent),
                         MakeIf(tir::Ne(phase_.value(), I64(kWord)),
                                phase_.Set(kWrong))));
  }

  Expr Value(DataType dtype) const {
    const Expr is_negative = tir::Ne(negative_.value(), I64(0));
    const Expr has_digits = tir::Ne(seen_.value(), I64(0));
    const Expr is_infinite = tir::Ne(infinite_.value(), I64(0));
    const Expr power =
        shift_.value() + MakeSelect(tir::Ne(exponent_negative_.value(), I64(0)),
                                    -exponent_.value(), exponent_.value());
    const Expr size = Scaled(MakeCast(kF64, digits_.value()),
                             Max(Min(power, I64(400)), I64(-400)));
    const Expr number =
        MakeSelect(is_infinite, MakeConst(kF64, INFINITY), size);
    const Expr wrong =
        Or(Ge(phase_.value(), I64(kWrong)),
           And(Eq(seen_.value(), I64(0)), Eq(infinite_.value(), I64(0))));
    const Expr sign =
        MakeSelect(is_negative, MakeConst(kF64, -1), MakeConst(kF64, 1));
    const Expr value =
        MakeCast(dtype, MakeSelect(wrong, MakeConst(kF64, NAN), number * sign));
    if (!dtype.is_integer()) return value;
    // Integers without a point keep all their digits.
    const Expr whole =
        MakeSelect(is_negative, -digits_.value(), digits_.value());
    return MakeSelect(And(Eq(power, I64(0)), has_digits),
                      MakeCast(dtype, whole), value);
  }

  const Cell phase_{"phase", kI64}, negative_{"negative", kI64};
  const Cell digits_{"digits", kI64}, shift_{"shift", kI64};
  const Cell seen_{"seen", kI64}, exponent_{"exponent", kI64};
  const Cell exponent_negative_{"exponent_negative", kI64};
  const Cell infinite_{"infinite", kI64};
};

OpDef ParseNumber() {
  OpDef def;
  def.name = "parse_number";
  def.doc = "the number that each string of x names, NaN (0) where it does not";
  def.attrs = {TypeAttr("dtype", "of the result", kRequired)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_RETURN_IF_ERROR(ExpectText(c.type(0), "the operand"));
    const Shape& x = c.type(0).shape;
    return Types{{c.attrs.Get<DataType>("dtype"), {x.begin(), x.end() - 1}}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0];
    const TensorType& type = c.outputs[0];
    return c.graph.Extern(
        c.name, {type.shape}, {type.dtype}, {x},
        [&](absl::Span<const te::Tensor> out) {
          return LoopNest(type.shape, "s", [&](const Indices& s) {
            const NumberParser parser;
            return parser.Parse(x, s, type.dtype, [&](const Expr& value) {
              return MakeStore(out[0].buffer, s, value);
            });
          });
        });
  };
  return def;
}

// ------------------------------------------------------------ numbers to text

constexpr int64_t kNumberWidth = 24;

// The text of a number: the shortest digits that name it. Between 10^-4 and
// 10^16 with a point, else with an exponent of at least two digits; as numpy
// and Python write floats. Integers as they are.
class NumberText {
 public:
  explicit NumberText(DataType dtype)
      : dtype_(dtype),
        count_("count", DataType::Int(64)),
        exponent_("exponent", DataType::Int(64)),
        digits_("digits", DataType::Int(64)) {}

  // Writes the text of `x` to the bytes out[at..., 0 to kNumberWidth).
  Stmt Write(const Expr& x, const tir::Buffer& out, const Indices& at) const {
    const Expr is_negative = Lt(x, MakeConst(x->dtype, 0));
    const Expr minus =
        x->dtype.is_float()
            ? Or(is_negative, And(Eq(x, Zero(x)), Lt(One(x) / x, Zero(x))))
            : is_negative;
    const Stmt find = dtype_.is_float() ? FindDigits(x) : TakeInteger(x);
    const Stmt put = Loop("w", I64(kNumberWidth), [&](const Expr& w) {
      const Expr from = w - MakeSelect(minus, I64(1), I64(0));
      Expr byte = dtype_.is_float() ? FloatByte(x, from) : IntegerByte(from);
      byte = MakeSelect(And(minus, Eq(w, I64(0))), U8('-'), byte);
      Indices place = at;
      place.push_back(w);
      return MakeStore(out, place, byte);
    });
    return WithCells({&count_, &exponent_, &digits_}, MakeSeq({find, put}));
  }

 private:
  static Expr Zero(const Expr& x) { return MakeConst(x->dtype, 0); }
  static Expr One(const Expr& x) { return MakeConst(x->dtype, 1); }

  // The number of digits that a number of this type may need.
  int MostDigits() const {
    if (!dtype_.is_float()) return 19;
    return dtype_.bits == 16 ? 5 : 9;
  }

  // count_ digits, the first of them 10^exponent_.
  Stmt FindDigits(const Expr& x) const {
    const Expr size = MakeCall(Intrinsic::kAbs, {MakeCast(kF64, x)});
    const Expr safe = MakeSelect(
        And(Gt(size, MakeConst(kF64, 0)), Lt(size, MakeConst(kF64, INFINITY))),
        size, MakeConst(kF64, 1));
    const Expr guess = MakeCast(
        DataType::Int(64),
        MakeCall(Intrinsic::kFloor, {MakeCall(Intrinsic::kLog, {safe}) /
                                     MakeConst(kF64, std::log(10.0))}));
    const Expr e = exponent_.value();
    auto power = [&](const Expr& of) { return Scaled(MakeConst(kF64, 1), of); };
    std::vector<Stmt> steps = {
        exponent_.Set(guess),
        // The logarithm may be off by a little, which shows at powers of ten.
        MakeIf(Ge(safe, power(e + 1)), exponent_.Set(e + 1)),
        MakeIf(Lt(safe, power(e)), exponent_.Set(e - 1))};
    const Stmt attempt = Loop("p", I64(MostDigits()), [&](const Expr& p) {
      const Expr more = p + 1;
      const Expr rounded = MakeCall(Intrinsic::kRound, {Scaled(safe, p - e)});
      // Rounding up may have made one digit more: 9.99 becomes 10.
      const Stmt keep = MakeSeq(
          {digits_.Set(MakeCast(DataType::Int(64), rounded)),
           MakeIf(
               Or(Eq(MakeCast(dtype_, Scaled(rounded, e - p)),
                     MakeCast(dtype_, safe)),
                  Eq(more, I64(MostDigits()))),
               MakeSeq({count_.Set(more),
                        MakeIf(Ge(rounded, PowerOfTen(more)),
                               MakeSeq({digits_.Set(I64(1)), count_.Set(I64(1)),
                                        exponent_.Set(e + 1)}))}))});
      return MakeIf(Eq(count_.value(), I64(0)), keep);
    });
    steps.push_back(attempt);
    steps.push_back(MakeIf(Eq(size, MakeConst(kF64, 0)),
                           MakeSeq({digits_.Set(I64(0)), count_.Set(I64(1)),
                                    exponent_.Set(I64(0))})));
    return MakeSeq(std::move(steps));
  }

  // All digits of an integer, as a number that is not positive: its negative
  // always fits.
  Stmt TakeInteger(const Expr& x) const {
    const DataType i64 = DataType::Int(64);
    const Expr wide = MakeCast(i64, x);
    const Expr negated = MakeSelect(Lt(wide, I64(0)), wide, -wide);
    const Expr rest = exponent_.value();
    return MakeSeq(
        {digits_.Set(negated), count_.Set(I64(1)), exponent_.Set(negated),
         Loop("p", I64(MostDigits()), [&](const Expr&) {
           return MakeIf(Le(rest, I64(-10)),
                         MakeSeq({exponent_.Set((rest + 9) / I64(10)),
                                  count_.Set(count_.value() + 1)}));
         })});
  }
  // 10^n as an integer, n in [0, 18].
  static Expr WholePower(const Expr& n) {
    Expr power = I64(1);
    int64_t value = 1;
    for (int k = 1; k <= 18; ++k) {
      value *= 10;
      power = MakeSelect(Ge(n, I64(k)), I64(value), power);
    }
    return power;
  }

  // Digit i of the `count_` ones, '0' beyond them.
  Expr Digit(const Expr& i) const {
    const Expr after = Max(count_.value() - 1 - i, I64(0));
    const Expr digit = digits_.value() / WholePower(after) % I64(10);
    return MakeSelect(Lt(i, count_.value()), MakeCast(kU8, digit) + U8('0'),
                      U8('0'));
  }

  Expr IntegerByte(const Expr& at) const {
    const Expr after = Max(count_.value() - 1 - at, I64(0));
    const Expr size = MakeSelect(Eq(digits_.value(), HighestNegative()),
                                 I64(INT64_MAX), -digits_.value());
    const Expr digit = size / WholePower(after) % I64(10);
    // The one number whose negative does not fit ends in 8.
    const Expr last =
        And(Eq(digits_.value(), HighestNegative()), Eq(at, count_.value() - 1));
    const Expr byte = MakeSelect(last, U8('8'), MakeCast(kU8, digit) + U8('0'));
    return MakeSelect(And(Ge(at, I64(0)), Lt(at, count_.value())), byte, U8(0));
  }
  static Expr HighestNegative() { return I64(INT64_MIN); }

  Expr FloatByte(const Expr& x, const Expr& at) const {
    const Expr n = count_.value(), e = exponent_.value();
    auto letters = [&](absl::string_view word) {
      Expr byte = U8(0);
      for (size_t i = 0; i < word.size(); ++i) {
        byte =
            MakeSelect(Eq(at, I64(static_cast<int64_t>(i))), U8(word[i]), byte);
      }
      return byte;
    };
    // 12.5 and 120.0
    const Expr whole_digits = e + 1;
    const Expr after = Max(n - whole_digits, I64(1));
    const Expr large = MakeSelect(
        Lt(at, whole_digits), Digit(at),
        MakeSelect(
            Eq(at, whole_digits), U8('.'),
            MakeSelect(Le(at, whole_digits + after), Digit(at - 1), U8(0))));
    // 0.00125
    const Expr zeros = -e - 1;
    const Expr index = at - 2 - zeros;
    const Expr small = MakeSelect(
        Eq(at, I64(1)), U8('.'),
        MakeSelect(Lt(index, I64(0)), U8('0'),
                   MakeSelect(Lt(index, n), Digit(Max(index, I64(0))), U8(0))));
    // 1.25e-07
    const Expr mantissa = MakeSelect(Gt(n, I64(1)), n + 1, I64(1));
    const Expr size = MakeSelect(Lt(e, I64(0)), -e, e);
    const Expr place = at - mantissa;
    auto of_exponent = [&](int64_t unit) {
      return MakeCast(kU8, size / I64(unit) % I64(10)) + U8('0');
    };
    const Expr exponent = MakeSelect(
        Eq(place, I64(0)), U8('e'),
        MakeSelect(
            Eq(place, I64(1)), MakeSelect(Lt(e, I64(0)), U8('-'), U8('+')),
            MakeSelect(Eq(place, I64(2)), of_exponent(10),
                       MakeSelect(Eq(place, I64(3)), of_exponent(1), U8(0)))));
    const Expr scientific = MakeSelect(
        Eq(at, I64(0)), Digit(I64(0)),
        MakeSelect(Ge(at, mantissa), exponent,
                   MakeSelect(Eq(at, I64(1)), U8('.'), Digit(at - 1))));
    const Expr plain = MakeSelect(Ge(e, I64(0)), large, small);
    Expr byte =
        MakeSelect(And(Ge(e, I64(-4)), Lt(e, I64(16))), plain, scientific);
    byte = MakeSelect(MakeCall(Intrinsic::kIsInf, {x}), letters("inf"), byte);
    byte = MakeSelect(MakeCall(Intrinsic::kIsNan, {x}), letters("nan"), byte);
    return MakeSelect(Lt(at, I64(0)), U8(0), byte);
  }

  const DataType dtype_;
  const Cell count_, exponent_, digits_;
};

OpDef FormatNumber() {
  OpDef def;
  def.name = "format_number";
  def.doc = "each number of x as text: the shortest that names it";
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    const TensorType& x = c.type(0);
    if (x.dtype == kF64 || x.dtype == DataType::UInt(64) || x.dtype.is_bool()) {
      return Invalid("not defined for ", ToString(x));
    }
    Shape shape = x.shape;
    shape.push_back(I64(kNumberWidth));
    return Types{{kU8, shape}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0];
    return c.graph.Extern(c.name, {c.outputs[0].shape}, {kU8}, {x},
                          [&](absl::Span<const te::Tensor> out) {
                            const NumberText text(x.dtype());
                            return LoopNest(
                                x.shape(), "i", [&](const Indices& i) {
                                  return text.Write(x(i), out[0].buffer, i);
                                });
                          });
  };
  return def;
}

}  // namespace

absl::Status RegisterTextNumbers(OpRegistry* registry) {
  return RegisterAllOf(registry, {ParseNumber(), FormatNumber()});
}

}  // namespace ingot::relay::ops
