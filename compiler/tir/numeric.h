#ifndef INGOT_COMPILER_TIR_NUMERIC_H_
#define INGOT_COMPILER_TIR_NUMERIC_H_

#include <cstdint>

#include "compiler/tir/ir.h"
#include "runtime/data_type.h"

namespace ingot::tir {

// The meaning of arithmetic on one scalar, shared by constant folding and by
// the interpreter so that they cannot differ. An integer or bool value travels
// as an int64_t: sign- or zero-extended from its type, u64 as the same 64 bits.
// A float value travels as a double that its type can represent.
// All are pure and may be called from any thread.

// Two's complement wrap-around into `t` (a bool becomes 0 or 1).
int64_t WrapInt(DataType t, int64_t value);

// The nearest value that `t` can represent, ties to even.
double RoundFloat(DataType t, double value);

// `a op b`, of operands of type `t`. False when the result is undefined, as a
// division by zero; *result is then unchanged.
bool EvalIntBinary(BinaryOp op, DataType t, int64_t a, int64_t b,
                   int64_t* result);
// For kAdd … kDiv, kMin and kMax.
double EvalFloatBinary(BinaryOp op, DataType t, double a, double b);
bool EvalFloatCompare(BinaryOp op, double a, double b);

// Casts. Float to integer truncates, saturates, and takes NaN to 0.
int64_t CastFloatToInt(DataType to, double value);
double CastIntToFloat(DataType to, DataType from, int64_t value);

// kDot4 and kDot2 of i32.
int64_t EvalDot4(int64_t a, int64_t b, int64_t c);
int64_t EvalDot2(int64_t a, int64_t b, int64_t c);

// Floats only; kIsNan and kIsInf give 0 or 1. Unused operands are ignored.
double EvalIntrinsic(Intrinsic intrinsic, DataType t, double a, double b,
                     double c);

}  // namespace ingot::tir

#endif  // INGOT_COMPILER_TIR_NUMERIC_H_
