// Every operator, cast and function on every type, scalar and vector, as each
// target computes it and as the interpreter does.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "backends/testing/run_kernels.h"
#include "compiler/tir/numeric.h"
#include "gtest/gtest.h"
#include "runtime/float16.h"

namespace ingot::testing_support {
namespace {

constexpr int64_t kN = 64;

const DataType kTypes[] = {
    DataType::Int(8),     DataType::Int(16),   DataType::Int(32),
    DataType::Int(64),    DataType::UInt(8),   DataType::UInt(16),
    DataType::UInt(32),   DataType::UInt(64),  DataType::Float(16),
    DataType::BFloat16(), DataType::Float(32), DataType::Float(64),
    DataType::Bool(),
};

// Element i of `t`, from whichever of the two its type wants.
void SetElement(Tensor* t, int64_t i, double f, int64_t n) {
  const DataType type = t->dtype();
  char* at = static_cast<char*>(t->mutable_raw_data()) + i * type.bytes();
  if (!type.is_float()) {
    n = tir::WrapInt(type, n);
    std::memcpy(at, &n, type.bytes());
  } else if (type.bits == 64) {
    std::memcpy(at, &f, 8);
  } else if (type.bits == 32) {
    const float narrow = static_cast<float>(f);
    std::memcpy(at, &narrow, 4);
  } else {
    const uint16_t bits =
        type.code == DataType::kBFloat ? DoubleToBFloat16(f) : DoubleToHalf(f);
    std::memcpy(at, &bits, 2);
  }
}

// Values at which types and roundings end.
Tensor Special(DataType type, int rotate) {
  static const double kFloats[] = {
      0.0,
      -0.0,
      1.0,
      -1.0,
      1.5,
      -2.5,
      0.5,
      2.5,
      127.4,
      127.6,
      128.0,
      -128.9,
      -129.0,
      255.9,
      256.0,
      32767.5,
      -32768.9,
      65504.0,
      65519.9,
      65520.0,
      65535.9,
      65536.0,
      2147483520.0,
      2147483648.0,
      -2147483648.0,
      -2147483904.0,
      4294967040.0,
      4294967296.0,
      9.2e18,
      9223372036854775808.0,
      -9223372036854775808.0,
      1.8e19,
      1e19,
      -1e19,
      1e20,
      3.4e38,
      3.5e38,
      1e300,
      -1e300,
      std::numeric_limits<double>::infinity(),
      -std::numeric_limits<double>::infinity(),
      std::numeric_limits<double>::quiet_NaN(),
      1e-8,
      5.96e-8,
      2.98e-8,
      2.99e-8,
      6.1e-5,
      6.0975e-5,
      1e-40,
      1e-45,
      1e-310,
      0.1,
      1.0 / 3,
      1 + 0x1p-11,
      1 + 0x1p-11 + 0x1p-40,
      1 + 0x1p-8,
      1 + 0x1p-8 + 0x1p-40,
      1 + 0x3p-9,
      1 + 0x1p-24,
      1 + 0x1p-24 + 0x1p-50,
      -(1 + 0x1p-11 + 0x1p-40),
      -7.0,
      13.0,
      100.0,
  };
  static const int64_t kInts[] = {
      0,
      1,
      -1,
      2,
      -2,
      3,
      7,
      -7,
      13,
      100,
      127,
      128,
      -128,
      -129,
      255,
      256,
      32767,
      32768,
      -32768,
      65535,
      65536,
      16777217,
      -16777217,
      33554434,
      33554435,
      2147483647,
      -2147483648,
      2147483648,
      4294967295,
      4294967296,
      257,
      2049,
      2051,
      4098,
      65519,
      65520,
      65521,
      -65520,
      9007199254740993,
      -9007199254740993,
      INT64_MAX,
      INT64_MIN,
      INT64_MIN + 1,
      INT64_MAX - 511,
      0x7fffff4000000001,
      0x7fffffbfffffffff,
      5,
      6,
      9,
      10,
      11,
      12,
      15,
      16,
      17,
      31,
      32,
      33,
      63,
      64,
      65,
      99,
      -100,
      1000,
  };
  static_assert(sizeof(kFloats) / sizeof(kFloats[0]) == kN);
  static_assert(sizeof(kInts) / sizeof(kInts[0]) == kN);
  Tensor t = AtPageEnd(type, {kN});
  for (int64_t i = 0; i < kN; ++i) {
    SetElement(&t, i, kFloats[(i + rotate) % kN], kInts[(i + rotate) % kN]);
  }
  return t;
}

// Kernels of one module, and what to call them with.
struct Batch {
  struct Call {
    std::vector<Tensor> inputs;
    DataType result;
    Tolerance tolerance;
  };
  std::vector<tir::PrimFunc> kernels;
  std::vector<Call> calls;

