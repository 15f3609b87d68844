// The functions that a Call of tir calls.
#ifndef INGOT_COMPILER_TIR_INTRINSICS_H_
#define INGOT_COMPILER_TIR_INTRINSICS_H_

#include "absl/strings/string_view.h"

namespace ingot::tir {

// Pure functions, element-wise. kMulAdd(a, b, c) = a * b + c. kDot4(a, b, c) of
// i32, which wraps: c + a0 * b0 + ... + a3 * b3, of the four bytes of a, which
// have no sign, and those of b, which have one; kDot2 the same of the two
// halves of each, which have signs. kRound rounds halves to even. kIsNan and
// kIsInf give bool.
// clang-format off
#define INGOT_TIR_INTRINSICS(V) \
  V(Exp, "exp", 1) \
  V(Log, "log", 1) \
  V(Sqrt, "sqrt", 1) \
  V(Rsqrt, "rsqrt", 1) \
  V(Tanh, "tanh", 1) \
  V(Erf, "erf", 1) \
  V(Sin, "sin", 1) \
  V(Cos, "cos", 1) \
  V(Tan, "tan", 1) \
  V(Asin, "asin", 1) \
  V(Acos, "acos", 1) \
  V(Atan, "atan", 1) \
  V(Sinh, "sinh", 1) \
  V(Cosh, "cosh", 1) \
  V(Asinh, "asinh", 1) \
  V(Acosh, "acosh", 1) \
  V(Atanh, "atanh", 1) \
  V(Floor, "floor", 1) \
  V(Ceil, "ceil", 1) \
  V(Round, "round", 1) \
  V(Trunc, "trunc", 1) \
  V(Abs, "abs", 1) \
  V(IsNan, "isnan", 1) \
  V(IsInf, "isinf", 1) \
  V(Pow, "pow", 2) \
  V(Fmod, "fmod", 2) \
  V(MulAdd, "muladd", 3) \
  V(Dot4, "dot4", 3) \
  V(Dot2, "dot2", 3)
// clang-format on

#define INGOT_TIR_ENUM(Name, text, arity) k##Name,
enum class Intrinsic { INGOT_TIR_INTRINSICS(INGOT_TIR_ENUM) };
#undef INGOT_TIR_ENUM

// Whether it adds up products of the parts of words.
constexpr bool IsDot(Intrinsic intrinsic) {
  return intrinsic == Intrinsic::kDot4 || intrinsic == Intrinsic::kDot2;
}

// As the text form of tir spells it.
absl::string_view IntrinsicName(Intrinsic intrinsic);

// The number of its arguments.
int IntrinsicArity(Intrinsic intrinsic);

}  // namespace ingot::tir

#endif  // INGOT_COMPILER_TIR_INTRINSICS_H_
