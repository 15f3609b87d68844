// The mathematical functions of targets with -reproducible: the same bits from
// LLVM and from two C compilers, with vectors and without, for processors with
// and without a fused multiply-add; and near what the C library computes in
// double precision.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "backends/testing/run_kernels.h"
#include "gtest/gtest.h"
#include "runtime/module.h"
#include "runtime/tensor.h"

namespace ingot {
namespace {

constexpr int64_t kCount = 1 << 19;

constexpr const char* kTargets[] = {
    "llvm -mcpu=native -reproducible",
    "llvm -mcpu=x86-64-v3 -reproducible",
    "llvm -mcpu=x86-64 -reproducible",  // no fused multiply-add
    "llvm -mcpu=x86-64 -vector-bits=0 -reproducible",
    "c -cc=gcc -reproducible",
    "c -cc=clang-19 -reproducible",
    "c -cc=gcc -mcpu=native -reproducible",
    "c -cc=clang-19 -mcpu=x86-64-v3 -reproducible",
};

float FromBits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

uint32_t Bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

// Floats of every magnitude and sign, and the special ones; another sequence
// for each seed.
Tensor AllKinds(uint32_t seed) {
  Tensor t = *Tensor::Empty(DataType::Float(32), {kCount});
  float* data = t.mutable_data<float>();
  uint32_t bits = seed * 2654435761u;
  for (int64_t i = 0; i < kCount; ++i) data[i] = FromBits(bits += 1640531527u);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float special[] = {0.0f, -0.0f,      1.0f,      -1.0f,     0.5f,
                           2.0f, 3.0f,       -3.0f,     kInfinity, -kInfinity,
                           NAN,  1e-45f,     3.4e38f,   88.7f,     -103.9f,
                           1e6f, 1000001.0f, 8388609.0f};
  const int64_t count = std::size(special);
  for (int64_t i = 0; i < count; ++i) {
    data[i] = special[(i + seed) % count];
  }
  return t;
}

// The function of one, two or three tensors, in vectors and then by itself, so
// that both are compared.
tir::PrimFunc Kernel(const std::string& call) {
  constexpr char kText[] = R"(
func @kernel(%x: f32[$0], %y: f32[$0], %z: f32[$0]) ->
    (%wide: f32[$0], %narrow: f32[$0]) {
  for i in [0, $1) {
    for j in [0, 1) {
      %wide[ramp(i * 16, 1, 16)] = $2
    }
  }
  for i in [0, $0) {
    %narrow[i] = $3
  }
})";
  std::string wide, narrow;
  for (const char c : call) {
    const bool is_tensor = c == 'x' || c == 'y' || c == 'z';
    // No function's name has these letters but exp.
    if (!is_tensor || (!wide.empty() && wide.back() == 'e')) {
      wide += c;
      narrow += c;
      continue;
    }
    absl::StrAppend(&wide, "%", std::string(1, c), "[ramp(i * 16, 1, 16)]");
    absl::StrAppend(&narrow, "%", std::string(1, c), "[i]");
  }
  return testing_support::ParseKernel(
      absl::Substitute(kText, kCount, kCount / 16, wide, narrow));
}

struct Case {
  const char* name;
  const char* call;
  double (*exact)(double, double, double);
  double tolerance;  // relative; 0: rounded once
};

double Exp(double x, double, double) { return std::exp(x); }
double Log(double x, double, double) { return std::log(x); }
double Tanh(double x, double, double) { return std::tanh(x); }
double Erf(double x, double, double) { return std::erf(x); }
double Sin(double x, double, double) { return std::sin(x); }
double Cos(double x, double, double) { return std::cos(x); }
double Pow(double x, double y, double) { return std::pow(x, y); }
double Fmod(double x, double y, double) { return std::fmod(x, y); }
double Sqrt(double x, double, double) { return std::sqrt(x); }
// The C library's function of floats rounds once.
double MulAdd(double x, double y, double z) {
  return std::fma(static_cast<float>(x), static_cast<float>(y),
                  static_cast<float>(z));
}
double Fused(double x, double y, double z) { return MulAdd(-x, y, z); }

constexpr Case kCases[] = {
    {"Exp", "exp(x)", Exp, 1e-6},      {"Log", "log(x)", Log, 1e-6},
    {"Tanh", "tanh(x)", Tanh, 1e-6},   {"Erf", "erf(x)", Erf, 1e-6},
    {"Sin", "sin(x)", Sin, 1e-6},      {"Cos", "cos(x)", Cos, 1e-6},
    {"Pow", "pow(x, y)", Pow, 1e-6},   {"Fmod", "fmod(x, y)", Fmod, 0},
    {"Sqrt", "sqrt(x)", Sqrt, 1.2e-7}, {"MulAdd", "muladd(x, y, z)", MulAdd, 0},
    {"Sum", "z - x * y", Fused, 0},
};

class ReproducibleMath : public testing::TestWithParam<Case> {};

// Whether one is as good as the other: NaNs are alike.
bool IsSame(float a, float b) {
  return Bits(a) == Bits(b) || (std::isnan(a) && std::isnan(b));
}

TEST_P(ReproducibleMath, HasTheSameBitsEverywhere) {
  const Case& test = GetParam();
  const tir::PrimFunc kernel = Kernel(test.call);
  const Tensor x = AllKinds(1), y = AllKinds(2), z = AllKinds(3);
  std::vector<float> first;
  for (const char* target : kTargets) {
    SCOPED_TRACE(target);
    auto module = testing_support::BuildKernels(target, {kernel});
    ASSERT_TRUE(module.ok()) << module.status();
    Tensor wide = *Tensor::Empty(DataType::Float(32), {kCount});
    Tensor narrow = *Tensor::Empty(DataType::Float(32), {kCount});
    const absl::Status run = (*module)->GetFunction("kernel")->Call(
        {x.dl(), y.dl(), z.dl(), wide.dl(), narrow.dl()});
    ASSERT_TRUE(run.ok()) << run;
    if (first.empty()) {
      first.assign(wide.data<float>(), wide.data<float>() + kCount);
    }
    int64_t different = 0;
    for (int64_t i = 0; i < kCount; ++i) {
      for (const Tensor* got : {&wide, &narrow}) {
        const float value = got->data<float>()[i];
        if (IsSame(value, first[i]) || ++different > 5) continue;
        ADD_FAILURE() << (got == &wide ? "vector" : "scalar") << " of x "
                      << x.data<float>()[i] << ", y " << y.data<float>()[i]
                      << ", z " << z.data<float>()[i] << ": " << value
                      << ", first " << first[i];
      }
    }
    EXPECT_EQ(different, 0);
  }

  int64_t wrong = 0;
  for (int64_t i = 0; i < kCount; ++i) {
    const double exact =
        test.exact(x.data<float>()[i], y.data<float>()[i], z.data<float>()[i]);
    const double got = first[i];
    bool fits = std::isnan(exact) ? std::isnan(got)
                                  : Bits(static_cast<float>(exact)) ==
                                        Bits(static_cast<float>(got));
    // Below the smallest normal number digits get lost.
    fits |= std::fabs(got - exact) <=
            test.tolerance * std::max(std::fabs(exact), 1.2e-38);
    if (fits || ++wrong > 5) continue;
    ADD_FAILURE() << test.call << " of x " << x.data<float>()[i] << ", y "
                  << y.data<float>()[i] << ", z " << z.data<float>()[i] << ": "
                  << got << " is not " << exact;
  }
  EXPECT_EQ(wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(Functions, ReproducibleMath, testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

TEST(Reproducible, RefusesWhatOnlyTheCLibraryHas) {
  for (const char* call : {"atan(x)", "sinh(x)"}) {
    for (const char* target : {"llvm -reproducible", "c -reproducible"}) {
      const auto built = testing_support::BuildKernels(target, {Kernel(call)});
      ASSERT_FALSE(built.ok()) << call;
      EXPECT_NE(built.status().message().find(
                    "there is no code that gives the same bits everywhere"),
                std::string::npos)
          << built.status();
    }
  }
}

TEST(Reproducible, RefusesFlagsThatMayRoundOtherwise) {
  for (const char* target :
       {"c -reproducible -cflags=-ffast-math", "c -reproducible -O=fast",
        "llvm -reproducible=2"}) {
    EXPECT_FALSE(testing_support::BuildKernels(target, {Kernel("exp(x)")}).ok())
        << target;
  }
}

}  // namespace
}  // namespace ingot
