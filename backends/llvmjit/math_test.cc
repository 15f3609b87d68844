// Measures how far the mathematical functions of generated code are from the
// true ones.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "backends/llvmjit/compile_and_load.h"
#include "compiler/tir/parser.h"
#include "gtest/gtest.h"
#include "runtime/tensor.h"

namespace ingot {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

float FromBits(uint32_t bits) {
  float f;
  std::memcpy(&f, &bits, sizeof(f));
  return f;
}

Tensor FloatTensor(const std::vector<float>& values) {
  Tensor t = *Tensor::Empty(DataType::Float(32),
                            {static_cast<int64_t>(values.size())});
  std::memcpy(t.mutable_raw_data(), values.data(), t.bytes());
  return t;
}

// Runs a kernel that applies `name` to vectors of `args`, whose size is
// a multiple of 8.
std::vector<float> Evaluate(const std::string& name,
                            const std::vector<std::vector<float>>& args,
                            const std::string& target) {
  const size_t n = args[0].size();
  std::string params, loads;
  for (size_t i = 0; i < args.size(); ++i) {
    absl::StrAppend(&params, i ? ", " : "", "%x", i, ": f32[", n, "]");
    absl::StrAppend(&loads, i ? ", " : "", "%x", i, "[ramp(i * 8, 1, 8)]");
  }
  auto func = tir::Parse(
      absl::Substitute("func @f($0) -> (%y: f32[$1]) { for i in [0, $2) { "
                       "%y[ramp(i * 8, 1, 8)] = $3($4) } }",
                       params, n, n / 8, name, loads));
  EXPECT_TRUE(func.ok()) << func.status();
  auto module = CompileAndLoad({*func}, target);
  EXPECT_TRUE(module.ok()) << module.status();
  std::vector<Tensor> tensors;
  for (const auto& arg : args) tensors.push_back(FloatTensor(arg));
  tensors.push_back(FloatTensor(std::vector<float>(n, 77)));
  std::vector<DLTensor*> pointers;
  for (Tensor& t : tensors) pointers.push_back(t.dl());
  absl::Status called = (*module)->GetFunction("f")->Call(pointers);
  EXPECT_TRUE(called.ok()) << called;
  const float* y = tensors.back().data<float>();
  return std::vector<float>(y, y + n);
}

// Every 4099th float, and the ones where things happen.
std::vector<float> Samples() {
  std::vector<float> samples = {
      0.f,     -0.f,    kInf,       -kInf,      1.f,        -1.f,     2.f,
      0.5f,    -0.5f,   88.7f,      88.8f,      -87.3f,     -103.9f,  -104.5f,
      89.5f,   1e-45f,  -1e-45f,    1e-38f,     3.4e38f,    -3.4e38f, 1e6f,
      1.1e6f,  -1e7f,   1e30f,      3.9f,       -3.9f,      4.f,      7.9f,
      0.0004f, 0.0003f, 1.5707964f, 3.1415927f, 6.2831855f, 1e5f,
  };
  samples.push_back(std::numeric_limits<float>::quiet_NaN());
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 4099) {
    samples.push_back(FromBits(static_cast<uint32_t>(bits)));
  }
  while (samples.size() % 8 != 0) samples.push_back(0.25f);
  return samples;
}

struct Worst {
  double relative = 0;
  float at = 0, at2 = 0;
};

// Checks one result against the true value; *worst keeps the largest error.
void Check(float got, double exact, float x, float x2, double limit,
           Worst* worst) {
  const float rounded = static_cast<float>(exact);
  if (std::isnan(rounded) || std::isinf(rounded)) {
    if (std::isnan(rounded)) {
      ASSERT_TRUE(std::isnan(got)) << "at " << x << ", " << x2 << ": " << got;
    } else if (got != rounded) {
      // Just over the largest float it may still be that.
      ASSERT_LE(std::fabs(exact), 3.4029e38) << x << ", " << x2 << ": " << got;
    }
    return;
  }
  const double error = std::fabs(got - exact);
  if (error <= 0x1p-149) return;  // the last place of a subnormal
  const double relative = error / std::fabs(exact);
  if (!(relative <= worst->relative)) *worst = {relative, x, x2};
  ASSERT_LE(relative, limit)
      << "at " << x << ", " << x2 << ": " << got << " for " << exact;
  if (exact == 0) {
    ASSERT_EQ(std::signbit(got), std::signbit(exact)) << x << ", " << x2;
  }
}

