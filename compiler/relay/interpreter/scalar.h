// Arithmetic of tir on one element that may be a formula over symbolic
// dimensions instead of a number. Internal to compiler/relay/interpreter.
#ifndef INGOT_COMPILER_RELAY_INTERPRETER_SCALAR_H_
#define INGOT_COMPILER_RELAY_INTERPRETER_SCALAR_H_

#include <cstdint>

#include "absl/types/span.h"
#include "compiler/relay/interpreter/known.h"
#include "compiler/tir/ir.h"

namespace ingot::relay {

// An element whose type is known from where it stands. On constants the
// functions below give what tir's interpreter gives (tir/numeric.h). A formula
// is an integer of any type, a float type included, that fits the type: no
// formula wraps or is rounded. So a quotient of floats is known where it is
// whole, and nothing else of it. Any operand that is not known makes the result
// unknown, unless the other decides it alone.
struct Scalar {
  enum Kind { kUnknown, kConstant, kFormula };
  Kind kind = kUnknown;
  int64_t integer = 0;  // kConstant of an integer type or bool
  double number = 0;    // kConstant of a float type
  tir::Expr formula;    // kFormula; i64, not a constant

  static Scalar Int(int64_t value);
  static Scalar Float(double value);
  // A constant where the integer expression is one. Unknown where it is longer
  // than a dimension may be.
  static Scalar Formula(DataType dtype, const tir::Expr& e);
  static Scalar Of(DataType dtype, const KnownNumber& number);

  bool known() const { return kind != kUnknown; }
  // Must be known.
  KnownNumber ToKnown(DataType dtype) const;
};

// `t` is the type of the operands.
Scalar EvalUnary(tir::UnaryOp op, DataType t, const Scalar& a);
Scalar EvalBinary(tir::BinaryOp op, DataType t, const Scalar& a,
                  const Scalar& b);
Scalar EvalCast(DataType to, DataType from, const Scalar& a);
Scalar EvalCall(tir::Intrinsic intrinsic, DataType t,
                absl::Span<const Scalar> args);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_INTERPRETER_SCALAR_H_
