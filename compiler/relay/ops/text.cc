// Operators that change text, and that turn it into numbers and back.
#include "compiler/relay/ops/text.h"

#include <cmath>
#include <cstdint>

#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/families.h"
#include "compiler/relay/ops/loops.h"

namespace ingot::relay::ops {

using tir::Intrinsic;
using tir::MakeCall;
using tir::MakeCast;
using tir::MakeConst;
using tir::MakeIf;
using tir::MakeSelect;
using tir::MakeSeq;
using tir::MakeStore;
using tir::Stmt;

namespace {
const DataType kU8 = DataType::UInt(8);
const DataType kF64 = DataType::Float(64);
}  // namespace

absl::Status ExpectText(const TensorType& type, absl::string_view what) {
  if (type.dtype == kU8 && !type.shape.empty()) return absl::OkStatus();
  return Invalid(what, " must be text, bytes of rank 1 or more, not ",
                 ToString(type));
}

Expr U8(int value) { return tir::MakeInt(value, kU8); }

Expr ByteAt(const te::Tensor& t, Indices i, const Expr& at) {
  const Expr width = t.shape().back();
  i.push_back(Max(Min(at, width - 1), I64(0)));
  return MakeSelect(And(Ge(at, I64(0)), Lt(at, width)), t(i), U8(0));
}

namespace {

// byte in [low, high]
Expr Between(const Expr& byte, int low, int high) {
  return And(Ge(byte, U8(low)), Le(byte, U8(high)));
}

// `byte`, which stands behind `before`, with the case of letters changed:
// ASCII's, and those of two bytes that begin with 0xC3 (À to þ).
Expr ChangeCase(bool upper, const Expr& byte, const Expr& before) {
  const Expr ascii = upper ? Between(byte, 'a', 'z') : Between(byte, 'A', 'Z');
  // × and ÷ are among the letters, but are none.
  const Expr latin =
      And(Eq(before, U8(0xC3)),
          upper ? And(Between(byte, 0xA0, 0xBE), tir::Ne(byte, U8(0xB7)))
                : And(Between(byte, 0x80, 0x9E), tir::Ne(byte, U8(0x97))));
  const Expr changed = upper ? byte - U8(32) : byte + U8(32);
  return MakeSelect(Or(ascii, latin), changed, byte);
}

OpDef ChangeCaseOp() {
  OpDef def;
  def.name = "change_case";
  def.doc = "text in upper or lower case: ASCII's letters and À to þ";
  def.attrs = {StringAttr("case", "upper or lower", kRequired)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_RETURN_IF_ERROR(ExpectText(c.type(0), "the operand"));
    const std::string name = c.attrs.Get<std::string>("case");
    if (name != "upper" && name != "lower") {
      return Invalid("there is no case '", name, "'");
    }
    return Types{c.type(0)};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0];
    const bool upper = c.attrs.Get<std::string>("case") == "upper";
    return Tensors{c.graph.Compute(c.name, x.shape(), [&](const Indices& i) {
      const Indices string(i.begin(), i.end() - 1);
      return ChangeCase(upper, x(i), ByteAt(x, string, i.back() - 1));
    })};
  };
  return def;
}

OpDef WordsEqual() {
  OpDef def;
  def.name = "words_equal";
  def.doc = "whether each string of x is one of words[n, width]";
  def.min_inputs = def.max_inputs = 2;
  def.attrs = {
      IntAttr("ignore_case", "whether words count as change_case has them", 0)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_RETURN_IF_ERROR(ExpectText(c.type(0), "x"));
    INGOT_RETURN_IF_ERROR(ExpectText(c.type(1), "words"));
    INGOT_RETURN_IF_ERROR(ExpectRank(c.type(1), 2, "words"));
    const Shape& x = c.type(0).shape;
    return Types{{DataType::Bool(), {x.begin(), x.end() - 1}}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0], words = c.inputs[1];
    const bool ignore_case = c.attrs.Get<int64_t>("ignore_case") != 0;
    const Shape& out = c.outputs[0].shape;
    Shape pairs = out;
    pairs.push_back(words.shape()[0]);
    auto byte = [&](const te::Tensor& t, const Indices& string,
                    const Expr& at) {
      const Expr b = ByteAt(t, string, at);
      return ignore_case ? ChangeCase(false, b, ByteAt(t, string, at - 1)) : b;
    };
    const te::Tensor same = c.graph.Reduce(
        SubName(c, "same"), pairs,
        {SimplifyDim(Max(x.shape().back(), words.shape()[1]))},
        te::Reducer::Min(kU8), [&](const Indices& i, const Indices& r) {
          const Indices string(i.begin(), i.end() - 1);
          return MakeSelect(
              Eq(byte(x, string, r[0]), byte(words, {i.back()}, r[0])), U8(1),
              U8(0));
        });
    const te::Tensor any = c.graph.Reduce(
        SubName(c, "any"), out, {words.shape()[0]}, te::Reducer::Max(kU8),
        [&](const Indices& i, const Indices& r) {
          Indices at = i;
          at.push_back(r[0]);
          return same(at);
        });
    return Tensors{c.graph.Compute(
        c.name, out, [&](const Indices& i) { return tir::Ne(any(i), U8(0)); })};
  };
  return def;
}

OpDef ConcatText() {
  OpDef def;
  def.name = "concat_text";
  def.doc = "the strings of b behind those of a; their shapes broadcast";
  def.min_inputs = def.max_inputs = 2;
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    std::vector<Shape> shapes;
    for (int k = 0; k < 2; ++k) {
      INGOT_RETURN_IF_ERROR(ExpectText(c.type(k), k == 0 ? "a" : "b"));
      const Shape& shape = c.type(k).shape;
      shapes.emplace_back(shape.begin(), shape.end() - 1);
    }
    INGOT_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes(shapes, c.assumed));
    shape.push_back(c.type(0).shape.back() + c.type(1).shape.back());
    return Types{{kU8, shape}};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor a = c.inputs[0], b = c.inputs[1];
    const Shape& out = c.outputs[0].shape;
    const Shape strings(out.begin(), out.end() - 1);
    auto string = [&](const te::Tensor& t, const Indices& i) {
      return BroadcastIndices(Shape(t.shape().begin(), t.shape().end() - 1), i,
                              strings);
    };
    const te::Tensor length = c.graph.Reduce(
        SubName(c, "length"), strings, {a.shape().back()},
        te::Reducer::Max(DataType::Int(64)),
        [&](const Indices& i, const Indices& r) {
          const Expr byte = ByteAt(a, string(a, i), r[0]);
          return MakeSelect(tir::Ne(byte, U8(0)), r[0] + 1, I64(0));
        });
    return Tensors{c.graph.Compute(c.name, out, [&](const Indices& i) {
      const Indices at(i.begin(), i.end() - 1);
      const Expr first = length(at);
      return MakeSelect(Lt(i.back(), first), ByteAt(a, string(a, at), i.back()),
                        ByteAt(b, string(b, at), i.back() - first));
    })};
  };
  return def;
}

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

