#include "compiler/codegen/llvm/math_f32.h"

#include "compiler/codegen/llvm/float_bits.h"
#include "compiler/codegen/llvm/float_math.h"
#include "compiler/codegen/llvm/reduce_angle.h"
#include "llvm/IR/DerivedTypes.h"

namespace ingot::codegen {

using llvm::ConstantFP;
using llvm::ConstantInt;
using llvm::Type;
using llvm::Value;

namespace {

// 1.5 * 2^23: a float below 2^22 added to it is rounded to an integer, which
// then is in the low bits of the sum.
constexpr double kRound32 = 12582912.0;
constexpr double kRound64 = 6755399441055744.0;  // 1.5 * 2^52

}  // namespace

// exp(x) = 2^n * exp(r) with |r| <= ln(2) / 2, where exp(r) is 1 + r + r^2
// times a polynomial whose relative error is at most 3.1e-9.
Value* Exp32(llvm::IRBuilder<>& b, const Machine& m, Value* x) {
  FloatMath f(b, m, x);
  x = f.Clamp(x, -105.0, 89.0);
  // 2^n in two factors: n = 128 and the subnormal results need that. The sum
  // ends in n and the biases of both exponents, whose halves are shifted to
  // where exponents are; what is in front of them is shifted out.
  constexpr double kRound = kRound32 + 2 * 127;
  Value* shifted = f.MulAdd(x, f.C(1.44269504088896341), f.C(kRound));
  Value* n = f.Sub(shifted, f.C(kRound));
  // ln(2) in two parts, the first short enough that n times it is exact.
  Value* r = f.MulAdd(n, f.C(-0.693359375), x);
  r = f.MulAdd(n, f.C(2.12194440e-4), r);
  Value* p = f.Poly(r, {1.3814541e-3, 8.3687454e-3, 4.1668389e-2, 1.6666521e-1,
                        4.9999994e-1, 1.0, 1.0});
  Value* half = b.CreateLShr(f.Bits(shifted), 1);
  Value* rest = b.CreateSub(f.Bits(shifted), half);
  auto power = [&](Value* e) { return f.FromBits(b.CreateShl(e, 23)); };
  return f.Mul(f.Mul(p, power(half)), power(rest));
}

Value* Log32(llvm::IRBuilder<>& b, const Machine& m, Value* x) {
  FloatMath f(b, m, x);
  Value* is_small = f.Less(x, f.C(0x1p-126));
  Value* scaled = f.Pick(is_small, f.Mul(x, f.C(0x1p23)), x);
  // x = 2^e * (1 + r), with 1 + r between sqrt(1/2) and sqrt(2).
  constexpr int64_t kSqrtHalf = 0x3f3504f3;
  Value* bits = b.CreateAdd(f.Bits(scaled), f.I(0x3f800000 - kSqrtHalf));
  Value* e_int = b.CreateSub(b.CreateAShr(bits, 23), f.I(127));
  e_int = b.CreateAdd(e_int, b.CreateSelect(is_small, f.I(-23), f.I(0)));
  Value* e = b.CreateSIToFP(e_int, x->getType());
  Value* r = f.Sub(
      f.FromBits(b.CreateAdd(b.CreateAnd(bits, f.I(0x7fffff)), f.I(kSqrtHalf))),
      f.C(1.0));
  Value* z = f.Mul(r, r);
  Value* y = f.Poly(r, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1,
                        -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
                        2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1});
  y = f.Mul(f.Mul(r, z), y);
  y = f.MulAdd(e, f.C(-2.12194440e-4), y);
  y = f.MulAdd(z, f.C(-0.5), y);
  Value* result = f.MulAdd(e, f.C(0.693359375), f.Add(r, y));
  // inf gives inf, NaN gives NaN, 0 gives -inf, less gives NaN.
  Value* infinity = ConstantFP::getInfinity(x->getType());
  result = f.Pick(b.CreateFCmpULT(x, infinity), result, x);
  result = f.Pick(b.CreateFCmpULT(x, f.C(0.0)),
                  ConstantFP::getNaN(x->getType()), result);
  return f.Pick(f.Equal(x, f.C(0.0)),
                ConstantFP::getInfinity(x->getType(), true), result);
}

