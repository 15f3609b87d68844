// Products and convolutions of f32 at each -matmul-precision, compiled, linked,
// loaded and run on this machine, against sums in double precision: sizes that
// fill tiles and sizes that do not, one and several dimensions of rows, and
// what comes after a product. The modes below highest need AMX, which is
// emulated where it is missing.
#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/testing/open_with_tiles.h"
#include "backends/testing/run_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/tensor.h"

namespace ingot {
namespace {

using testing::HasSubstr;
using testing_support::CompileAndOpen;

Tensor Random(const std::vector<int64_t>& shape, unsigned seed) {
  Tensor tensor = *Tensor::Empty(DataType::Float(32), shape);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  for (int64_t i = 0; i < tensor.NumElements(); ++i) {
    tensor.mutable_data<float>()[i] = normal(random);
  }
  return tensor;
}

// One element of a result: what is added up for it, and the magnitudes of that.
struct Sum {
  double value = 0, magnitude = 0;
  void Add(double term) {
    value += term;
    magnitude += std::fabs(term);
  }
};

// A model of one product, what is added to it, and a relu; its data, and the
// sums before the relu.
struct Problem {
  Problem(const std::vector<int64_t>& data, const std::vector<int64_t>& weights,
          const std::vector<int64_t>& added)
      : x(Random(data, 1)), w(Random(weights, 2)), b(Random(added, 3)) {}

  // Dimensions `symbolic` of the data are only known at run time.
  void Build(const std::string& op, relay::Attrs attrs,
             const std::vector<int>& symbolic) {
    relay::Function* f = module.AddFunction("main");
    relay::TensorType type{DataType::Float(32), relay::MakeShape(x.shape())};
    for (int d : symbolic) {
      type.shape[d] = tir::MakeVar(absl::StrCat("d", d));
    }
    const relay::Value data{f->AddInput("x", type)};
    const relay::Value weights{f->AddConstant("w", w)};
    const relay::Value bias{f->AddConstant("b", b)};
    const relay::Value product{*f->AddOp(op, "c", {data, weights}, attrs)};
    const relay::Value sum{*f->AddOp("add", "a", {product, bias})};
    f->outputs = {relay::Value{*f->AddOp("relu", "y", {sum})}};
    f->output_names = {"y"};
  }

  relay::Module module;
  Tensor x, w, b;
  std::vector<Sum> sums;
};

struct Case {
  std::vector<int64_t> rows;  // the data's dimensions but the last
  int64_t k, n;
  bool symbolic;  // the first dimension is only known at run time

  std::unique_ptr<Problem> Make() const {
    std::vector<int64_t> shape = rows;
    shape.push_back(k);
    auto p = std::make_unique<Problem>(shape, std::vector<int64_t>{k, n},
                                       std::vector<int64_t>{n});
    p->Build("matmul", {}, symbolic ? std::vector<int>{0} : std::vector<int>{});
    for (int64_t i = 0; i < p->x.NumElements() / k; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        Sum& sum = p->sums.emplace_back();
        sum.Add(p->b.data<float>()[j]);
        for (int64_t r = 0; r < k; ++r) {
          sum.Add(double{p->x.data<float>()[i * k + r]} *
                  p->w.data<float>()[r * n + j]);
        }
      }
    }
    return p;
  }
  std::string Name() const {
    return absl::StrCat(symbolic ? "m" : "", absl::StrJoin(rows, "x"), "x", k,
                        "x", n);
  }
};

std::vector<Case> Cases() {
  return {{{32}, 64, 32, false},     {{16}, 96, 16, false},
          {{197}, 384, 100, false},  {{20}, 65, 33, false},
          {{31}, 127, 17, false},    {{2, 19}, 70, 48, false},
          {{7, 5, 3}, 64, 1, false}, {{1500}, 256, 40, false},
          {{33}, 2048, 24, false},   {{1}, 64, 32, true},
          {{43}, 100, 50, true},     {{3, 21}, 64, 40, true}};
}

struct ConvCase {
  int64_t batch, in, out, height, width, kernel, stride, pad;
  bool symbolic = false;  // height and width are only known at run time

