// Products of f32 at each -matmul-precision, compiled, linked, loaded and run
// on this machine, against sums in double precision: sizes that fill tiles and
// sizes that do not, one and several dimensions of rows, and what comes after a
// product. The modes below highest need AMX to differ from it.
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/testing/run_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/host_cpu.h"
#include "runtime/tensor.h"

namespace ingot {
namespace {

using testing::HasSubstr;
using testing_support::CompileAndOpen;

struct Case {
  std::vector<int64_t> rows;  // the data's dimensions but the last
  int64_t k, n;
  bool symbolic;  // the first dimension is only known at run time
};

std::vector<Case> Cases() {
  return {{{32}, 64, 32, false},     {{16}, 96, 16, false},
          {{197}, 384, 100, false},  {{20}, 65, 33, false},
          {{31}, 127, 17, false},    {{2, 19}, 70, 48, false},
          {{7, 5, 3}, 64, 1, false}, {{1500}, 256, 40, false},
          {{33}, 2048, 24, false},   {{1}, 64, 32, true},
          {{43}, 100, 50, true},     {{3, 21}, 64, 40, true}};
}

Tensor Random(const std::vector<int64_t>& shape, unsigned seed) {
  Tensor tensor = *Tensor::Empty(DataType::Float(32), shape);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  for (int64_t i = 0; i < tensor.NumElements(); ++i) {
    tensor.mutable_data<float>()[i] = normal(random);
  }
  return tensor;
}

// max(x w + b, 0), of f32.
struct Model {
  explicit Model(const Case& c)
      : x(Random(WithLast(c.rows, c.k), 1)),
        w(Random({c.k, c.n}, 2)),
        b(Random({c.n}, 3)) {
    relay::Function* f = module.AddFunction("main");
    relay::TensorType type{DataType::Float(32),
                           relay::MakeShape(WithLast(c.rows, c.k))};
    if (c.symbolic) type.shape[0] = tir::MakeVar("m");
    const relay::Value data{f->AddInput("x", type)};
    const relay::Value weights{f->AddConstant("w", w)};
    const relay::Value bias{f->AddConstant("b", b)};
    const relay::Value product{*f->AddOp("matmul", "c", {data, weights})};
    const relay::Value sum{*f->AddOp("add", "a", {product, bias})};
    f->outputs = {relay::Value{*f->AddOp("relu", "y", {sum})}};
    f->output_names = {"y"};
  }
  static std::vector<int64_t> WithLast(std::vector<int64_t> dims, int64_t n) {
    dims.push_back(n);
    return dims;
  }

  relay::Module module;
  Tensor x, w, b;
};

// The largest error of the model's result with that option, as a part of the
// sum of the magnitudes that are added for it.
double ErrorOf(const Case& c, const std::string& options) {
  Model model(c);
  auto executor = CompileAndOpen(&model.module, "llvm " + options);
  EXPECT_TRUE(executor.ok()) << executor.status();
  if (!executor.ok()) return INFINITY;
  const auto outputs = (*executor)->Run({model.x});
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  if (!outputs.ok()) return INFINITY;
  const float* x = model.x.data<float>();
  const float* w = model.w.data<float>();
  const float* b = model.b.data<float>();
  const float* y = (*outputs)[0].data<float>();
  double worst = 0;
  for (int64_t i = 0; i < model.x.NumElements() / c.k; ++i) {
    for (int64_t j = 0; j < c.n; ++j) {
      double sum = b[j], magnitudes = std::fabs(sum);
      for (int64_t k = 0; k < c.k; ++k) {
        const double term = double{x[i * c.k + k]} * w[k * c.n + j];
        sum += term;
        magnitudes += std::fabs(term);
      }
      const double error = std::fabs(y[i * c.n + j] - std::max(sum, 0.0));
      // Not what std::max would make of a NaN.
      if (!(error / magnitudes <= worst)) worst = error / magnitudes;
    }
  }
  return worst;
}

class MatmulPrecision : public testing::TestWithParam<Case> {};

TEST_P(MatmulPrecision, HighestIsThatOfF32) {
  EXPECT_LT(ErrorOf(GetParam(), "-mcpu=native"), 1e-6);
}

TEST_P(MatmulPrecision, HighAndMediumKeepTheDigitsOfTheirParts) {
  if (!CheckCpuFeatures({"amx-bf16"}).ok()) {
    GTEST_SKIP() << "this machine has no AMX";
  }
  const double high =
      ErrorOf(GetParam(), "-mcpu=native -matmul-precision=high");
  // Two parts of 8 digits each, rounded, and the products that are left out.
  EXPECT_LT(high, 3.0 / (1 << 17));
  const double medium =
      ErrorOf(GetParam(), "-mcpu=native -matmul-precision=medium");
  EXPECT_LT(medium, 2.0 / (1 << 8));
  // That f32 was not multiplied after all.
  EXPECT_GT(medium, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Sizes, MatmulPrecision, testing::ValuesIn(Cases()),
                         [](const auto& info) {
                           std::string name = info.param.symbolic ? "m" : "";
                           for (const int64_t rows : info.param.rows)
                             absl::StrAppend(&name, rows, "x");
                           return absl::StrCat(name, info.param.k, "x",
                                               info.param.n);
                         });

absl::Status CompileFor(const std::string& target) {
  Model model(Cases()[0]);
  return CompileAndOpen(&model.module, target).status();
}

TEST(MatmulPrecisionOption, KnowsPyTorchsWords) {
  const absl::Status status = CompileFor("llvm -matmul-precision=low");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("-matmul-precision=low: must be highest, high or "
                        "medium"));
}

TEST(MatmulPrecisionOption, ExcludesReproducible) {
  const absl::Status status =
      CompileFor("llvm -matmul-precision=high -reproducible=1");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("exclude each other"));
}

// Without tiles, lower precision would gain nothing.
TEST(MatmulPrecisionOption, OtherProcessorsStayWithF32) {
  EXPECT_LT(ErrorOf(Cases()[0], "-mcpu=x86-64 -matmul-precision=medium"), 1e-6);
}

}  // namespace
}  // namespace ingot
