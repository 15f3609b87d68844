// Arithmetic on one known number. Internal to the ONNX frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_KNOWN_NUMBER_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_KNOWN_NUMBER_H_

#include <optional>
#include <string>

#include "compiler/frontends/onnx/known.h"

namespace ingot::onnx_frontend {

// Nothing: the result is not known.
using MaybeNumber = std::optional<KnownNumber>;

// Whether the condition holds, where the symbols in it, which are at least 0,
// leave no doubt.
std::optional<bool> Decide(const tir::Expr& condition);

// The ONNX operators Add, Sub, Mul, Div, Mod, Pow, Min and Max on elements of
// type `dtype`.
MaybeNumber Arithmetic(const std::string& op, DataType dtype,
                       const KnownNumber& a, const KnownNumber& b);
// Equal, Less, Greater, LessOrEqual, GreaterOrEqual: 0 or 1 as by Decide.
MaybeNumber Compare(const std::string& op, const KnownNumber& a,
                    const KnownNumber& b);
// And, Or, Xor.
MaybeNumber Logic(const std::string& op, const KnownNumber& a,
                  const KnownNumber& b);
// Neg, Abs, Floor, Ceil, Round, Not, Sqrt, Reciprocal on an element of type
// `dtype`.
MaybeNumber Unary(const std::string& op, DataType dtype, const KnownNumber& a);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_KNOWN_NUMBER_H_
