// A NaN among the elements stays one through operators that compare, as in the
// definition by plain loops, on targets that generate code.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "backends/testing/run_model.h"
#include "backends/testing/run_regions.h"
#include "gtest/gtest.h"
#include "runtime/executor/executor.h"
#include "runtime/float16.h"
#include "runtime/tensor.h"

namespace ingot::testing_support {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

double Smaller(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? kNan : std::min(a, b);
}
double Larger(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? kNan : std::max(a, b);
}

struct Operation {
  std::string call;  // of %x and %y
  std::function<double(double, double)> meaning;
};

std::vector<Operation> Operations() {
  return {
      {"relu(%x)", [](double x, double) { return Larger(x, 0); }},
      {"clip(%x) {min=-1.0, max=2.0}",
       [](double x, double) { return Smaller(Larger(x, -1), 2); }},
      {"clip(%x) {min=2.0, max=-1.0}",
       [](double x, double) { return Smaller(Larger(x, 2), -1); }},
      {"clip(%x) {max=1.5}", [](double x, double) { return Smaller(x, 1.5); }},
      {"maximum(%x, %y)", Larger},
      {"minimum(%x, %y)", Smaller},
      {"maximum(%y, %half)", [](double, double y) { return Larger(y, 0.5); }},
      {"minimum(%half, %y)", [](double, double y) { return Smaller(y, 0.5); }},
      {"sign(%x)", [](double x, double) { return x > 0   ? 1
                                                 : x < 0 ? -1
                                                         : x; }},
      {"hard_sigmoid(%x) {alpha=0.25, beta=0.5}",
       [](double x, double) { return Larger(Smaller(0.25 * x + 0.5, 1), 0); }},
  };
}

void Set(Tensor* t, int64_t i, double value) {
  const DataType type = t->dtype();
  if (type.bits == 64) {
    t->mutable_data<double>()[i] = value;
  } else if (type.bits == 32) {
    t->mutable_data<float>()[i] = static_cast<float>(value);
  } else {
    static_cast<uint16_t*>(t->mutable_raw_data())[i] =
        type.code == DataType::kBFloat ? DoubleToBFloat16(value)
                                       : DoubleToHalf(value);
  }
}

double Get(const Tensor& t, int64_t i) {
  const DataType type = t.dtype();
  if (type.bits == 64) return t.data<double>()[i];
  if (type.bits == 32) return t.data<float>()[i];
  const uint16_t bits = static_cast<const uint16_t*>(t.raw_data())[i];
  return type.code == DataType::kBFloat ? BFloat16ToFloat(bits)
                                        : HalfToFloat(bits);
}

// Each value of x meets each of y.
constexpr double kValues[] = {0,   -0.0, 1,     -1,  0.25, -3.5, kNan,
                              100, kInf, -kInf, 0.5, 2,    -2.25};
constexpr int64_t kCount = std::size(kValues);

std::vector<Tensor> Pairs(DataType type) {
  std::vector<Tensor> pairs(2);
  for (int k = 0; k < 2; ++k) {
    pairs[k] = *Tensor::Empty(type, {kCount * kCount});
    for (int64_t i = 0; i < kCount * kCount; ++i) {
      Set(&pairs[k], i, kValues[k == 0 ? i / kCount : i % kCount]);
    }
  }
  return pairs;
}

std::vector<Tensor> RunOnce(const std::string& text, const std::string& target,
                            std::vector<Tensor> inputs, int opt_level) {
  auto module = ParseRelay(text);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return {};
  CompileOptions options;
  options.opt_level = opt_level;
  auto executor = CompileAndOpen(module->get(), target, options);
  EXPECT_TRUE(executor.ok()) << executor.status();
  if (!executor.ok()) return {};
  for (size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_TRUE((*executor)->SetInput(i, std::move(inputs[i])).ok());
  }
  const absl::Status status = (*executor)->Run();
  EXPECT_TRUE(status.ok()) << status;
  std::vector<Tensor> outputs;
  for (size_t i = 0; status.ok() && i < (*executor)->outputs().size(); ++i) {
    outputs.push_back(*(*executor)->GetOutput(i));
  }
  return outputs;
}

bool Same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

class NotNumbersTest : public ::testing::TestWithParam<const char*> {};

TEST_P(NotNumbersTest, StayInElements) {
  const std::vector<Operation> operations = Operations();
  for (const DataType type : {DataType::Float(32), DataType::Float(64),
                              DataType::Float(16), DataType::BFloat16()}) {
    SCOPED_TRACE(type.ToString());
    std::string results, calls;
    for (size_t i = 0; i < operations.size(); ++i) {
      absl::StrAppend(&results, i == 0 ? "" : ", ", "%r", i);
      absl::StrAppend(&calls, " %r", i, " = ", operations[i].call);
    }
    const std::string text = absl::Substitute(
        "module { func @main(%x: $0[$1], %y: $0[$1]) -> ($2) { "
        "%half = const $0[] {0.5}$3 } }",
        type.ToString(), kCount * kCount, results, calls);
    for (const int opt_level : {0, 2}) {
      const std::vector<Tensor> outputs =
          RunOnce(text, GetParam(), Pairs(type), opt_level);
      ASSERT_EQ(outputs.size(), operations.size());
      for (size_t k = 0; k < outputs.size(); ++k) {
        for (int64_t i = 0; i < kCount * kCount; ++i) {
          const double x = kValues[i / kCount], y = kValues[i % kCount];
          ASSERT_TRUE(Same(Get(outputs[k], i), operations[k].meaning(x, y)))
              << operations[k].call << " of " << x << " and " << y << " is "
              << Get(outputs[k], i);
        }
      }
    }
  }
}

// Operators after a convolution run on its sums in registers.
TEST_P(NotNumbersTest, StayBehindAConvolution) {
  constexpr int64_t kSide = 6, kChannels = 16, kPlane = kSide * kSide;
  const std::string text =
      "module { func @main(%x: f32[1, 16, 6, 6]) -> (%y, %z) { "
      "%w = const f32[16, 16, 1, 1] random(3) %c = conv2d(%x, %w) "
      "%y = relu(%c) %d = conv2d(%x, %w) {dilations=[1, 1]} "
      "%z = clip(%d) {min=0.0, max=6.0} } }";
  Tensor x = *Tensor::Empty(DataType::Float(32), {1, kChannels, kSide, kSide});
  for (int64_t i = 0; i < x.NumElements(); ++i) Set(&x, i, 0.125 * (i % 7));
  Set(&x, 3 * kPlane + 8, kNan);
  const std::vector<Tensor> outputs = RunOnce(text, GetParam(), {x}, 2);
  ASSERT_EQ(outputs.size(), 2u);
  for (const Tensor& y : outputs) {
    for (int64_t i = 0; i < y.NumElements(); ++i) {
      ASSERT_EQ(std::isnan(Get(y, i)), i % kPlane == 8) << i;
    }
  }
}

// Whatever a window of nothing but NaNs, or of some, has for its largest
// element, the place is one of its own.
TEST_P(NotNumbersTest, HavePlacesWithinTheirWindows) {
  constexpr int64_t kRows = 6, kColumns = 10;
  const std::string text =
      "module { func @main(%x: f32[1, 1, 6, 10]) -> (%y) { "
      "%y = max_pool_indices2d(%x) {kernel=[2, 2], strides=[2, 2]} } }";
  Tensor x = *Tensor::Empty(DataType::Float(32), {1, 1, kRows, kColumns});
  for (int64_t i = 0; i < x.NumElements(); ++i) {
    Set(&x, i, i < 20 || i % 3 == 0 ? kNan : i == 33 ? -kInf : i % 11);
  }
  const std::vector<Tensor> outputs = RunOnce(text, GetParam(), {x}, 2);
  ASSERT_EQ(outputs.size(), 1u);
  for (int64_t i = 0; i < outputs[0].NumElements(); ++i) {
    const int64_t place = outputs[0].data<int64_t>()[i];
    ASSERT_GE(place, 0);
    EXPECT_EQ(place / kColumns / 2, i / (kColumns / 2)) << i;
    EXPECT_EQ(place % kColumns / 2, i % (kColumns / 2)) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, NotNumbersTest,
                         ::testing::Values("llvm", "llvm -mcpu=generic", "c",
                                           "c -mcpu=native"));

}  // namespace
}  // namespace ingot::testing_support