// x times a quotient of two polynomials, which is 1 for the smallest x but for
// 2e-7, so that these lose no digits on the way. 1 + tanh(x) must not turn
// negative, but beyond some x there are results above 1: x is clamped at the
// first float where the result is 1, found by trying all. The true ones beyond
// it are up to 3e-7 below. C, whose compiler decides how often sums of products
// are rounded, cuts the result instead; so does what must have its bits.
Value* Tanh32(llvm::IRBuilder<>& b, const Machine& m, Value* x) {
  FloatMath f(b, m, x);
  const double limit = m.reproducible ? 9.0
                       : m.has_fma    ? 7.93219709
                                      : 7.83627033;
  Value* c = f.Clamp(x, -limit, limit);
  Value* z = f.Mul(c, c);
  Value* p = f.Poly(
      z, {-2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11,
          5.12229709037114e-08, 1.48572235717979e-05, 6.37261928875436e-04,
          4.89352455891786e-03});
  Value* q = f.Poly(z, {1.19825839466702e-06, 1.18534705686654e-04,
                        2.26843463243900e-03, 4.89352518554385e-03});
  Value* y = f.Mul(c, f.Div(p, q));
  return m.reproducible ? f.Clamp(y, -1.0, 1.0) : y;
}

Value* Erf32(llvm::IRBuilder<>& b, const Machine& m, Value* x) {
  FloatMath f(b, m, x);
  Value* c = f.Clamp(x, -3.925724783138660, 3.925724783138660);
  Value* z = f.Mul(c, c);
  Value* p = f.Poly(z, {2.123732201653183437883853912353515625e-06,
                        2.86197959212586283683776855468750e-04,
                        3.658048342913389205932617187500e-03,
                        5.243302136659622192382812500000e-02,
                        1.874160766601562500000000000000e-01,
                        1.128379106521606445312500000000e+00});
  Value* q = f.Poly(
      z,
      {3.89185734093189239501953125000e-05, 1.14329601638019084930419921875e-03,
       1.47520881146192550659179687500e-02, 1.12945675849914550781250000000e-01,
       4.99425798654556274414062500000e-01, 1.0});
  // 1 + erf(x) must not turn negative.
  return f.Clamp(f.Mul(c, f.Div(p, q)), -1.0, 1.0);
}

// atan(x) = atan(c) + atan((x - c) / (1 + c x)) for c = 0, 1 and infinity,
// whichever leaves the least to a polynomial: at most tan(pi / 8).
Value* Atan32(llvm::IRBuilder<>& b, const Machine& m, Value* x) {
  FloatMath f(b, m, x);
  Value* a = f.Abs(x);
  Value* beyond = f.Greater(a, f.C(2.41421356237309505));
  Value* middle = f.Greater(a, f.C(0.41421356237309505));
  Value* top = f.Pick(beyond, f.C(-1.0), f.Pick(middle, f.Sub(a, f.C(1.0)), a));
  Value* bottom =
      f.Pick(beyond, a, f.Pick(middle, f.Add(a, f.C(1.0)), f.C(1.0)));
  Value* r = f.Div(top, bottom);
  Value* z = f.Mul(r, r);
  Value* p = f.Poly(z, {8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1,
                        -3.33329491539e-1});
  Value* rest = f.MulAdd(f.Mul(p, z), r, r);
  Value* start = f.Pick(beyond, f.C(1.57079632679489662),
                        f.Pick(middle, f.C(0.78539816339744831), f.C(0.0)));
  return f.CopySign(f.Add(start, rest), x);
}

