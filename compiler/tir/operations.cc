// The instructions of the interpreter that calculate and jump.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/tir/bytecode.h"
#include "compiler/tir/numeric.h"
#include "compiler/tir/printer.h"
#include "runtime/float16.h"
#include "runtime/tensor.h"

namespace ingot::tir {
namespace {

using I = const Instruction*;

// ---------------------------------------------------- arithmetic on one value

template <BinaryOp op, typename T>
struct IntArith {  // wraps
  static void Do(Register a, Register b, Register* out) {
    const uint64_t x = static_cast<uint64_t>(a.i);
    const uint64_t y = static_cast<uint64_t>(b.i);
    uint64_t r = 0;
    if constexpr (op == BinaryOp::kAdd) r = x + y;
    if constexpr (op == BinaryOp::kSub) r = x - y;
    if constexpr (op == BinaryOp::kMul) r = x * y;
    out->i = static_cast<int64_t>(static_cast<T>(r));
  }
};

// The types that a double is rounded to.
struct ToF64 {
  static double Round(double v) { return v; }
};
struct ToF32 {
  static double Round(double v) { return static_cast<float>(v); }
};
struct ToF16 {
  static double Round(double v) { return HalfToFloat(DoubleToHalf(v)); }
};
struct ToBF16 {
  static double Round(double v) { return BFloat16ToFloat(DoubleToBFloat16(v)); }
};

template <BinaryOp op, typename Format>
struct FloatArith {
  static void Do(Register a, Register b, Register* out) {
    double r = 0;
    if constexpr (op == BinaryOp::kAdd) r = a.f + b.f;
    if constexpr (op == BinaryOp::kSub) r = a.f - b.f;
    if constexpr (op == BinaryOp::kMul) r = a.f * b.f;
    if constexpr (op == BinaryOp::kDiv) r = a.f / b.f;
    out->f = Format::Round(r);
  }
};

// Comparisons, minima and bits depend on the representation only.
template <BinaryOp op, typename T>
bool Holds(T a, T b) {
  if constexpr (op == BinaryOp::kEq) return a == b;
  if constexpr (op == BinaryOp::kNe) return a != b;
  if constexpr (op == BinaryOp::kLt || op == BinaryOp::kMin) return a < b;
  if constexpr (op == BinaryOp::kLe) return a <= b;
  if constexpr (op == BinaryOp::kGt || op == BinaryOp::kMax) return a > b;
  if constexpr (op == BinaryOp::kGe) return a >= b;
  return false;
}

template <typename T>
T Get(Register r) {
  if constexpr (std::is_same_v<T, double>) {
    return r.f;
  } else {
    return static_cast<T>(r.i);
  }
}

template <BinaryOp op, typename T>
struct Compare {
  static void Do(Register a, Register b, Register* out) {
    out->i = Holds<op>(Get<T>(a), Get<T>(b));
  }
};

template <BinaryOp op, typename T>
struct Pick {
  static void Do(Register a, Register b, Register* out) {
    *out = Holds<op>(Get<T>(a), Get<T>(b)) ? a : b;
  }
};

template <BinaryOp op>
struct Bits {
  static void Do(Register a, Register b, Register* out) {
    if constexpr (op == BinaryOp::kBitAnd) out->i = a.i & b.i;
    if constexpr (op == BinaryOp::kBitOr) out->i = a.i | b.i;
    if constexpr (op == BinaryOp::kBitXor) out->i = a.i ^ b.i;
  }
};

template <typename F>
I Lanes(I in, Machine* m) {
  const Register* a = m->At(in->a);
  const Register* b = m->At(in->b);
  Register* out = m->At(in->dst);
  for (int lane = 0; lane < in->lanes; ++lane) {
    F::Do(a[lane], b[lane], &out[lane]);
  }
  return in + 1;
}

// Divisions and shifts, which may be undefined.
I Partial(I in, Machine* m) {
  const Register* a = m->At(in->a);
  const Register* b = m->At(in->b);
  const Register* mask = in->c >= 0 ? m->At(in->c) : nullptr;
  Register* out = m->At(in->dst);
  const BinaryOp op = static_cast<BinaryOp>(in->op);
  for (int lane = 0; lane < in->lanes; ++lane) {
    int64_t value = 0;
    if (!EvalIntBinary(op, in->type, a[lane].i, b[lane].i, &value) &&
        (mask == nullptr || mask[lane].i != 0)) {
      m->status = absl::InvalidArgumentError(absl::StrCat(
          "undefined: ", Print(MakeBinary(op, MakeInt(a[lane].i, in->type),
                                          MakeInt(b[lane].i, in->type)))));
      return nullptr;
    }
    out[lane].i = value;
  }
  return in + 1;
}

// The frequent case among them: addresses, of positive constants.
template <bool is_div>
I FloorByPositive(I in, Machine* m) {
  const Register* a = m->At(in->a);
  const Register* b = m->At(in->b);
  Register* out = m->At(in->dst);
  for (int lane = 0; lane < in->lanes; ++lane) {
    const int64_t y = b[lane].i;
    if (y <= 0) return Partial(in, m);
    const int64_t x = a[lane].i;
    if constexpr (is_div) {
      out[lane].i = x >= 0 ? x / y : -((-(x + 1)) / y) - 1;
    } else {
      const int64_t r = x % y;
      out[lane].i = r < 0 ? r + y : r;
    }
  }
  return in + 1;
}

template <BinaryOp op>
Operation IntArithOperation(DataType t) {
  const bool is_signed = t.is_int();
  switch (t.bits) {
    case 8:
      return is_signed ? Lanes<IntArith<op, int8_t>>
                       : Lanes<IntArith<op, uint8_t>>;
    case 16:
      return is_signed ? Lanes<IntArith<op, int16_t>>
                       : Lanes<IntArith<op, uint16_t>>;
    case 32:
      return is_signed ? Lanes<IntArith<op, int32_t>>
                       : Lanes<IntArith<op, uint32_t>>;
    default:
      return Lanes<IntArith<op, int64_t>>;
  }
}

template <BinaryOp op>
Operation FloatArithOperation(DataType t) {
  if (t.code == DataType::kBFloat) return Lanes<FloatArith<op, ToBF16>>;
  switch (t.bits) {
    case 16:
      return Lanes<FloatArith<op, ToF16>>;
    case 32:
      return Lanes<FloatArith<op, ToF32>>;
    default:
      return Lanes<FloatArith<op, ToF64>>;
  }
}

template <BinaryOp op>
Operation ArithOperation(DataType t) {
  return t.is_float() ? FloatArithOperation<op>(t) : IntArithOperation<op>(t);
}

template <template <BinaryOp, typename> class F, BinaryOp op>
Operation OrderOperation(DataType t) {
  if (t.is_float()) return Lanes<F<op, double>>;
  if (t.is_uint()) return Lanes<F<op, uint64_t>>;
  return Lanes<F<op, int64_t>>;
}

I RunUnary(I in, Machine* m) {
  const Register* a = m->At(in->a);
  Register* out = m->At(in->dst);
  for (int lane = 0; lane < in->lanes; ++lane) {
    switch (static_cast<UnaryOp>(in->op)) {
      case UnaryOp::kNeg:
        if (in->type.is_float()) {
          out[lane].f = -a[lane].f;
        } else {
          out[lane].i = WrapInt(
              in->type,
              static_cast<int64_t>(0 - static_cast<uint64_t>(a[lane].i)));
        }
        break;
      case UnaryOp::kNot:
        out[lane].i = a[lane].i == 0;
        break;
      case UnaryOp::kBitNot:
        out[lane].i = WrapInt(in->type, ~a[lane].i);
        break;
    }
  }
  return in + 1;
}

I RunCast(I in, Machine* m) {
  const Register* a = m->At(in->a);
  Register* out = m->At(in->dst);
  for (int lane = 0; lane < in->lanes; ++lane) {
    if (in->type.is_float()) {
      if (in->to.is_float()) {
        out[lane].f = RoundFloat(in->to, a[lane].f);
      } else {
        out[lane].i = CastFloatToInt(in->to, a[lane].f);
      }
    } else if (in->to.is_float()) {
      out[lane].f = CastIntToFloat(in->to, in->type, a[lane].i);
    } else {
      out[lane].i = WrapInt(in->to, a[lane].i);
    }
  }
  return in + 1;
}

I RunCall(I in, Machine* m) {
  const Intrinsic f = static_cast<Intrinsic>(in->op);
  const Register* a = m->At(in->a);
  const Register* b = m->At(in->b);
  const Register* c = m->At(in->c);
  Register* out = m->At(in->dst);
  const bool is_bool = f == Intrinsic::kIsNan || f == Intrinsic::kIsInf;
  for (int lane = 0; lane < in->lanes; ++lane) {
    const double value =
        EvalIntrinsic(f, in->type, a[lane].f, b[lane].f, c[lane].f);
    if (is_bool) {
      out[lane].i = value != 0;
    } else {
      out[lane].f = value;
    }
  }
  return in + 1;
}

template <int64_t (*dot)(int64_t, int64_t, int64_t)>
I RunDot(I in, Machine* m) {
  const Register* a = m->At(in->a);
  const Register* b = m->At(in->b);
  const Register* c = m->At(in->c);
  Register* out = m->At(in->dst);
  for (int lane = 0; lane < in->lanes; ++lane) {
    out[lane].i = dot(a[lane].i, b[lane].i, c[lane].i);
  }
  return in + 1;
}

template <typename Format>
I RunMulAdd(I in, Machine* m) {
  const Register* a = m->At(in->a);
  const Register* b = m->At(in->b);
  const Register* c = m->At(in->c);
  Register* out = m->At(in->dst);
  for (int lane = 0; lane < in->lanes; ++lane) {
    // A double holds the product of two narrower floats exactly.
    out[lane].f = Format::Round(std::is_same_v<Format, ToF64>
                                    ? std::fma(a[lane].f, b[lane].f, c[lane].f)
                                    : a[lane].f * b[lane].f + c[lane].f);
  }
  return in + 1;
}

I RunIntAbs(I in, Machine* m) {
  const Register* a = m->At(in->a);
  Register* out = m->At(in->dst);
  for (int lane = 0; lane < in->lanes; ++lane) {
    const uint64_t bits = static_cast<uint64_t>(a[lane].i);
    const bool negative = in->type.is_int() && a[lane].i < 0;
    out[lane].i =
        WrapInt(in->type, static_cast<int64_t>(negative ? 0 - bits : bits));
  }
  return in + 1;
}

I RunSelect(I in, Machine* m) {
  const Register* a = m->At(in->a);
  const Register* b = m->At(in->b);
  const Register* c = m->At(in->c);
  Register* out = m->At(in->dst);
  for (int lane = 0; lane < in->lanes; ++lane) {
    out[lane] = a[lane].i != 0 ? b[lane] : c[lane];
  }
  return in + 1;
}

I RunMove(I in, Machine* m) {
  std::copy_n(m->At(in->a), in->lanes, m->At(in->dst));
  return in + 1;
}

I RunBroadcast(I in, Machine* m) {
  std::fill_n(m->At(in->dst), in->lanes, *m->At(in->a));
  return in + 1;
}

I RunRamp(I in, Machine* m) {
  uint64_t value = static_cast<uint64_t>(m->At(in->a)->i);
  const uint64_t stride = static_cast<uint64_t>(m->At(in->b)->i);
  Register* out = m->At(in->dst);
  for (int lane = 0; lane < in->lanes; ++lane, value += stride) {
    out[lane].i = WrapInt(in->type, static_cast<int64_t>(value));
  }
  return in + 1;
}

I RunAnyLane(I in, Machine* m) {
  const Register* a = m->At(in->a);
  m->At(in->dst)->i =
      std::any_of(a, a + in->lanes, [](Register r) { return r.i != 0; });
  return in + 1;
}

// ------------------------------------------------------------------------ flow

I RunJump(I in, Machine* m) { return in + in->c; }

I RunJumpIfZero(I in, Machine* m) {
  return m->At(in->a)->i == 0 ? in + in->c : in + 1;
}

I RunIteration(I in, Machine* m) {
  if (--m->iterations_left > 0) return in + 1;
  m->status = absl::DeadlineExceededError("the loops take too many iterations");
  return nullptr;
}

I RunLoopBegin(I in, Machine* m) {
  Register* variable = m->At(in->dst);
  variable[0] = *m->At(in->a);
  variable[1] = *m->At(in->b);
  return variable[1].i > 0 ? in + 1 : in + in->c;
}

I RunLoopNext(I in, Machine* m) {
  Register* variable = m->At(in->dst);
  ++variable[0].i;
  if (--variable[1].i <= 0) return in + 1;
  if (--m->iterations_left <= 0) return RunIteration(in, m);
  return in + in->c;
}

I RunAllocate(I in, Machine* m) {
  BufferState& buffer = m->buffers[in->a];
  std::vector<int64_t> dims(buffer.node->shape.size());
  for (size_t d = 0; d < dims.size(); ++d) dims[d] = m->At(in->b)[d].i;
  m->status = SetUpBuffer(std::move(dims), nullptr, &buffer);
  return m->status.ok() ? in + 1 : nullptr;
}

I RunAssert(I in, Machine* m) {
  if (m->At(in->a)->i != 0) return in + 1;
  m->status = absl::InvalidArgumentError(*(*m->messages)[in->b]);
  return nullptr;
}

I RunEnd(I in, Machine* m) { return nullptr; }

}  // namespace

Operation BinaryOperation(BinaryOp op, DataType t) {
  switch (op) {
    case BinaryOp::kAdd:
      return ArithOperation<BinaryOp::kAdd>(t);
    case BinaryOp::kSub:
      return ArithOperation<BinaryOp::kSub>(t);
    case BinaryOp::kMul:
      return ArithOperation<BinaryOp::kMul>(t);
    case BinaryOp::kDiv:
      return t.is_float() ? FloatArithOperation<BinaryOp::kDiv>(t) : Partial;
    case BinaryOp::kFloorDiv:
      return t == DataType::Int(64) ? FloorByPositive<true> : Partial;
    case BinaryOp::kFloorMod:
      return t == DataType::Int(64) ? FloorByPositive<false> : Partial;
    case BinaryOp::kMod:
    case BinaryOp::kShl:
    case BinaryOp::kShr:
      return Partial;
    case BinaryOp::kMin:
      return OrderOperation<Pick, BinaryOp::kMin>(t);
    case BinaryOp::kMax:
      return OrderOperation<Pick, BinaryOp::kMax>(t);
    case BinaryOp::kAnd:
    case BinaryOp::kBitAnd:
      return Lanes<Bits<BinaryOp::kBitAnd>>;
    case BinaryOp::kOr:
    case BinaryOp::kBitOr:
      return Lanes<Bits<BinaryOp::kBitOr>>;
    case BinaryOp::kBitXor:
      return Lanes<Bits<BinaryOp::kBitXor>>;
    case BinaryOp::kEq:
      return OrderOperation<Compare, BinaryOp::kEq>(t);
    case BinaryOp::kNe:
      return OrderOperation<Compare, BinaryOp::kNe>(t);
    case BinaryOp::kLt:
      return OrderOperation<Compare, BinaryOp::kLt>(t);
    case BinaryOp::kLe:
      return OrderOperation<Compare, BinaryOp::kLe>(t);
    case BinaryOp::kGt:
      return OrderOperation<Compare, BinaryOp::kGt>(t);
    case BinaryOp::kGe:
      return OrderOperation<Compare, BinaryOp::kGe>(t);
  }
  return nullptr;
}

Operation UnaryOperation(UnaryOp op, DataType type) { return RunUnary; }
Operation CastOperation(DataType to, DataType from) { return RunCast; }
Operation CallOperation(Intrinsic intrinsic, DataType t) {
  if (intrinsic == Intrinsic::kDot4) return RunDot<EvalDot4>;
  if (intrinsic == Intrinsic::kDot2) return RunDot<EvalDot2>;
  if (!t.is_float()) return RunIntAbs;
  if (intrinsic != Intrinsic::kMulAdd) return RunCall;
  if (t.code == DataType::kBFloat) return RunMulAdd<ToBF16>;
  if (t.bits == 16) return RunMulAdd<ToF16>;
  return t.bits == 32 ? RunMulAdd<ToF32> : RunMulAdd<ToF64>;
}
Operation SelectOperation() { return RunSelect; }
Operation MoveOperation() { return RunMove; }
Operation BroadcastOperation() { return RunBroadcast; }
Operation RampOperation() { return RunRamp; }
Operation AnyLaneOperation() { return RunAnyLane; }
Operation JumpOperation() { return RunJump; }
Operation JumpIfZeroOperation() { return RunJumpIfZero; }
Operation LoopBeginOperation() { return RunLoopBegin; }
Operation LoopNextOperation() { return RunLoopNext; }
Operation IterationOperation() { return RunIteration; }
Operation AllocateOperation() { return RunAllocate; }
Operation AssertOperation() { return RunAssert; }
Operation EndOperation() { return RunEnd; }

}  // namespace ingot::tir
