#include "compiler/tir/interpreter.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/tir/parser.h"
#include "compiler/tir/passes/pass.h"
#include "compiler/tir/verifier.h"
#include "gtest/gtest.h"

namespace ingot::tir {
namespace {

PrimFunc ParseOrDie(absl::string_view text) {
  absl::StatusOr<PrimFunc> func = Parse(text);
  EXPECT_TRUE(func.ok()) << func.status();
  EXPECT_TRUE(Verify(*func).ok()) << Verify(*func);
  return *func;
}

template <typename T>
Tensor Make(DataType dtype, std::vector<int64_t> shape,
            const std::vector<T>& values) {
  Tensor tensor = Tensor::Empty(dtype, shape).value();
  EXPECT_EQ(values.size(), static_cast<size_t>(tensor.NumElements()));
  if (!values.empty()) {
    std::memcpy(tensor.mutable_raw_data(), values.data(),
                values.size() * sizeof(T));
  }
  return tensor;
}

Tensor Floats(std::vector<int64_t> shape, const std::vector<float>& values) {
  return Make(DataType::Float(32), std::move(shape), values);
}

template <typename T>
std::vector<T> ValuesOf(const Tensor& tensor) {
  auto span = tensor.values<T>();
  return std::vector<T>(span.begin(), span.end());
}

// Runs the function on the arguments, and again after vectorizing and
// unrolling, which must not change the result. Returns the last argument.
Tensor RunBoth(absl::string_view text, const std::vector<Tensor>& args) {
  PrimFunc func = ParseOrDie(text);
  absl::Status status = Interpret(func, args);
  EXPECT_TRUE(status.ok()) << status;
  const Tensor first = args.back().Clone().value();
  absl::StatusOr<PrimFunc> changed = RunPasses(
      func, {"simplify", "unroll_loops", "vectorize_loops", "plan_workspaces"});
  EXPECT_TRUE(changed.ok()) << changed.status();
  status = Interpret(*changed, args);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(
      std::memcmp(first.raw_data(), args.back().raw_data(), first.bytes()), 0);
  return first;
}

// The value of an i64 expression over i, for i in [0, n).
std::vector<int64_t> Ints(absl::string_view expr, int n) {
  Tensor out = Make<int64_t>(DataType::Int(64), {n}, std::vector<int64_t>(n));
  RunBoth(absl::StrCat("func @f() -> (%o: i64[n]) { for i in [0, n) { %o[i] = ",
                       expr, " } }"),
          {out});
  return ValuesOf<int64_t>(out);
}

// The value of an expression over %x[i], for all x.
std::vector<float> OnFloats(absl::string_view expr, std::vector<float> x) {
  const int64_t n = static_cast<int64_t>(x.size());
  Tensor in = Floats({n}, x);
  Tensor out = Floats({n}, x);
  RunBoth(
      absl::StrCat("func @f(%x: f32[n]) -> (%o: f32[n]) { for i in [0, n) { "
                   "%o[i] = ",
                   expr, " } }"),
      {in, out});
  return ValuesOf<float>(out);
}

using V = std::vector<int64_t>;

TEST(InterpreterTest, Integers) {
  EXPECT_EQ(Ints("i * 3 - 4", 4), (V{-4, -1, 2, 5}));
  EXPECT_EQ(Ints("(i - 3) // 2", 5), (V{-2, -1, -1, 0, 0}));
  EXPECT_EQ(Ints("(i - 3) % 2", 5), (V{1, 0, 1, 0, 1}));
  EXPECT_EQ(Ints("(i - 3) / 2", 5), (V{-1, -1, 0, 0, 0}));
  EXPECT_EQ(Ints("rem(i - 3, 2)", 5), (V{-1, 0, -1, 0, 1}));
  EXPECT_EQ(Ints("(i - 3) // (0 - 2)", 5), (V{1, 1, 0, 0, -1}));
  EXPECT_EQ(Ints("i64(u8(i * 100))", 4), (V{0, 100, 200, 44}));
  EXPECT_EQ(Ints("i64(i8(i * 100) * i8(2))", 4), (V{0, -56, -112, 88}));
  EXPECT_EQ(Ints("min(max(i, 1), 2)", 4), (V{1, 1, 2, 2}));
  EXPECT_EQ(Ints("(i << 2) | 1", 3), (V{1, 5, 9}));
  EXPECT_EQ(Ints("(i - 2) >> 1", 3), (V{-1, -1, 0}));
  EXPECT_EQ(Ints("i64(u8(i - 2) >> u8(1))", 3), (V{127, 127, 0}));
  EXPECT_EQ(Ints("~i ^ 1", 3), (V{-2, -1, -4}));
  EXPECT_EQ(Ints("abs(i - 2)", 4), (V{2, 1, 0, 1}));
  EXPECT_EQ(Ints("i64(u64(i) - u64(1) > u64(5))", 3), (V{1, 0, 0}));
  EXPECT_EQ(Ints("select(i > 1 && !(i == 3) || i == 0, 7, i)", 4),
            (V{7, 1, 7, 3}));
  EXPECT_EQ(Ints("9223372036854775807 + i", 2), (V{INT64_MAX, INT64_MIN}));
  // Bytes 255, 128, 1 and 0 by 127, -128, -1 and 5; and a sum that wraps.
  EXPECT_EQ(Ints("i64(dot4(i32(98559), i32(100630655), i32(i)))", 2),
            (V{255 * 127 - 128 * 128 - 1, 255 * 127 - 128 * 128}));
  EXPECT_EQ(Ints("i64(dot4(i32(1), i32(1), i32(2147483647)))", 1),
            (V{INT32_MIN}));
  // Halves -32768 and 3 by -32768 and -5; and the only sum of two that wraps.
  EXPECT_EQ(Ints("i64(dot2(i32(229376), i32(-294912), i32(i)))", 2),
            (V{(1 << 30) - 15, (1 << 30) - 14}));
  EXPECT_EQ(Ints("i64(dot2(i32(-2147450880), i32(-2147450880), i32(0)))", 1),
            (V{INT32_MIN}));
  EXPECT_EQ(Ints("-i", 2), (V{0, -1}));
}

TEST(InterpreterTest, Floats) {
  const float inf = INFINITY;
  EXPECT_EQ(OnFloats("%x[i] * 3.0f + 0.1f", {1, 0.3f}),
            (std::vector<float>{1 * 3.0f + 0.1f, 0.3f * 3.0f + 0.1f}));
  EXPECT_EQ(OnFloats("%x[i] / 3.0f", {1, -2}),
            (std::vector<float>{1 / 3.0f, -2 / 3.0f}));
  EXPECT_EQ(OnFloats("sqrt(%x[i])", {2, 9}),
            (std::vector<float>{std::sqrt(2.0f), 3}));
  EXPECT_EQ(OnFloats("round(%x[i])", {0.5f, 1.5f, -2.5f, 2.6f}),
            (std::vector<float>{0, 2, -2, 3}));
  EXPECT_EQ(OnFloats("max(0.0f, %x[i])", {-1, 2, inf}),
            (std::vector<float>{0, 2, inf}));
  EXPECT_TRUE(std::isnan(OnFloats("max(0.0f, %x[i])", {NAN})[0]));
  EXPECT_EQ(OnFloats("max(%x[i], 0.0f)", {NAN})[0], 0);
  EXPECT_EQ(OnFloats("f32(isnan(%x[i]) || isinf(%x[i]))", {NAN, inf, 1}),
            (std::vector<float>{1, 1, 0}));
  EXPECT_EQ(OnFloats("f32(%x[i] != %x[i])", {NAN, 1}),
            (std::vector<float>{1, 0}));
  EXPECT_EQ(OnFloats("f32(i8(%x[i]))", {300, -1.9f, NAN, -inf}),
            (std::vector<float>{127, -1, 0, -128}));
  EXPECT_EQ(OnFloats("f32(u64(%x[i]))", {-5, 3.7f, 1e30f}),
            (std::vector<float>{0, 3, 18446744073709551616.0f}));
  EXPECT_EQ(OnFloats("f32(f16(%x[i]))", {1.0f / 3, 1e6f, 1e-8f, 65519}),
            (std::vector<float>{0.333251953125f, inf, 0, 65504}));
  EXPECT_EQ(OnFloats("f32(bf16(%x[i]) + bf16(1))", {256, 0.5f}),
            (std::vector<float>{256, 1.5f}));
  EXPECT_EQ(OnFloats("muladd(%x[i], 2.0f, 1.0f)", {3}),
            (std::vector<float>{7}));
  EXPECT_EQ(OnFloats("pow(%x[i], 3.0f) + fmod(%x[i], 2.0f)", {3}),
            (std::vector<float>{28}));
  EXPECT_EQ(OnFloats("-%x[i]", {0})[0], 0);
  EXPECT_TRUE(std::signbit(OnFloats("-%x[i]", {0})[0]));
}

TEST(InterpreterTest, EveryElementType) {
  const struct {
    const char* type;
    std::vector<uint8_t> bytes;
  } cases[] = {
      {"i8", {0x80, 0x7f}},
      {"u8", {0x80, 0x7f}},
      {"i16", {0x01, 0x80}},
      {"u16", {0x01, 0x80}},
      {"i32", {1, 2, 3, 0x80}},
      {"u32", {1, 2, 3, 0x80}},
      {"i64", {1, 2, 3, 4, 5, 6, 7, 0x80}},
      {"u64", {1, 2, 3, 4, 5, 6, 7, 0x80}},
      {"f16", {0x01, 0x3c, 0x00, 0x7c, 0x01, 0x00}},
      {"bf16", {0x81, 0x3f, 0x80, 0xff}},
      {"f32", {0xdb, 0x0f, 0x49, 0x40}},
      {"f64", {0x18, 0x2d, 0x44, 0x54, 0xfb, 0x21, 0x09, 0x40}},
      {"bool", {0, 1}},
  };
  for (const auto& c : cases) {
    const DataType t = DataType::Parse(c.type).value();
    const int64_t n = static_cast<int64_t>(c.bytes.size() / t.bytes());
    Tensor in = Tensor::Empty(t, {n}).value();
    std::memcpy(in.mutable_raw_data(), c.bytes.data(), c.bytes.size());
    Tensor out = Tensor::Empty(t, {n}).value();
    RunBoth(absl::StrCat("func @copy(%a: ", c.type, "[n]) -> (%o: ", c.type,
                         "[n]) { for i in [0, n) { %o[i] = %a[i] } }"),
            {in, out});
    EXPECT_EQ(std::memcmp(out.raw_data(), c.bytes.data(), c.bytes.size()), 0)
        << c.type;
  }
}

constexpr char kMatmul[] = R"(
func @matmul(%a: f32[n, k], %b: f32[k, m]) -> (%c: f32[n, m]) {
  parallel i in [0, n) {
    for jo in [0, (m + 7) // 8) {
      alloc %acc: f32[8] stack
      vectorized j in [0, 8) { %acc[j] = 0.0f }
      for p in [0, k) {
        vectorized j in [0, 8) {
          if jo * 8 + j < m {
            %acc[j] = %acc[j] + %a[i, p] * %b[p, jo * 8 + j]
          }
        }
      }
      vectorized j in [0, 8) {
        if jo * 8 + j < m { %c[i, jo * 8 + j] = max(%acc[j], 0.0f) }
      }
    }
  }
})";

TEST(InterpreterTest, Matmul) {
  for (int64_t m : {3, 8, 19}) {
    const int64_t n = 4, k = 5;
    std::vector<float> a(n * k), b(k * m), want(n * m);
    for (size_t i = 0; i < a.size(); ++i) a[i] = std::sin(i * 1.3f);
    for (size_t i = 0; i < b.size(); ++i) b[i] = std::cos(i * 0.7f);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < m; ++j) {
        float sum = 0;
        for (int64_t p = 0; p < k; ++p) {
          const float product = a[i * k + p] * b[p * m + j];
          sum = sum + product;
        }
        want[i * m + j] = std::max(sum, 0.0f);
      }
    }
    Tensor c = Floats({n, m}, std::vector<float>(n * m));
    RunBoth(kMatmul, {Floats({n, k}, a), Floats({k, m}, b), c});
    EXPECT_EQ(ValuesOf<float>(c), want);
  }
}