  std::unique_ptr<Problem> Make() const {
    const int64_t rows = (height + 2 * pad - kernel) / stride + 1,
                  columns = (width + 2 * pad - kernel) / stride + 1;
    auto p = std::make_unique<Problem>(
        std::vector<int64_t>{batch, in, height, width},
        std::vector<int64_t>{out, in, kernel, kernel},
        std::vector<int64_t>{out, 1, 1});
    p->Build("conv2d",
             {{"strides", std::vector<int64_t>{stride, stride}},
              {"pads", std::vector<int64_t>{pad, pad, pad, pad}}},
             symbolic ? std::vector<int>{2, 3} : std::vector<int>{});
    for (int64_t i = 0; i < batch * out * rows * columns; ++i) {
      const int64_t column = i % columns, row = i / columns % rows,
                    o = i / columns / rows % out, n = i / columns / rows / out;
      Sum& sum = p->sums.emplace_back();
      sum.Add(p->b.data<float>()[o]);
      for (int64_t t = 0; t < in * kernel * kernel; ++t) {
        const int64_t c = t / kernel / kernel;
        const int64_t y = row * stride - pad + t / kernel % kernel;
        const int64_t x = column * stride - pad + t % kernel;
        if (y < 0 || y >= height || x < 0 || x >= width) continue;
        sum.Add(
            double{
                p->x.data<float>()[((n * in + c) * height + y) * width + x]} *
            p->w.data<float>()[o * in * kernel * kernel + t]);
      }
    }
    return p;
  }
  std::string Name() const {
    return absl::StrJoin({batch, in, out, height, width, kernel, stride, pad},
                         "_");
  }
};

std::vector<ConvCase> ConvCases() {
  return {
      {1, 64, 64, 7, 7, 1, 1, 0},        {2, 64, 48, 20, 9, 1, 1, 0},
      {1, 96, 80, 15, 15, 1, 2, 0},      {1, 32, 32, 35, 35, 3, 1, 1},
      {1, 48, 24, 9, 50, 3, 2, 1},       {1, 32, 16, 70, 21, 5, 1, 2},
      {1, 128, 40, 90, 33, 3, 1, 0},     {1, 64, 32, 5, 5, 1, 1, 1},
      {1, 64, 48, 9, 61, 1, 1, 0, true}, {1, 40, 32, 12, 47, 3, 2, 1, true}};
}

// The largest error of what a model gives, as a part of the sum of the
// magnitudes that are added for it.
double ErrorOf(const Problem& problem,
               const absl::StatusOr<std::unique_ptr<GraphExecutor>>& executor) {
  EXPECT_TRUE(executor.ok()) << executor.status();
  if (!executor.ok()) return INFINITY;
  const auto outputs = (*executor)->Run({problem.x});
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  if (!outputs.ok()) return INFINITY;
  const absl::Span<const float> y = (*outputs)[0].values<float>();
  EXPECT_EQ(y.size(), problem.sums.size());
  double worst = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    const Sum& sum = problem.sums[i];
    const double error =
        std::fabs(y[i] - std::max(sum.value, 0.0)) / sum.magnitude;
    if (!(error <= worst)) worst = error;  // a NaN, too
  }
  return worst;
}

double ErrorOf(Problem* problem, const std::string& options) {
  return ErrorOf(*problem, CompileAndOpen(&problem->module, "llvm " + options));
}

double ErrorWithTiles(Problem* problem, const std::string& options) {
  return ErrorOf(*problem, testing_support::CompileAndOpenWithTiles(
                               &problem->module, options));
}

template <typename AnyCase>
void CheckModesBelowHighest(const AnyCase& c) {
  if (const absl::Status can_run = testing_support::TilesCanRun();
      !can_run.ok()) {
    GTEST_SKIP() << can_run;
  }
  // Two parts of 8 digits each, rounded, and the products that are left out.
  EXPECT_LT(ErrorWithTiles(c.Make().get(), "-matmul-precision=high"),
            3.0 / (1 << 17));
  const double medium =
      ErrorWithTiles(c.Make().get(), "-matmul-precision=medium");
  EXPECT_LT(medium, 2.0 / (1 << 8));
  // That f32 was not multiplied after all.
  EXPECT_GT(medium, 1e-5);
}

class MatmulPrecision : public testing::TestWithParam<Case> {};

TEST_P(MatmulPrecision, HighestIsThatOfF32) {
  EXPECT_LT(ErrorOf(GetParam().Make().get(), "-mcpu=native"), 1e-6);
}
TEST_P(MatmulPrecision, OthersKeepTheDigitsOfTheirParts) {
  CheckModesBelowHighest(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Sizes, MatmulPrecision, testing::ValuesIn(Cases()),
                         [](const auto& info) { return info.param.Name(); });

class ConvPrecision : public testing::TestWithParam<ConvCase> {};

TEST_P(ConvPrecision, HighestIsThatOfF32) {
  EXPECT_LT(ErrorOf(GetParam().Make().get(), "-mcpu=native"), 1e-5);
}
TEST_P(ConvPrecision, OthersKeepTheDigitsOfTheirParts) {
  CheckModesBelowHighest(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Sizes, ConvPrecision, testing::ValuesIn(ConvCases()),
                         [](const auto& info) { return info.param.Name(); });

absl::Status CompileFor(const std::string& target) {
  return CompileAndOpen(&Cases()[0].Make()->module, target).status();
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
  EXPECT_LT(
      ErrorOf(Cases()[0].Make().get(), "-mcpu=x86-64 -matmul-precision=medium"),
      1e-6);
}

}  // namespace
}  // namespace ingot