// asinh(x) = log(|x| + sqrt(x^2 + 1)) with the sign of x, or a polynomial where
// that is the logarithm of about 1.
Value* Asinh32(llvm::IRBuilder<>& b, const Machine& m, Value* x) {
  FloatMath f(b, m, x);
  Value* a = f.Abs(x);
  Value* z = f.Mul(a, a);
  Value* p = f.Poly(z, {2.0122003309e-2, -4.2699340972e-2, 7.4847586088e-2,
                        -1.6666288134e-1});
  Value* near = f.MulAdd(f.Mul(p, z), a, a);
  // The square of a large number overflows; its logarithm and that of 2 do not.
  Value* is_large = f.Greater(a, f.C(1500.0));
  Value* root =
      b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, f.Add(z, f.C(1.0)));
  Value* log = Log32(b, m, f.Pick(is_large, a, f.Add(a, root)));
  Value* far = f.Pick(is_large, f.Add(log, f.C(0.69314718055994531)), log);
  return f.CopySign(f.Pick(f.Less(a, f.C(0.5)), near, far), x);
}

namespace {

// An angle as a number of quarter turns, of which the last two bits count, and
// the rest, at most pi / 4.
struct Angle {
  Value* quadrant;
  Value* rest;
};

// Reduces the angles x beyond `largest`, which are rare, one after the other;
// the others stay as they are in `fast`.
Angle ReduceLargeAngles(llvm::IRBuilder<>& b, Value* x, double largest,
                        const Angle& fast) {
  Value* is_large =
      b.CreateFCmpOGT(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x),
                      ConstantFP::get(x->getType(), largest));
  Value* any_large =
      is_large->getType()->isVectorTy() ? b.CreateOrReduce(is_large) : is_large;
  llvm::BasicBlock* start = b.GetInsertBlock();
  llvm::Function* function = start->getParent();
  auto* slow = llvm::BasicBlock::Create(b.getContext(), "large", function);
  auto* done = llvm::BasicBlock::Create(b.getContext(), "angle", function);
  b.CreateCondBr(any_large, slow, done);
  b.SetInsertPoint(slow);
  llvm::Function* reduce = ReduceAngleFunction(start->getModule());
  Angle all = fast;
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType())) {
    Angle exact = fast;
    for (unsigned lane = 0; lane < vector->getNumElements(); ++lane) {
      Value* of_lane = b.CreateCall(reduce, {b.CreateExtractElement(x, lane)});
      exact.rest = b.CreateInsertElement(
          exact.rest, b.CreateExtractValue(of_lane, 0), lane);
      exact.quadrant = b.CreateInsertElement(
          exact.quadrant, b.CreateExtractValue(of_lane, 1), lane);
    }
    all.rest = b.CreateSelect(is_large, exact.rest, fast.rest);
    all.quadrant = b.CreateSelect(is_large, exact.quadrant, fast.quadrant);
  } else {
    Value* exact = b.CreateCall(reduce, {x});
    all = {b.CreateExtractValue(exact, 1), b.CreateExtractValue(exact, 0)};
  }
  b.CreateBr(done);
  b.SetInsertPoint(done);
  const auto join = [&](Value* from_start, Value* from_slow) {
    llvm::PHINode* phi = b.CreatePHI(from_start->getType(), 2);
    phi->addIncoming(from_start, start);
    phi->addIncoming(from_slow, slow);
    return phi;
  };
  return {join(fast.quadrant, all.quadrant), join(fast.rest, all.rest)};
}

}  // namespace