TEST(InterpreterTest, ControlFlow) {
  Tensor out = Make<int64_t>(DataType::Int(64), {4}, V(4));
  RunBoth(R"(func @f() -> (%o: i64[4]) {
        for i in [0, 4) {
          let x: i64 = i * 2
          %o[i] = 0
          while %o[i] * %o[i] < x { %o[i] = %o[i] + 1 }
          if i == 1 { %o[i] = 50 } else if i == 2 { %o[i] = 60 } else {
            for j in [i, +x) { %o[i] = %o[i] + j }
          }
        }
        for i in [0, 0 - 3) { %o[0] = 99 }
      })",
          {out});
  EXPECT_EQ(ValuesOf<int64_t>(out), (V{0, 50, 60, 36}));
}

TEST(InterpreterTest, FalseSelectsDoNotFault) {
  Tensor in = Floats({4}, {1, 2, 3, 4});
  Tensor out = Floats({8}, std::vector<float>(8));
  for (absl::string_view kind : {"for", "vectorized"}) {
    RunBoth(absl::StrCat("func @pad(%a: f32[4]) -> (%o: f32[8]) { ", kind,
                         " i in [0, 8) { %o[i] = select(i >= 2 && i < 6, "
                         "select(i != 3, %a[i - 2], 9.0f), -1.0f) } }"),
            {in, out});
    EXPECT_EQ(ValuesOf<float>(out),
              (std::vector<float>{-1, -1, 1, 9, 3, 4, -1, -1}));
  }
  // A scalar load for all lanes, of which some or none count.
  Tensor index = Make<int64_t>(DataType::Int(64), {1}, V{77});
  RunBoth(
      "func @f(%a: f32[4], %i: i64[1]) -> (%o: f32[8]) { vectorized j in "
      "[0, 8) { %o[j] = select(j > 8, %a[%i[j - j]], 5.0f) } }",
      {in, index, out});
  EXPECT_EQ(ValuesOf<float>(out)[0], 5);
}

