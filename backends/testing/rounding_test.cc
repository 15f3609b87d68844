// Floats that are rounded to bytes, and dequantised again, as each target
// computes them and as the interpreter does: around each number halfway between
// two bytes, beyond the limits, and of what is no number.
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "backends/testing/run_kernels.h"
#include "gtest/gtest.h"

namespace ingot::testing_support {
namespace {

constexpr int kVector = 16;

struct Case {
  const char* type;
  float scale;
  int zero;
};

const Case kCases[] = {
    {"u8", 0.0235294122f, 0},   {"u8", 0.115222037f, 128},
    {"u8", 0.052738015f, 121},  {"u8", 0.25f, 255},
    {"i8", 0.116147257f, 0},    {"i8", 0.0472440943f, -128},
    {"i8", 0.0574321486f, -17}, {"i8", 3.14159274f, 127},
    {"u8", 1e-30f, 3},
};

// Numbers that are rounded.
const char* const kNumbers[] = {"%x[I]", "max(0.0f, %x[I])",
                                "min(2.0f, max(0.0f, %x[I]))",
                                "max(-1.0f, min(3.0f, %x[I]))"};

// Numbers at which the rounding of quotients by the scale changes, and more.
Tensor Numbers(const Case& c) {
  std::vector<float> numbers;
  for (int n = -256; n <= 384; ++n) {
    float x = (static_cast<float>(n) + 0.5f) * c.scale;
    for (int k = 0; k < 3; ++k) x = std::nextafter(x, -1e38f);
    for (int k = 0; k < 7; ++k, x = std::nextafter(x, 1e38f)) {
      numbers.push_back(x);
    }
  }
  using Limits = std::numeric_limits<float>;
  for (const float x : {0.0f, 1e-45f, 2.0f, 3.0f, 1e10f, 3e38f,
                        Limits::infinity(), Limits::quiet_NaN()}) {
    numbers.insert(numbers.end(), {x, -x});
  }
  numbers.resize((numbers.size() + kVector - 1) / kVector * kVector);
  Tensor tensor =
      AtPageEnd(DataType::Float(32), {static_cast<int64_t>(numbers.size())});
  std::memcpy(tensor.mutable_raw_data(), numbers.data(),
              numbers.size() * sizeof(float));
  return tensor;
}

class RoundingTest : public testing::TestWithParam<const char*> {};

TEST_P(RoundingTest, BytesAndWhatTheyStandFor) {
  std::vector<tir::PrimFunc> kernels;
  std::vector<Tensor> inputs;
  const auto add = [&](const Case& c, absl::string_view type,
                       const std::string& value) {
    const Tensor x = Numbers(c);
    for (const bool vector : {false, true}) {
      kernels.push_back(ParseKernel(absl::Substitute(
          "func @k$0(%x: f32[$1]) -> (%y: $2[$1]) { for i in [0, $3) { $4 j in "
          "[0, $5) { %y[i * $5 + j] = $6 } } }",
          kernels.size(), x.NumElements(), type, x.NumElements() / kVector,
          vector ? "vectorized" : "for", kVector,
          absl::Substitute(value, absl::StrCat("i * ", kVector, " + j")))));
      inputs.push_back(x);
    }
  };
  for (const Case& c : kCases) {
    for (const char* number : kNumbers) {
      const std::string byte =
          absl::Substitute("$0(round($1 / $2) + $3.0f)", c.type, number,
                           absl::StrCat(c.scale, "f"), c.zero);
      // Both zeros are told apart by what they divide.
      const std::string inverse = absl::StrCat(
          "1.0f / f32(i32(", byte, ") - i32(", c.zero == 0 ? 3 : c.zero, "))");
      const std::string of_byte = absl::StrCat("1.0f / f32(i32(", byte, "))");
      for (const auto& [type, value] :
           {std::make_pair(c.type, byte), std::make_pair("f32", inverse),
            std::make_pair("f32", of_byte)}) {
        add(c, type, absl::StrReplaceAll(value, {{"I", "$0"}}));
      }
    }
  }
  auto module = BuildKernels(GetParam(), kernels);
  ASSERT_TRUE(module.ok()) << module.status();
  for (size_t i = 0; i < kernels.size(); ++i) {
    const DataType type = kernels[i].params[1]->dtype;
    const Tensor y = AtPageEnd(type, {inputs[i].NumElements()});
    EXPECT_EQ(CompareWithInterpreter(**module, kernels[i], {inputs[i]}, {y}),
              absl::OkStatus())
        << kernels[i].name;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, RoundingTest,
                         testing::Values("llvm", "llvm -mcpu=generic -O=1",
                                         "llvmjit -O=0", "c -mcpu=native -O=1",
                                         "c -mcpu=native -cc=clang-19 -O=1"));

}  // namespace
}  // namespace ingot::testing_support