  // `expr` computes an element from %x0[I], %x1[I], … Added twice, in scalar
  // and in vector code.
  void Add(const std::string& name, const std::string& expr,
           std::vector<Tensor> inputs, DataType result,
           Tolerance tolerance = {}) {
    std::string params;
    for (size_t i = 0; i < inputs.size(); ++i) {
      absl::StrAppend(&params, i ? ", " : "", "%x", i, ": ",
                      inputs[i].dtype().ToString(), "[", kN, "]");
    }
    for (bool vector : {false, true}) {
      kernels.push_back(ParseKernel(absl::Substitute(
          "func @$0_$1($2) -> (%y: $3[$4]) { for i in [0, $5) { $6 j in [0, 8) "
          "{ %y[i * 8 + j] = $7 } } }",
          name, vector ? "v" : "s", params, result.ToString(), kN, kN / 8,
          vector ? "vectorized" : "for",
          absl::StrReplaceAll(expr, {{"[I]", "[i * 8 + j]"}}))));
      calls.push_back({inputs, result, tolerance});
    }
  }

  void Run(const std::string& target) {
    auto module = BuildKernels(target, kernels);
    ASSERT_TRUE(module.ok()) << module.status();
    for (size_t i = 0; i < kernels.size(); ++i) {
      Tensor y = AtPageEnd(calls[i].result, {kN});
      std::memset(y.mutable_raw_data(), 0x55, y.bytes());
      EXPECT_EQ(CompareWithInterpreter(**module, kernels[i], calls[i].inputs,
                                       {y}, calls[i].tolerance),
                absl::OkStatus());
    }
  }
};

class TypesTest : public testing::TestWithParam<const char*> {};

TEST_P(TypesTest, Casts) {
  Batch batch;
  for (DataType from : kTypes) {
    for (DataType to : kTypes) {
      if (from == to) continue;
      batch.Add(absl::StrCat("cast_", from.ToString(), "_", to.ToString()),
                absl::StrCat(to.ToString(), "(%x0[I])"), {Special(from, 0)},
                to);
    }
  }
  batch.Run(GetParam());
}

// Numbers of all sizes that an i64 has, and some beyond, with all of their
// digits.
Tensor OfAllSizes(DataType type, int round) {
  Tensor t = AtPageEnd(type, {kN});
  uint64_t random = 88172645463325252u + static_cast<uint64_t>(round);
  for (int64_t i = 0; i < kN; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const double digits = 1 + static_cast<double>(random >> 12) * 0x1p-52;
    const double value = std::ldexp(digits, static_cast<int>(i) + 1);
    SetElement(&t, i, (random >> 11 & 1) != 0 ? -value : value, 0);
  }
  return t;
}

TEST_P(TypesTest, CastsOfAllSizes) {
  Batch batch;
  for (const DataType from : {DataType::Float(32), DataType::Float(64)}) {
    for (int round = 0; round < 4; ++round) {
      batch.Add(absl::StrCat("cast_", from.ToString(), "_", round),
                "i64(%x0[I])", {OfAllSizes(from, round)}, DataType::Int(64));
    }
  }
  batch.Run(GetParam());
}

// Operands of integer operators that do not make them undefined.
Tensor Divisors(DataType type) {
  Tensor t = AtPageEnd(type, {kN});
  const int64_t values[] = {1, 2, 3, 7, -2, -3, 10, 64, 5, -7, 100, 127, 4};
  for (int64_t i = 0; i < kN; ++i) {
    const int64_t v = values[i % 13];
    SetElement(&t, i, static_cast<double>(v), v);
  }
  return t;
}

Tensor Shifts(DataType type) {
  Tensor t = AtPageEnd(type, {kN});
  for (int64_t i = 0; i < kN; ++i) SetElement(&t, i, 0, (i * 5) % type.bits);
  return t;
}

TEST_P(TypesTest, BinaryOperators) {
  Batch batch;
  for (DataType t : kTypes) {
    const std::string type = t.ToString();
    const Tensor a = Special(t, 0);
    const Tensor b = Special(t, 5);
    const auto add = [&](const char* name, const char* expr,
                         const Tensor& second, DataType result) {
      batch.Add(absl::StrCat(name, "_", type), expr, {a, second}, result);
    };
    const DataType boolean = DataType::Bool();
    add("eq", "%x0[I] == %x1[I]", b, boolean);
    add("ne", "%x0[I] != %x1[I]", b, boolean);
    add("lt", "%x0[I] < %x1[I]", b, boolean);
    add("le", "%x0[I] <= %x1[I]", b, boolean);
    add("gt", "%x0[I] > %x1[I]", b, boolean);
    add("ge", "%x0[I] >= %x1[I]", b, boolean);
    add("min", "min(%x0[I], %x1[I])", b, t);
    add("max", "max(%x0[I], %x1[I])", b, t);
    add("select", "select(%x0[I] < %x1[I], %x1[I], %x0[I])", b, t);
    if (t.is_bool()) {
      add("and", "%x0[I] && %x1[I]", b, t);
      add("or", "%x0[I] || %x1[I]", b, t);
      add("not", "!(%x0[I] || %x1[I])", b, t);
    } else {
      add("add", "%x0[I] + %x1[I]", b, t);
      add("sub", "%x0[I] - %x1[I]", b, t);
      add("mul", "%x0[I] * %x1[I]", b, t);
      add("neg", "-%x0[I]", b, t);
    }
    if (t.is_float()) {
      add("div", "%x0[I] / %x1[I]", b, t);
    } else {
      add("band", "%x0[I] & %x1[I]", b, t);
      add("bor", "%x0[I] | %x1[I]", b, t);
      add("bxor", "%x0[I] ^ %x1[I]", b, t);
    }
    if (t.is_integer()) {
      add("tdiv", "%x0[I] / %x1[I]", Divisors(t), t);
      add("tmod", "rem(%x0[I], %x1[I])", Divisors(t), t);
      add("fdiv", "%x0[I] // %x1[I]", Divisors(t), t);
      add("fmod", "%x0[I] % %x1[I]", Divisors(t), t);
      add("shl", "%x0[I] << %x1[I]", Shifts(t), t);
      add("shr", "%x0[I] >> %x1[I]", Shifts(t), t);
      add("bnot", "~%x0[I]", b, t);
      add("abs", "abs(%x0[I])", b, t);
      if (t == DataType::Int(32)) {
        add("dot4", "dot4(%x0[I], %x1[I], %x1[I])", b, t);
        add("dot2", "dot2(%x0[I], %x1[I], %x1[I])", b, t);
      }
      for (int c : {1, 2, 3, 7, 16}) {
        const std::string k = absl::StrCat(type, "(", c, ")");
        const std::string tail = absl::StrCat("_by", c);
        add(("fdiv" + tail).c_str(), absl::StrCat("%x0[I] // ", k).c_str(), b,
            t);
        add(("fmod" + tail).c_str(), absl::StrCat("%x0[I] % ", k).c_str(), b,
            t);
        add(("tdiv" + tail).c_str(), absl::StrCat("%x0[I] / ", k).c_str(), b,
            t);
      }
    }
  }
  batch.Run(GetParam());
}

TEST_P(TypesTest, Functions) {
  Batch batch;
  for (DataType t : {DataType::Float(16), DataType::BFloat16(),
                     DataType::Float(32), DataType::Float(64)}) {
    Tolerance tolerance{1e-6, 1e-30};
    if (t.bits == 64) tolerance = {1e-14, 0};
    if (t.bits == 16) {
      tolerance = {t.code == DataType::kBFloat ? 0x1p-7 : 0x1p-10, 0x1p-24};
    }
    const std::string type = t.ToString();
    Tensor a = AtPageEnd(t, {kN});
    for (int64_t i = 0; i < kN; ++i) {
      SetElement(&a, i, (static_cast<double>(i) - 20) / 8, 0);
    }
#define INGOT_ADD(Name, text, arity)                                   \
  if (!tir::IsDot(tir::Intrinsic::k##Name)) {                          \
    const char* args = arity == 1   ? "(%x0[I])"                       \
                       : arity == 2 ? "(%x0[I], %x1[I])"               \
                                    : "(%x0[I], %x1[I], %x1[I])";      \
    const bool boolean = std::string(text).substr(0, 2) == "is";       \
    batch.Add(absl::StrCat(text, "_", type), absl::StrCat(text, args), \
              {boolean ? Special(t, 0) : a, a},                        \
              boolean ? DataType::Bool() : t, tolerance);              \
  }
    INGOT_TIR_INTRINSICS(INGOT_ADD)
#undef INGOT_ADD
    for (const char* f : {"floor", "ceil", "round", "trunc", "abs", "sqrt"}) {
      batch.Add(absl::StrCat(f, "_special_", type), absl::StrCat(f, "(%x0[I])"),
                {Special(t, 0)}, t);
    }
    for (const char* f : {"exp", "log", "tanh", "erf"}) {
      batch.Add(absl::StrCat(f, "_special_", type), absl::StrCat(f, "(%x0[I])"),
                {Special(t, 0)}, t, tolerance);
    }
    batch.Add(absl::StrCat("pow_special_", type), "pow(%x0[I], %x1[I])",
              {Special(t, 0), Special(t, 1)}, t, tolerance);
  }
  batch.Run(GetParam());
}

// 1 + tanh(x) of a large -x, which gelu multiplies by x, is 0, as is 1 +
// erf(x), and neither is negative anywhere.
TEST_P(TypesTest, TanhAndErfEndAtOne) {
  constexpr int64_t kPoints = 1 << 17;
  Tensor x = *Tensor::Empty(DataType::Float(32), {kPoints}),
         y = *Tensor::Empty(DataType::Float(32), {kPoints});
  for (int64_t i = 0; i < kPoints; ++i) {
    x.mutable_data<float>()[i] = -12.0f * static_cast<float>(i) / kPoints;
  }
  const float far[] = {-9.1f, -12.0f, -89.0f, -1e30f, -HUGE_VALF};
  std::copy(std::begin(far), std::end(far), x.mutable_data<float>());
  for (const char* f : {"tanh", "erf"}) {
    const tir::PrimFunc kernel = ParseKernel(absl::Substitute(
        "func @f(%x: f32[$0]) -> (%y: f32[$0]) { for i in [0, $1) { vectorized "
        "j in [0, 8) { %y[i * 8 + j] = $2(%x[i * 8 + j]) } } }",
        kPoints, kPoints / 8, f));
    const auto module = BuildKernels(GetParam(), {kernel});
    ASSERT_TRUE(module.ok()) << module.status();
    ASSERT_TRUE((*module)->GetFunction("f")->Call({x.dl(), y.dl()}).ok());
    for (size_t i = 0; i < std::size(far); ++i) {
      EXPECT_EQ(y.data<float>()[i], -1.0f) << f << " of " << far[i];
    }
    EXPECT_EQ(*std::min_element(y.data<float>(), y.data<float>() + kPoints),
              -1.0f)
        << f;
  }
}

// Undefined in tir, but nothing may stop the process.
TEST_P(TypesTest, DivisionByZeroDoesNotTrap) {
  std::vector<tir::PrimFunc> kernels;
  for (DataType t : kTypes) {
    if (!t.is_integer()) continue;
    const std::string type = t.ToString();
    for (const char* op : {"%x[i] / %y[i]", "rem(%x[i], %y[i])",
                           "%x[i] // %y[i]", "%x[i] % %y[i]"}) {
      kernels.push_back(ParseKernel(absl::Substitute(
          "func @d$0(%x: $1[4], %y: $1[4]) -> (%z: $1[4]) { for i in [0, 4) { "
          "%z[i] = $2 } }",
          kernels.size(), type, op)));
    }
  }
  auto module = BuildKernels(GetParam(), kernels);
  ASSERT_TRUE(module.ok()) << module.status();
  for (const tir::PrimFunc& kernel : kernels) {
    const DataType t = kernel.params[0]->dtype;
    Tensor x = *Tensor::Empty(t, {4}), y = *Tensor::Empty(t, {4}),
           z = *Tensor::Empty(t, {4});
    const int64_t lowest =
        t.is_int() ? static_cast<int64_t>(~uint64_t{0} << (t.bits - 1)) : 0;
    const int64_t xs[] = {1, lowest, lowest, 0}, ys[] = {0, -1, 0, 0};
    for (int i = 0; i < 4; ++i) {
      SetElement(&x, i, 0, xs[i]);
      SetElement(&y, i, 0, ys[i]);
    }
    EXPECT_TRUE((*module)
                    ->GetFunction(kernel.name)
                    ->Call({x.dl(), y.dl(), z.dl()})
                    .ok());
  }
}

// Only the first as optimised as users' kernels are: what differs is how types
// are handled, and hundreds of kernels take their time.
INSTANTIATE_TEST_SUITE_P(Targets, TypesTest,
                         testing::Values("llvm", "llvm -mcpu=generic -O=1",
                                         "llvmjit -O=0", "c -O=1",
                                         "c -cc=clang-19 -mcpu=native -O=0",
                                         "c -mcpu=native -O=1"));

}  // namespace
}  // namespace ingot::testing_support