std::string ErrorOf(absl::string_view text, const std::vector<Tensor>& args,
                    int64_t max_iterations = 0) {
  InterpretOptions options;
  options.max_iterations = max_iterations;
  return std::string(Interpret(ParseOrDie(text), args, options).message());
}

TEST(InterpreterTest, Errors) {
  Tensor a = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(ErrorOf("func @f() -> (%o: f32[n, m]) { for i in [0, 9) { "
                    "%o[1, i] = 0.0f } }",
                    {a}),
            "@f: store to %o[1, 3] is outside of f32[2, 3]");
  EXPECT_EQ(ErrorOf("func @f() -> (%o: f32[n, m]) { "
                    "%o[0, 0] = %o[n - 3, 0] }",
                    {a}),
            "@f: load of %o[-1, 0] is outside of f32[2, 3]");
  EXPECT_EQ(ErrorOf("func @f() -> (%o: f32[n, m]) { for i in [0, 2) { "
                    "%o[0, 5 // i] = 1.0f } }",
                    {a}),
            "@f: undefined: 5 // 0");
  EXPECT_EQ(ErrorOf("func @f() -> (%o: f32[n, n]) { }", {a}),
            "@f argument 0 for %o: f32[n, n]: has 3 for n = 2");
  EXPECT_EQ(ErrorOf("func @f() -> (%o: f32[n]) { }", {a}),
            "@f argument 0 for %o: f32[n]: has rank 2");
  EXPECT_EQ(ErrorOf("func @f() -> (%o: i32[n, m]) { }", {a}),
            "@f argument 0 for %o: i32[n, m]: has another element type");
  EXPECT_EQ(ErrorOf("func @f() -> (%o: f32[n, m]) { }", {}),
            "@f takes 1 arguments and 0 workspaces, not 0");
  EXPECT_EQ(
      ErrorOf("func @f() -> (%o: f32[n, m]) { while true { } }", {a}, 1000),
      "@f: the loops take too many iterations");
  EXPECT_TRUE(absl::StrContains(
      ErrorOf("func @f() -> (%o: f32[n, m]) { alloc %w: f32[n * "
              "1000000000000000] %w[0] = 1.0f }",
              {a}),
      "memory"));
}

