#include "compiler/tir/numeric.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/float16.h"

namespace ingot::tir {
namespace {

// Unsigned arithmetic wraps without undefined behaviour.
int64_t Wrapping(uint64_t value) { return static_cast<int64_t>(value); }

// Quotients and remainders; false where there is none.
bool EvalDivision(BinaryOp op, DataType t, int64_t a, int64_t b,
                  int64_t* value) {
  const bool is_div = op == BinaryOp::kDiv || op == BinaryOp::kFloorDiv;
  if (b == 0) return false;
  if (!t.is_int()) {
    const uint64_t ua = static_cast<uint64_t>(a);
    const uint64_t ub = static_cast<uint64_t>(b);
    *value = Wrapping(is_div ? ua / ub : ua % ub);
    return true;
  }
  if (b == -1) {
    if (is_div && a == WrapInt(t, Wrapping(uint64_t{1} << (t.bits - 1)))) {
      return false;
    }
    *value = is_div ? -a : 0;
    return true;
  }
  *value = is_div ? a / b : a % b;
  const bool floor = op == BinaryOp::kFloorDiv || op == BinaryOp::kFloorMod;
  if (floor && a % b != 0 && (a < 0) != (b < 0)) *value += is_div ? -1 : b;
  return true;
}

}  // namespace

int64_t WrapInt(DataType t, int64_t value) {
  if (t.is_bool()) return value != 0;
  const bool is_signed = t.is_int();
  switch (t.bits) {
    case 8:
      return is_signed ? static_cast<int64_t>(static_cast<int8_t>(value))
                       : static_cast<int64_t>(static_cast<uint8_t>(value));
    case 16:
      return is_signed ? static_cast<int64_t>(static_cast<int16_t>(value))
                       : static_cast<int64_t>(static_cast<uint16_t>(value));
    case 32:
      return is_signed ? static_cast<int64_t>(static_cast<int32_t>(value))
                       : static_cast<int64_t>(static_cast<uint32_t>(value));
    default:
      return value;
  }
}

double RoundFloat(DataType t, double value) {
  if (t.code == DataType::kBFloat) {
    return BFloat16ToFloat(DoubleToBFloat16(value));
  }
  switch (t.bits) {
    case 16:
      return HalfToFloat(DoubleToHalf(value));
    case 32:
      return static_cast<float>(value);
    default:
      return value;
  }
}

bool EvalIntBinary(BinaryOp op, DataType t, int64_t a, int64_t b,
                   int64_t* result) {
  const uint64_t ua = static_cast<uint64_t>(a);
  const uint64_t ub = static_cast<uint64_t>(b);
  const bool is_signed = t.is_int();
  int64_t value = 0;
  switch (op) {
    case BinaryOp::kAdd:
      value = Wrapping(ua + ub);
      break;
    case BinaryOp::kSub:
      value = Wrapping(ua - ub);
      break;
    case BinaryOp::kMul:
      value = Wrapping(ua * ub);
      break;
    case BinaryOp::kDiv:
    case BinaryOp::kMod:
    case BinaryOp::kFloorDiv:
    case BinaryOp::kFloorMod:
      if (!EvalDivision(op, t, a, b, &value)) return false;
      break;
    case BinaryOp::kMin:
      value = is_signed ? std::min(a, b) : Wrapping(std::min(ua, ub));
      break;
    case BinaryOp::kMax:
      value = is_signed ? std::max(a, b) : Wrapping(std::max(ua, ub));
      break;
    case BinaryOp::kAnd:
    case BinaryOp::kBitAnd:
      value = a & b;
      break;
    case BinaryOp::kOr:
    case BinaryOp::kBitOr:
      value = a | b;
      break;
    case BinaryOp::kBitXor:
      value = a ^ b;
      break;
    case BinaryOp::kShl:
      if (ub >= t.bits) return false;
      value = Wrapping(ua << ub);
      break;
    case BinaryOp::kShr:
      if (ub >= t.bits) return false;
      value = is_signed ? a >> b : Wrapping(ua >> ub);
      break;
    case BinaryOp::kEq:
      *result = a == b;
      return true;
    case BinaryOp::kNe:
      *result = a != b;
      return true;
    case BinaryOp::kLt:
      *result = is_signed ? a < b : ua < ub;
      return true;
    case BinaryOp::kLe:
      *result = is_signed ? a <= b : ua <= ub;
      return true;
    case BinaryOp::kGt:
      *result = is_signed ? a > b : ua > ub;
      return true;
    case BinaryOp::kGe:
      *result = is_signed ? a >= b : ua >= ub;
      return true;
  }
  *result = WrapInt(t, value);
  return true;
}

// A double holds the product or quotient of two narrower floats with more
// than twice their precision, so rounding its result again rounds correctly.
double EvalFloatBinary(BinaryOp op, DataType t, double a, double b) {
  switch (op) {
    case BinaryOp::kAdd:
      return RoundFloat(t, a + b);
    case BinaryOp::kSub:
      return RoundFloat(t, a - b);
    case BinaryOp::kMul:
      return RoundFloat(t, a * b);
    case BinaryOp::kDiv:
      return RoundFloat(t, a / b);
    case BinaryOp::kMin:
      return a < b ? a : b;
    case BinaryOp::kMax:
      return a > b ? a : b;
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

bool EvalFloatCompare(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::kEq:
      return a == b;
    case BinaryOp::kNe:
      return a != b;
    case BinaryOp::kLt:
      return a < b;
    case BinaryOp::kLe:
      return a <= b;
    case BinaryOp::kGt:
      return a > b;
    case BinaryOp::kGe:
      return a >= b;
    default:
      return false;
  }
}

int64_t CastFloatToInt(DataType to, double value) {
  if (to.is_bool()) return value != 0;
  if (std::isnan(value)) return 0;
  const double truncated = std::trunc(value);
  const int value_bits = to.is_int() ? to.bits - 1 : to.bits;
  const double limit = std::ldexp(1.0, value_bits);  // one past the largest
  if (truncated >= limit) {
    return to.is_int() ? static_cast<int64_t>((uint64_t{1} << value_bits) - 1)
                       : WrapInt(to, -1);
  }
  if (to.is_uint()) {
    if (truncated <= 0) return 0;
    return static_cast<int64_t>(static_cast<uint64_t>(truncated));
  }
  if (truncated < -limit) {
    return static_cast<int64_t>(~((uint64_t{1} << value_bits) - 1));
  }
  return static_cast<int64_t>(truncated);
}

double CastIntToFloat(DataType to, DataType from, int64_t value) {
  const bool is_u64 = from.is_uint() && from.bits == 64;
  // Straight to float: through a double, large values would be rounded twice.
  if (to.code == DataType::kFloat && to.bits == 32) {
    return is_u64 ? static_cast<float>(static_cast<uint64_t>(value))
                  : static_cast<float>(value);
  }
  return RoundFloat(to, is_u64
                            ? static_cast<double>(static_cast<uint64_t>(value))
                            : static_cast<double>(value));
}

int64_t EvalDot4(int64_t a, int64_t b, int64_t c) {
  int64_t sum = c;
  for (int shift = 0; shift < 32; shift += 8) {
    sum += (a >> shift & 0xff) * static_cast<int8_t>(b >> shift & 0xff);
  }
  return WrapInt(DataType::Int(32), sum);
}

int64_t EvalDot2(int64_t a, int64_t b, int64_t c) {
  int64_t sum = c;
  for (int shift = 0; shift < 32; shift += 16) {
    sum += int64_t{static_cast<int16_t>(a >> shift & 0xffff)} *
           static_cast<int16_t>(b >> shift & 0xffff);
  }
  return WrapInt(DataType::Int(32), sum);
}

double EvalIntrinsic(Intrinsic intrinsic, DataType t, double a, double b,
                     double c) {
  switch (intrinsic) {
    case Intrinsic::kExp:
      return RoundFloat(t, std::exp(a));
    case Intrinsic::kLog:
      return RoundFloat(t, std::log(a));
    case Intrinsic::kSqrt:
      return RoundFloat(t, std::sqrt(a));
    case Intrinsic::kRsqrt:
      return RoundFloat(t, 1.0 / std::sqrt(a));
    case Intrinsic::kTanh:
      return RoundFloat(t, std::tanh(a));
    case Intrinsic::kErf:
      return RoundFloat(t, std::erf(a));
    case Intrinsic::kSin:
      return RoundFloat(t, std::sin(a));
    case Intrinsic::kCos:
      return RoundFloat(t, std::cos(a));
    case Intrinsic::kTan:
      return RoundFloat(t, std::tan(a));
    case Intrinsic::kAsin:
      return RoundFloat(t, std::asin(a));
    case Intrinsic::kAcos:
      return RoundFloat(t, std::acos(a));
    case Intrinsic::kAtan:
      return RoundFloat(t, std::atan(a));
    case Intrinsic::kSinh:
      return RoundFloat(t, std::sinh(a));
    case Intrinsic::kCosh:
      return RoundFloat(t, std::cosh(a));
    case Intrinsic::kAsinh:
      return RoundFloat(t, std::asinh(a));
    case Intrinsic::kAcosh:
      return RoundFloat(t, std::acosh(a));
    case Intrinsic::kAtanh:
      return RoundFloat(t, std::atanh(a));
    case Intrinsic::kFloor:
      return std::floor(a);
    case Intrinsic::kCeil:
      return std::ceil(a);
    case Intrinsic::kRound:
      return std::rint(a);
    case Intrinsic::kTrunc:
      return std::trunc(a);
    case Intrinsic::kAbs:
      return std::fabs(a);
    case Intrinsic::kIsNan:
      return std::isnan(a);
    case Intrinsic::kIsInf:
      return std::isinf(a);
    case Intrinsic::kPow:
      return RoundFloat(t, std::pow(a, b));
    case Intrinsic::kFmod:
      return RoundFloat(t, std::fmod(a, b));
    case Intrinsic::kMulAdd:
      return RoundFloat(t, std::fma(a, b, c));
    case Intrinsic::kDot4:
    case Intrinsic::kDot2:
      break;  // of integers: EvalDot4, EvalDot2
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace ingot::tir
