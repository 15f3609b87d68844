// Products and convolutions of bytes by tiles (AMX, emulated where it is
// missing), compiled, linked, loaded and run, against integers: sizes that fill
// tiles and sizes that do not, one and several dimensions of rows, and what
// comes after.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "artifact/target_keys.h"
#include "backends/testing/open_with_tiles.h"
#include "backends/testing/random_tensor.h"
#include "backends/testing/run_model.h"
#include "compiler/relay/ir.h"
#include "gtest/gtest.h"
#include "runtime/tensor.h"

namespace ingot {
namespace {

using testing_support::CompileAndOpenWithTiles;
using testing_support::RandomTensor;

struct Case {
  std::vector<int64_t> rows;  // the data's dimensions but the last
  int64_t k, n;
  bool symbolic = false;  // the first dimension is only known at run time

  std::string Name() const {
    return absl::StrCat(symbolic ? "m" : "", absl::StrJoin(rows, "x"), "x", k,
                        "x", n);
  }
};

// A model of one product or convolution and what is added to it, its data, and
// its expected result.
struct Problem {
  Problem(const std::vector<int64_t>& data, const std::vector<int64_t>& weights,
          const std::vector<int64_t>& added)
      : x(RandomTensor<uint8_t>(DataType::UInt(8), data, 0, 255, 1)),
        w(RandomTensor<int8_t>(DataType::Int(8), weights, -128, 127, 2)),
        bias(RandomTensor<int32_t>(DataType::Int(32), added, -100000, 100000,
                                   3)) {}

  // Dimensions `symbolic` of the data are only known at run time.
  void Build(const std::string& op, relay::Attrs attrs,
             const std::vector<int>& symbolic) {
    relay::Function* f = module.AddFunction("main");
    relay::TensorType type{DataType::UInt(8), relay::MakeShape(x.shape())};
    for (int d : symbolic) {
      type.shape[d] = tir::MakeVar(absl::StrCat("d", d));
    }
    const relay::Value data{f->AddInput("x", type)};
    const relay::Value weights{f->AddConstant("w", w)};
    attrs.Set("out_dtype", DataType::Int(32));
    const relay::Value product{*f->AddOp(op, "c", {data, weights}, attrs)};
    const relay::Value added{f->AddConstant("b", bias)};
    f->outputs = {relay::Value{*f->AddOp("add", "y", {product, added})}};
    f->output_names = {"y"};
  }

  relay::Module module;
  Tensor x, w, bias;
  std::vector<int32_t> sums;
};

std::unique_ptr<Problem> Make(const Case& c) {
  std::vector<int64_t> shape = c.rows;
  shape.push_back(c.k);
  auto p = std::make_unique<Problem>(shape, std::vector<int64_t>{c.k, c.n},
                                     std::vector<int64_t>{c.n});
  p->Build("matmul", {}, c.symbolic ? std::vector<int>{0} : std::vector<int>{});
  for (int64_t i = 0; i < p->x.NumElements() / c.k * c.n; ++i) {
    const int64_t row = i / c.n, column = i % c.n;
    int32_t sum = p->bias.data<int32_t>()[column];
    for (int64_t t = 0; t < c.k; ++t) {
      sum += p->x.data<uint8_t>()[row * c.k + t] *
             p->w.data<int8_t>()[t * c.n + column];
    }
    p->sums.push_back(sum);
  }
  return p;
}

struct ConvCase {
  int64_t batch, in, out, height, width, kernel, stride, pad, pad_value;
  bool symbolic = false;  // height and width are only known at run time

  std::string Name() const {
    return absl::StrJoin({batch, in, out, height, width, kernel, stride, pad},
                         "_");
  }
};

std::unique_ptr<Problem> Make(const ConvCase& c) {
  const int64_t rows = (c.height + 2 * c.pad - c.kernel) / c.stride + 1,
                columns = (c.width + 2 * c.pad - c.kernel) / c.stride + 1;
  auto p = std::make_unique<Problem>(
      std::vector<int64_t>{c.batch, c.in, c.height, c.width},
      std::vector<int64_t>{c.out, c.in, c.kernel, c.kernel},
      std::vector<int64_t>{c.out, 1, 1});
  p->Build("conv2d",
           {{"strides", std::vector<int64_t>{c.stride, c.stride}},
            {"pads", std::vector<int64_t>{c.pad, c.pad, c.pad, c.pad}},
            {"pad_value", c.pad_value}},
           c.symbolic ? std::vector<int>{2, 3} : std::vector<int>{});
  for (int64_t i = 0; i < c.batch * c.out * rows * columns; ++i) {
    const int64_t column = i % columns, row = i / columns % rows,
                  o = i / columns / rows % c.out,
                  n = i / columns / rows / c.out;
    int32_t sum = p->bias.data<int32_t>()[o];
    for (int64_t t = 0; t < c.in * c.kernel * c.kernel; ++t) {
      const int64_t channel = t / c.kernel / c.kernel;
      const int64_t y = row * c.stride - c.pad + t / c.kernel % c.kernel;
      const int64_t x = column * c.stride - c.pad + t % c.kernel;
      const bool inside = y >= 0 && y < c.height && x >= 0 && x < c.width;
      const int64_t at = ((n * c.in + channel) * c.height + y) * c.width + x;
      const int64_t pixel = inside ? p->x.data<uint8_t>()[at] : c.pad_value;
      sum += static_cast<int32_t>(
          pixel * p->w.data<int8_t>()[o * c.in * c.kernel * c.kernel + t]);
    }
    p->sums.push_back(sum);
  }
  return p;
}

void ExpectExactSums(Problem* p) {
  if (const absl::Status can_run = testing_support::TilesCanRun();
      !can_run.ok()) {
    GTEST_SKIP() << can_run;
  }
  const auto executor = CompileAndOpenWithTiles(&p->module, "");
  ASSERT_TRUE(executor.ok()) << executor.status();
  const auto outputs = (*executor)->Run({p->x});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  const absl::Span<const int32_t> y = (*outputs)[0].values<int32_t>();
  ASSERT_EQ(y.size(), p->sums.size());
  for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], p->sums[i]) << i;
}