// sin(x), or cos(x) as the sine a quarter turn on. Multiples of pi/2 are taken
// off in double precision, which is enough below kLargestAngle.
Value* SinCos32(llvm::IRBuilder<>& b, const Machine& m, bool cosine, Value* x) {
  constexpr double kLargestAngle = 1e6;
  Type* f64 = TypeLike(b.getDoubleTy(), x);
  Value* wide = b.CreateFPExt(x, f64);
  Angle angle;
  {
    FloatMath d(b, m, wide);
    Value* shifted =
        d.Add(d.Mul(wide, d.C(0.63661977236758134308)), d.C(kRound64));
    Value* n = d.Sub(shifted, d.C(kRound64));
    // The first part of pi/2 has 33 bits: n times it is exact.
    Value* rest = d.MulAdd(n, d.C(-1.57079632673412561417e+00), wide);
    rest = d.MulAdd(n, d.C(-6.07710050650619224932e-11), rest);
    angle.rest = b.CreateFPTrunc(rest, x->getType());
    angle.quadrant =
        b.CreateTrunc(d.Bits(shifted), TypeLike(b.getInt32Ty(), x));
  }
  angle = ReduceLargeAngles(b, x, kLargestAngle, angle);
  FloatMath f(b, m, x);
  Value* const r = angle.rest;
  Value* quadrant = angle.quadrant;
  if (cosine) quadrant = b.CreateAdd(quadrant, f.I(1));
  Value* z = f.Mul(r, r);
  Value* sine =
      f.Poly(z, {-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1});
  sine = f.MulAdd(f.Mul(sine, z), r, r);
  Value* cosi = f.Poly(
      z, {2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2});
  cosi = f.MulAdd(f.Mul(cosi, z), z, f.MulAdd(z, f.C(-0.5), f.C(1.0)));
  Value* odd = b.CreateICmpNE(b.CreateAnd(quadrant, f.I(1)), f.I(0));
  Value* result = f.Pick(odd, cosi, sine);
  Value* negate = b.CreateShl(b.CreateAnd(quadrant, f.I(2)), 30);
  return f.FromBits(b.CreateXor(f.Bits(result), negate));
}

// The rest of |x| / |y|, with the sign of x, by steps in double precision. Each
// takes so many times |y| off as the first 26 bits of the quotient say, of
// which the product has 50: every number on the way is exact, and most
// quotients of a vector need one step.
Value* Fmod32(llvm::IRBuilder<>& b, const Machine& m, Value* x, Value* y) {
  constexpr int64_t kFirstBits = ~((int64_t{1} << 27) - 1);
  Type* f64 = TypeLike(b.getDoubleTy(), x);
  FloatMath d(b, m, llvm::PoisonValue::get(f64));
  Value* dividend = d.Abs(b.CreateFPExt(x, f64));
  Value* divisor = d.Abs(b.CreateFPExt(y, f64));
  llvm::BasicBlock* start = b.GetInsertBlock();
  llvm::Function* function = start->getParent();
  auto* step = llvm::BasicBlock::Create(b.getContext(), "fmod", function);
  auto* done = llvm::BasicBlock::Create(b.getContext(), "rest", function);
  b.CreateBr(step);
  b.SetInsertPoint(step);
  llvm::PHINode* rest = b.CreatePHI(f64, 2);
  Value* first = b.CreateAnd(d.Bits(d.Div(rest, divisor)), d.I(kFirstBits));
  Value* times =
      b.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, d.FromBits(first));
  // A small dividend is its own rest, by an infinity too.
  Value* next =
      d.Pick(d.Less(rest, divisor), rest, d.Sub(rest, d.Mul(times, divisor)));
  Value* more = b.CreateFCmpOGE(next, divisor);
  if (more->getType()->isVectorTy()) more = b.CreateOrReduce(more);
  rest->addIncoming(dividend, start);
  rest->addIncoming(next, step);
  b.CreateCondBr(more, step, done);
  b.SetInsertPoint(done);
  return FloatMath(b, m, x).CopySign(b.CreateFPTrunc(next, x->getType()), x);
}