// A sign, digits with a point, an exponent; or a word that starts with n (not a
// number) or i (infinity). What is neither gives NaN. Digits that do not fit a
// double are counted only.
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
    const DataType i64 = DataType::Int(64);
    return c.graph.Extern(
        c.name, {type.shape}, {type.dtype}, {x},
        [&](absl::Span<const te::Tensor> out) {
          // Phases: 0 before digits, 1 in them, 2 behind the point, 3 in the
          // exponent, 4 a word, 5 nothing that makes sense.
          const Cell phase("phase", i64), negative("negative", i64);
          const Cell digits("digits", i64), shift("shift", i64);
          const Cell seen("seen", i64), exponent("exponent", i64);
          const Cell exponent_negative("exponent_negative", i64);
          const Cell infinite("infinite", i64);
          auto step = [&](const Expr& b) {
            const Expr p = phase.value();
            const Expr digit = MakeCast(i64, b - U8('0'));
            const Expr before = Eq(p, I64(0));
            const Expr in_exponent = Eq(p, I64(3));
            const Expr fits = Lt(digits.value(), I64(100000000000000000));
            const Stmt take = MakeSeq(
                {seen.Set(1),
                 MakeIf(
                     fits,
                     MakeSeq(
                         {digits.Set(digits.value() * 10 + digit),
                          MakeIf(Eq(p, I64(2)), shift.Set(shift.value() - 1))}),
                     MakeIf(tir::Ne(p, I64(2)), shift.Set(shift.value() + 1))),
                 MakeIf(before, phase.Set(1))});
            const Stmt grow =
                MakeIf(Lt(exponent.value(), I64(10000)),
                       exponent.Set(exponent.value() * 10 + digit));
            const Stmt on_digit =
                MakeIf(in_exponent, grow, MakeIf(Le(p, I64(2)), take));
            const Expr is_minus = Eq(b, U8('-'));
            const Expr is_sign = Or(is_minus, Eq(b, U8('+')));
            const Stmt on_sign = MakeIf(
                before, MakeIf(is_minus, negative.Set(1)),
                MakeIf(And(in_exponent, is_minus), exponent_negative.Set(1)));
            const Expr letter =
                b - MakeSelect(Between(b, 'a', 'z'), U8(32), U8(0));
            const Expr is_i = Eq(letter, U8('I'));
            const Stmt on_letter = MakeIf(
                And(before, Or(is_i, Eq(letter, U8('N')))),
                MakeSeq({phase.Set(4), MakeIf(is_i, infinite.Set(1))}),
                MakeIf(And(Eq(letter, U8('E')),
                           And(Eq(seen.value(), I64(1)), Le(p, I64(2)))),
                       phase.Set(3), MakeIf(tir::Ne(p, I64(4)), phase.Set(5))));
            const Stmt on_point =
                MakeIf(Le(p, I64(1)), phase.Set(2), phase.Set(5));
            return MakeIf(
                Between(b, '0', '9'), on_digit,
                MakeIf(
                    is_sign, on_sign,
                    MakeIf(Eq(b, U8('.')), on_point,
                           MakeIf(And(tir::Ne(b, U8(0)), tir::Ne(b, U8(' '))),
                                  on_letter))));
          };
          return LoopNest(type.shape, "s", [&](const Indices& s) {
            const Stmt read = Loop("w", x.shape().back(), [&](const Expr& w) {
              Indices at = s;
              at.push_back(w);
              return step(x(at));
            });
            const Expr power = shift.value() +
                               MakeSelect(Ne(exponent_negative.value(), I64(0)),
                                          -exponent.value(), exponent.value());
            const Expr limited = Max(Min(power, I64(400)), I64(-400));
            const Expr size = Scaled(MakeCast(kF64, digits.value()), limited);
            const Expr number = MakeSelect(Eq(infinite.value(), I64(1)),
                                           MakeConst(kF64, INFINITY), size);
            const Expr wrong =
                Or(Ge(phase.value(), I64(5)),
                   And(Eq(seen.value(), I64(0)), Eq(infinite.value(), I64(0))));
            const Expr sign =
                MakeSelect(Ne(negative.value(), I64(0)), MakeConst(kF64, -1),
                           MakeConst(kF64, 1));
            Expr value = MakeSelect(wrong, MakeConst(kF64, NAN), number * sign);
            if (type.dtype.is_integer()) {
              // Integers without a point keep all their digits.
              const Expr whole = MakeSelect(Ne(negative.value(), I64(0)),
                                            -digits.value(), digits.value());
              value = MakeSelect(
                  And(Eq(power, I64(0)), tir::Ne(seen.value(), I64(0))),
                  MakeCast(type.dtype, whole), MakeCast(type.dtype, value));
            }
            const Stmt store =
                MakeStore(out[0].buffer, s, MakeCast(type.dtype, value));
            return WithCells({&phase, &negative, &digits, &shift, &seen,
                              &exponent, &exponent_negative, &infinite},
                             MakeSeq({read, store}));
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

  // How many digits a number of this type may need.
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
    const Expr behind = Max(n - whole_digits, I64(1));
    const Expr large = MakeSelect(
        Lt(at, whole_digits), Digit(at),
        MakeSelect(
            Eq(at, whole_digits), U8('.'),
            MakeSelect(Le(at, whole_digits + behind), Digit(at - 1), U8(0))));
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

absl::Status RegisterText(OpRegistry* registry) {
  return RegisterAllOf(registry, {ChangeCaseOp(), WordsEqual(), ConcatText(),
                                  ParseNumber(), FormatNumber()});
}

}  // namespace ingot::relay::ops