class ByteTiles : public testing::TestWithParam<Case> {};

TEST_P(ByteTiles, SumsAreExact) { ExpectExactSums(Make(GetParam()).get()); }

INSTANTIATE_TEST_SUITE_P(Sizes, ByteTiles,
                         testing::ValuesIn(std::vector<Case>{
                             {{32}, 128, 32},
                             {{16}, 192, 16},
                             {{197}, 384, 100},
                             {{20}, 129, 33},
                             {{31}, 254, 17},
                             {{2, 19}, 140, 48},
                             {{7, 5, 3}, 128, 20},
                             {{600}, 256, 40},
                             {{33}, 2048, 24},
                             {{1}, 128, 32, true},
                             {{43}, 200, 50, true},
                             {{3, 21}, 128, 40, true},
                             {{15}, 128, 32}}),
                         [](const auto& info) { return info.param.Name(); });

class ByteTileConvs : public testing::TestWithParam<ConvCase> {};

TEST_P(ByteTileConvs, SumsAreExact) { ExpectExactSums(Make(GetParam()).get()); }

INSTANTIATE_TEST_SUITE_P(Sizes, ByteTileConvs,
                         testing::ValuesIn(std::vector<ConvCase>{
                             {1, 128, 64, 7, 7, 1, 1, 0, 0},
                             {2, 144, 48, 20, 9, 1, 1, 0, 0},
                             {1, 192, 80, 15, 15, 1, 2, 0, 0},
                             {1, 64, 32, 35, 35, 3, 1, 1, 128},
                             {1, 48, 24, 9, 50, 3, 2, 1, 7},
                             {1, 70, 16, 40, 21, 5, 1, 2, 0},
                             {1, 128, 40, 30, 33, 3, 1, 0, 0},
                             {1, 128, 32, 5, 5, 1, 1, 1, 3},
                             {1, 128, 48, 9, 61, 1, 1, 0, 0, true},
                             {1, 80, 32, 12, 47, 3, 2, 1, 200, true}}),
                         [](const auto& info) { return info.param.Name(); });

template <typename AnyCase>
bool UsesTiles(const AnyCase& c, const std::string& options) {
  const auto set = testing_support::CompileFor(
      &Make(c)->module,
      "llvm -mcpu=x86-64-v3 -mattr=+amx-tile,+amx-bf16,+amx-int8 " + options);
  EXPECT_TRUE(set.ok()) << set.status();
  if (!set.ok()) return false;
  const auto& features =
      FindTargetKey(set->provenance(), "host").cpu_features();
  return std::find(features.begin(), features.end(), "amx-int8") !=
         features.end();
}

TEST(ByteTilesTest, AreForProductsThatFillThem) {
  EXPECT_TRUE(UsesTiles(Case{{16}, 128, 16}, ""));
  EXPECT_TRUE(UsesTiles(Case{{1}, 128, 16, true}, ""));
  EXPECT_FALSE(UsesTiles(Case{{15}, 128, 16}, ""));
  EXPECT_FALSE(UsesTiles(Case{{16}, 64, 16}, ""));
  EXPECT_FALSE(UsesTiles(Case{{16}, 128, 7}, ""));
  EXPECT_TRUE(UsesTiles(ConvCase{1, 64, 16, 5, 5, 3, 1, 1, 0}, ""));
  EXPECT_FALSE(UsesTiles(ConvCase{1, 32, 16, 5, 5, 3, 1, 1, 0}, ""));
  // Sums of whole numbers are the same on all machines.
  EXPECT_TRUE(UsesTiles(Case{{16}, 128, 16}, "-reproducible=1"));
}

}  // namespace
}  // namespace ingot