// x^y = 2^(y log2 |x|), in double precision, so that the error of the
// logarithm, which the exponential magnifies, stays far below f32's.
Value* Pow32(llvm::IRBuilder<>& b, const Machine& m, Value* x, Value* y) {
  Type* f64 = TypeLike(b.getDoubleTy(), x);
  FloatMath d(b, m, b.CreateFPExt(x, f64));
  Value* base = d.Abs(b.CreateFPExt(x, f64));
  Value* exponent = b.CreateFPExt(y, f64);

  // log2(base): base = 2^e * (1 + r), log(1 + r) = 2 atanh(r / (2 + r)).
  constexpr int64_t kSqrtHalf = 0x3fe6a09e667f3bcd;
  Value* bits = b.CreateAdd(d.Bits(base), d.I(0x3ff0000000000000 - kSqrtHalf));
  Value* e_bits = b.CreateSub(b.CreateLShr(bits, 52), d.I(1023));
  // As a double, without the conversion from i64 that AVX2 lacks.
  Value* e = d.Sub(d.FromBits(b.CreateAdd(e_bits, d.I(0x4338000000000000))),
                   d.C(kRound64));
  Value* r =
      d.Sub(d.FromBits(b.CreateAdd(b.CreateAnd(bits, d.I(0xfffffffffffff)),
                                   d.I(kSqrtHalf))),
            d.C(1.0));
  Value* s = d.Div(r, d.Add(r, d.C(2.0)));
  Value* z = d.Mul(s, s);
  Value* series =
      d.Poly(z, {2.0 / 13, 2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3, 2.0});
  Value* log2 = d.MulAdd(d.Mul(series, s), d.C(1.4426950408889634074), e);
  Value* infinity = ConstantFP::getInfinity(f64);
  log2 =
      d.Pick(d.Equal(base, d.C(0.0)), ConstantFP::getInfinity(f64, true), log2);
  log2 = d.Pick(d.Equal(base, infinity), infinity, log2);

  // 2^t. Doubles reach far beyond what f32 holds, so that the conversion does
  // overflow and subnormal results.
  Value* t = d.Clamp(d.Mul(exponent, log2), -300.0, 300.0);
  Value* shifted = d.Add(t, d.C(kRound64));
  Value* fraction = d.Sub(t, d.Sub(shifted, d.C(kRound64)));
  Value* p = d.Poly(d.Mul(fraction, d.C(0.69314718055994530942)),
                    {1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24,
                     1.0 / 6, 0.5, 1.0, 1.0});
  Value* power =
      d.FromBits(b.CreateShl(b.CreateAdd(d.Bits(shifted), d.I(1023)), 52));
  Value* result = b.CreateFPTrunc(d.Mul(p, power), x->getType());

  FloatMath f(b, m, x);
  Value* half = f.Mul(y, f.C(0.5));
  auto is_integer = [&](Value* v) {
    return f.Equal(b.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, v), v);
  };
  Value* y_integer = is_integer(y);
  Value* y_odd = b.CreateAnd(y_integer, b.CreateNot(is_integer(half)));
  Value* x_negative = b.CreateICmpSLT(f.Bits(x), f.I(0));
  result = f.Pick(b.CreateAnd(x_negative, y_odd), b.CreateFNeg(result), result);
  Value* no_root = b.CreateAnd(f.Less(x, f.C(0.0)), b.CreateNot(y_integer));
  no_root = b.CreateAnd(
      no_root, b.CreateFCmpONE(x, ConstantFP::getInfinity(x->getType(), true)));
  result = f.Pick(no_root, ConstantFP::getNaN(x->getType()), result);
  result =
      f.Pick(b.CreateFCmpUNO(x, y), ConstantFP::getNaN(x->getType()), result);
  // 1^y, x^0 and (-1)^±inf are 1, whatever the other is.
  Value* y_infinite = f.Equal(f.Abs(y), ConstantFP::getInfinity(x->getType()));
  Value* unit = b.CreateOr(f.Equal(x, f.C(1.0)),
                           b.CreateAnd(f.Equal(x, f.C(-1.0)), y_infinite));
  return f.Pick(b.CreateOr(unit, f.Equal(y, f.C(0.0))), f.C(1.0), result);
}

}  // namespace ingot::codegen