TEST(InterpreterTest, EmptyTensors) {
  Tensor x = Floats({2, 0, 3}, {});
  Tensor sum = Floats({1}, {7});
  RunBoth(
      "func @f(%x: f32[a, b, c]) -> (%s: f32[1]) { %s[0] = 0.0f "
      "for i in [0, a) { for j in [0, b) { for k in [0, c) { "
      "%s[0] = %s[0] + %x[i, j, k] } } } }",
      {x, sum});
  EXPECT_EQ(ValuesOf<float>(sum)[0], 0);
}

TEST(InterpreterTest, UnwrittenBuffersAreNan) {
  Tensor out = Floats({2}, {0, 0});
  RunBoth(
      "func @f() -> (%o: f32[2]) workspace(%w: f32[1]) { "
      "alloc %t: f32[1] stack  %o[0] = %t[0]  %o[1] = %w[0] }",
      {out});
  EXPECT_TRUE(std::isnan(ValuesOf<float>(out)[0]));
  EXPECT_TRUE(std::isnan(ValuesOf<float>(out)[1]));
}

TEST(InterpreterTest, Asserts) {
  const PrimFunc func = ParseOrDie(
      "func @f(%x: i64[2]) -> (%y: i64[1]) { assert %x[0] >= 0, \"the first\" "
      "assert %x[1] < 9, \"the second\"  %y[0] = %x[0] + %x[1] }");
  const auto pair = [](int64_t a, int64_t b) {
    return Make<int64_t>(DataType::Int(64), {2}, {a, b});
  };
  Tensor y = Make<int64_t>(DataType::Int(64), {1}, {0});
  EXPECT_TRUE(Interpret(func, {pair(0, 8), y}).ok());
  EXPECT_EQ(ValuesOf<int64_t>(y)[0], 8);
  EXPECT_EQ(Interpret(func, {pair(-1, 8), y}),
            absl::InvalidArgumentError("@f: the first"));
  EXPECT_EQ(Interpret(func, {pair(1, 9), y}),
            absl::InvalidArgumentError("@f: the second"));
  EXPECT_EQ(ValuesOf<int64_t>(y)[0], 8);
}

