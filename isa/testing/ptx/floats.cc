// Arithmetic and comparisons of floating-point numbers, and functions that a
// GPU approximates: they are exact to the last bit here, or almost.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "isa/testing/ptx/forms.h"
#include "isa/testing/ptx/numbers.h"
#include "isa/testing/ptx/warp.h"

namespace ingot::isa::ptx {
namespace {

template <typename T>
auto W(T number) {
  return Widen(number);
}

// Sums and products of 16 bits are rounded twice, which gives the same: a float
// has more than twice the bits.
#define BINARY(name, result)    \
  struct name {                 \
    template <typename T>       \
    static T Do(T x, T y) {     \
      const auto a = W(x);      \
      const auto b = W(y);      \
      return Narrow<T>(result); \
    }                           \
  }
#define UNARY(name, result)     \
  struct name {                 \
    template <typename T>       \
    static T Do(T x) {          \
      const auto a = W(x);      \
      return Narrow<T>(result); \
    }                           \
  }

template <typename T>
T MinimumOf(T a, T b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <typename T>
T MaximumOf(T a, T b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
template <typename T>
T NanOf(T a, T b, T otherwise) {
  return a != a || b != b ? std::numeric_limits<T>::quiet_NaN() : otherwise;
}
double Exact(double (*function)(double), double value) {
  return function(value);
}

BINARY(Add, a + b);
BINARY(Subtract, a - b);
BINARY(Multiply, a* b);
BINARY(Divide, a / b);
BINARY(Minimum, MinimumOf(a, b));
BINARY(Maximum, MaximumOf(a, b));
BINARY(MinimumNan, NanOf(a, b, MinimumOf(a, b)));
BINARY(MaximumNan, NanOf(a, b, MaximumOf(a, b)));
BINARY(CopySign, std::copysign(b, a));
UNARY(SquareRoot, std::sqrt(a));
UNARY(Reciprocal, 1 / a);
UNARY(ReciprocalRoot, 1 / Exact(std::sqrt, a));
UNARY(Exponential, Exact(std::exp2, a));
UNARY(Logarithm, Exact(std::log2, a));
UNARY(Sine, Exact(std::sin, a));
UNARY(Cosine, Exact(std::cos, a));
UNARY(Tangent, Exact(std::tanh, a));

// The sign's bit changes, of NaNs as of others.
struct Negative {
  template <typename T>
  static T Do(T x) {
    return -x;
  }
  static Half Do(Half x) { return {static_cast<uint16_t>(x.bits ^ 0x8000)}; }
  static Bfloat Do(Bfloat x) {
    return {static_cast<uint16_t>(x.bits ^ 0x8000)};
  }
};
struct Absolute {
  template <typename T>
  static T Do(T x) {
    return std::fabs(x);
  }
  static Half Do(Half x) { return {static_cast<uint16_t>(x.bits & 0x7fff)}; }
  static Bfloat Do(Bfloat x) {
    return {static_cast<uint16_t>(x.bits & 0x7fff)};
  }
};

struct MultiplyAdd {
  static float Do(float a, float b, float c) { return std::fma(a, b, c); }
  static double Do(double a, double b, double c) { return std::fma(a, b, c); }
  // A product of halves is exact in double, and so are sums but of numbers
  // whose exponents are far apart.
  template <typename T>
  static T Do(T a, T b, T c) {
    return Narrow<T>(static_cast<double>(W(a)) * W(b) + W(c));
  }
};

// Applies an operation to both halves of a word.
template <typename Op>
struct Both {
  template <typename T, typename... R>
  static Pair<T> Do(Pair<T> a, R... rest) {
    return {Op::Do(a.low, rest.low...), Op::Do(a.high, rest.high...)};
  }
};

// The form of a comparison of pairs, which makes two predicates: of the lower
// numbers, then of the higher ones.
template <typename Op, typename T>
struct PairComparison {
  static bool Run(Warp& warp, const Instruction& i) {
    const auto* const a = warp.Lanes<const Pair<T>>(i.at[2]);
    const auto* const b = warp.Lanes<const Pair<T>>(i.at[3]);
    uint32_t low = 0, high = 0;
    for (int lane = 0; lane < kLanes; ++lane) {
      low |= uint32_t{Op::Do(a[lane].low, b[lane].low)} << lane;
      high |= uint32_t{Op::Do(a[lane].high, b[lane].high)} << lane;
    }
    KeepPredicate(warp, i.at[0], low);
    KeepPredicate(warp, i.at[1], high);
    return true;
  }
  static Form MakeForm() {
    Form form;
    form.operands = "ppww";
    form.run = Run;
    return form;
  }
};

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) void MultiplyAddLanes(const float* a,
                                                          const float* b,
                                                          const float* c,
                                                          float* to) {
  for (int lane = 0; lane < kLanes; ++lane) {
    to[lane] = __builtin_fmaf(a[lane], b[lane], c[lane]);
  }
}

bool MultiplyAddByProcessor(Warp& warp, const Instruction& i) {
  float to[kLanes];
  MultiplyAddLanes(warp.Lanes<float>(i.at[1]), warp.Lanes<float>(i.at[2]),
                   warp.Lanes<float>(i.at[3]), to);
  Keep(warp, i.at[0], to);
  return true;
}
#endif

template <typename Op, typename T>
Form Unary() {
  return Lanewise<Op, T, T>::MakeForm();
}
template <typename Op, typename T>
Form Binary() {
  return Lanewise<Op, T, T, T>::MakeForm();
}
template <typename Op, typename T>
Form Ternary() {
  return Lanewise<Op, T, T, T, T>::MakeForm();
}

template <typename T>
void AddArithmetic(Forms* forms, const std::string& type) {
  Forms& f = *forms;
  for (const std::string rounding : {"", ".rn"}) {
    f["add" + rounding + type] = Binary<Add, T>();
    f["sub" + rounding + type] = Binary<Subtract, T>();
    f["mul" + rounding + type] = Binary<Multiply, T>();
  }
  f["fma.rn" + type] = Ternary<MultiplyAdd, T>();
  f["neg" + type] = Unary<Negative, T>();
  f["abs" + type] = Unary<Absolute, T>();
  f["min" + type] = Binary<Minimum, T>();
  f["max" + type] = Binary<Maximum, T>();
  f["min.NaN" + type] = Binary<MinimumNan, T>();
  f["max.NaN" + type] = Binary<MaximumNan, T>();
}

template <typename T>
void AddPairs(Forms* forms, const std::string& type) {
  using P = Pair<T>;
  Forms& f = *forms;
  for (const std::string rounding : {"", ".rn"}) {
    f["add" + rounding + type] = Binary<Both<Add>, P>();
    f["sub" + rounding + type] = Binary<Both<Subtract>, P>();
    f["mul" + rounding + type] = Binary<Both<Multiply>, P>();
  }
  f["fma.rn" + type] = Ternary<Both<MultiplyAdd>, P>();
  f["neg" + type] = Unary<Both<Negative>, P>();
  f["abs" + type] = Unary<Both<Absolute>, P>();
  f["min" + type] = Binary<Both<Minimum>, P>();
  f["max" + type] = Binary<Both<Maximum>, P>();
}

// Divisions and roots, which the GPU rounds where it is told to.
template <typename T>
void AddRounded(Forms* forms, const std::string& type) {
  Forms& f = *forms;
  f["div.rn" + type] = Binary<Divide, T>();
  f["rcp.rn" + type] = Unary<Reciprocal, T>();
  f["sqrt.rn" + type] = Unary<SquareRoot, T>();
  f["copysign" + type] = Binary<CopySign, T>();
}

void AddApproximations(Forms* forms) {
  Forms& f = *forms;
  for (const std::string type : {".approx.f32", ".approx.ftz.f32"}) {
    f["ex2" + type] = Unary<Exponential, float>();
    f["lg2" + type] = Unary<Logarithm, float>();
    f["sin" + type] = Unary<Sine, float>();
    f["cos" + type] = Unary<Cosine, float>();
    f["rcp" + type] = Unary<Reciprocal, float>();
    f["sqrt" + type] = Unary<SquareRoot, float>();
    f["rsqrt" + type] = Unary<ReciprocalRoot, float>();
    f["div" + type] = Binary<Divide, float>();
  }
  f["div.full.f32"] = Binary<Divide, float>();
  f["tanh.approx.f32"] = Unary<Tangent, float>();
  f["rsqrt.approx.f64"] = Unary<ReciprocalRoot, double>();
  f["ex2.approx.f16"] = Unary<Exponential, Half>();
  f["tanh.approx.f16"] = Unary<Tangent, Half>();
  f["tanh.approx.bf16"] = Unary<Tangent, Bfloat>();
}

// Whether a relation is true of numbers that are less, equal, greater or
// unordered: a bit for each.
template <int kTrueFor>
struct Relation {
  template <typename T>
  static bool Do(T x, T y) {
    const auto a = W(x);
    const auto b = W(y);
    const int is = a < b ? 1 : a == b ? 2 : a > b ? 4 : 8;
    return (is & kTrueFor) != 0;
  }
};

template <typename T, template <typename, typename> class Kind>
void AddComparisons(Forms* forms, const std::string& type) {
  Forms& f = *forms;
  f["setp.lt" + type] = Kind<Relation<1>, T>::MakeForm();
  f["setp.eq" + type] = Kind<Relation<2>, T>::MakeForm();
  f["setp.le" + type] = Kind<Relation<3>, T>::MakeForm();
  f["setp.gt" + type] = Kind<Relation<4>, T>::MakeForm();
  f["setp.ne" + type] = Kind<Relation<5>, T>::MakeForm();
  f["setp.ge" + type] = Kind<Relation<6>, T>::MakeForm();
  f["setp.num" + type] = Kind<Relation<7>, T>::MakeForm();
  f["setp.nan" + type] = Kind<Relation<8>, T>::MakeForm();
  f["setp.ltu" + type] = Kind<Relation<9>, T>::MakeForm();
  f["setp.equ" + type] = Kind<Relation<10>, T>::MakeForm();
  f["setp.leu" + type] = Kind<Relation<11>, T>::MakeForm();
  f["setp.gtu" + type] = Kind<Relation<12>, T>::MakeForm();
  f["setp.neu" + type] = Kind<Relation<13>, T>::MakeForm();
  f["setp.geu" + type] = Kind<Relation<14>, T>::MakeForm();
}

}  // namespace

void AddFloats(Forms* forms) {
  AddArithmetic<float>(forms, ".f32");
  AddArithmetic<double>(forms, ".f64");
  AddArithmetic<Half>(forms, ".f16");
  AddArithmetic<Bfloat>(forms, ".bf16");
  AddPairs<Half>(forms, ".f16x2");
  AddPairs<Bfloat>(forms, ".bf16x2");
  AddRounded<float>(forms, ".f32");
  AddRounded<double>(forms, ".f64");
  AddComparisons<float, Comparison>(forms, ".f32");
  AddComparisons<double, Comparison>(forms, ".f64");
  AddComparisons<Half, Comparison>(forms, ".f16");
  AddComparisons<Bfloat, Comparison>(forms, ".bf16");
  AddComparisons<Half, PairComparison>(forms, ".f16x2");
  AddComparisons<Bfloat, PairComparison>(forms, ".bf16x2");
  AddApproximations(forms);
#if defined(__x86_64__)
  if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2")) {
    (*forms)["fma.rn.f32"].run = MultiplyAddByProcessor;
  }
#endif
}

}  // namespace ingot::isa::ptx