struct UnaryCase {
  const char* name;
  double (*exact)(double);
  double limit;
};

const UnaryCase kUnary[] = {
    {"exp", std::exp, 1.2e-7},   {"log", std::log, 2e-7},
    {"tanh", std::tanh, 6e-7},   {"erf", std::erf, 8e-7},
    {"sin", std::sin, 4e-7},     {"cos", std::cos, 4e-7},
    {"sqrt", std::sqrt, 1e-7},   {"tan", std::tan, 3e-7},
    {"asin", std::asin, 3e-7},   {"acos", std::acos, 3e-7},
    {"atan", std::atan, 3e-7},   {"sinh", std::sinh, 3e-7},
    {"cosh", std::cosh, 3e-7},   {"asinh", std::asinh, 3e-7},
    {"acosh", std::acosh, 3e-7}, {"atanh", std::atanh, 3e-7},
    {"floor", std::floor, 0},    {"ceil", std::ceil, 0},
    {"round", std::rint, 0},     {"trunc", std::trunc, 0},
    {"abs", std::fabs, 0},
};

class MathTest : public testing::TestWithParam<const char*> {};

TEST_P(MathTest, Unary) {
  const std::vector<float> x = Samples();
  for (const UnaryCase& c : kUnary) {
    SCOPED_TRACE(c.name);
    const std::vector<float> y = Evaluate(c.name, {x}, GetParam());
    Worst worst;
    for (size_t i = 0; i < x.size(); ++i) {
      Check(y[i], c.exact(x[i]), x[i], 0, c.limit, &worst);
      if (HasFatalFailure()) break;
    }
    std::printf("%-6s largest relative error %.2e at %g\n", c.name,
                worst.relative, worst.at);
  }
}

TEST_P(MathTest, Pow) {
  std::vector<float> base = {
      0.f,  -0.f,    kInf,     -kInf,    1.f,      -1.f, 2.f,  -2.f,
      0.5f, -0.5f,   1e-40f,   3e38f,    1.5f,     -8.f, 10.f, 1e-30f,
      NAN,  -1e-45f, 0.99999f, 1.00001f, 123.456f, -3.f};
  std::vector<float> exponent = {
      0.f,   -0.f,   1.f,    -1.f, 2.f,     -2.f,       3.f,   -3.f, 0.5f,
      -0.5f, kInf,   -kInf,  NAN,  1e30f,   -1e30f,     1e-3f, 31.f, 127.f,
      128.f, -126.f, -149.f, 2.5f, 1.f / 3, 16777217.f, 4e6f,  -7.f};
  uint32_t seed = 1;
  for (int i = 0; i < 400; ++i) {
    seed = seed * 1664525 + 1013904223;
    base.push_back(FromBits(seed & 0x7fffffff));
    seed = seed * 1664525 + 1013904223;
    exponent.push_back((static_cast<int32_t>(seed) >> 8) * 0x1p-16f);
  }
  std::vector<float> x, y;
  for (float b : base) {
    for (float e : exponent) {
      x.push_back(b);
      y.push_back(e);
    }
  }
  while (x.size() % 8 != 0) x.push_back(1), y.push_back(1);
  const std::vector<float> z = Evaluate("pow", {x, y}, GetParam());
  Worst worst;
  for (size_t i = 0; i < x.size(); ++i) {
    Check(z[i], std::pow(double{x[i]}, double{y[i]}), x[i], y[i], 2e-7, &worst);
    if (HasFatalFailure()) break;
  }
  std::printf("pow    largest relative error %.2e at %g, %g\n", worst.relative,
              worst.at, worst.at2);
}

TEST_P(MathTest, MulAdd) {
  const std::vector<float> a = {1, 2, 3, 4, -1, 1e30f, 0.1f, 7};
  const std::vector<float> y = Evaluate("muladd", {a, a, a}, GetParam());
  for (size_t i = 0; i < a.size(); ++i) {
    const double exact = double{a[i]} * a[i] + a[i];
    if (exact < 3e38) {
      EXPECT_NEAR(y[i], exact, std::fabs(exact) * 2e-7);
    }
  }
}

// The features of this machine, and those of every x86-64.
INSTANTIATE_TEST_SUITE_P(Targets, MathTest,
                         testing::Values("-mcpu=native", "-mcpu=generic"));

}  // namespace
}  // namespace ingot