TEST(InterpreterTest, SpeedOfAConvolution) {
  PrimFunc func = ParseOrDie(R"(
func @conv(%x: f32[16, 30, 30], %w: f32[16, 16, 3, 3]) -> (%y: f32[16, 28, 28]) {
  for o in [0, 16) { for h in [0, 28) { for v in [0, 28) {
    %y[o, h, v] = 0.0f
    for c in [0, 16) { for r in [0, 3) { for s in [0, 3) {
      %y[o, h, v] = %y[o, h, v] + %x[c, h + r, v + s] * %w[o, c, r, s]
    } } }
  } } }
})");
  Tensor x = Floats({16, 30, 30}, std::vector<float>(16 * 900, 0.5f));
  Tensor w = Floats({16, 16, 3, 3}, std::vector<float>(16 * 144, 0.25f));
  Tensor y = Floats({16, 28, 28}, std::vector<float>(16 * 784));
  const std::clock_t start = std::clock();
  ASSERT_TRUE(Interpret(func, {x, w, y}).ok());
  const double seconds =
      static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_EQ(ValuesOf<float>(y)[5], 18);
  const double products = 16.0 * 784 * 144;
  RecordProperty("million_products_per_second",
                 absl::StrCat(products / seconds / 1e6));
}

}  // namespace
}  // namespace ingot::tir
