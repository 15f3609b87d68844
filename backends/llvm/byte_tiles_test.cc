// Products of bytes by tiles (AMX, emulated where it is missing), compiled,
// linked, loaded and run, against integers: sizes that fill tiles and sizes
// that do not, one and several dimensions of rows, and what comes after.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "artifact/target_keys.h"
#include "backends/testing/open_with_tiles.h"
#include "backends/testing/run_model.h"
#include "compiler/relay/ir.h"
#include "gtest/gtest.h"
#include "runtime/tensor.h"

namespace ingot {
namespace {

using testing_support::CompileAndOpenWithTiles;

template <typename T>
Tensor Random(DataType dtype, const std::vector<int64_t>& shape, int low,
              int high, unsigned seed) {
  Tensor tensor = *Tensor::Empty(dtype, shape);
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> number(low, high);
  for (int64_t i = 0; i < tensor.NumElements(); ++i) {
    tensor.mutable_data<T>()[i] = static_cast<T>(number(random));
  }
  return tensor;
}

struct Case {
  std::vector<int64_t> rows;  // the data's dimensions but the last
  int64_t k, n;
  bool symbolic = false;  // the first dimension is only known at run time

  std::string Name() const {
    return absl::StrCat(symbolic ? "m" : "", absl::StrJoin(rows, "x"), "x", k,
                        "x", n);
  }
};

// A product and what is added to it.
struct Problem {
  explicit Problem(const Case& c) : k(c.k), n(c.n) {
    std::vector<int64_t> shape = c.rows;
    shape.push_back(k);
    x = Random<uint8_t>(DataType::UInt(8), shape, 0, 255, 1);
    w = Random<int8_t>(DataType::Int(8), {k, n}, -128, 127, 2);
    bias = Random<int32_t>(DataType::Int(32), {n}, -100000, 100000, 3);
    relay::Function* f = module.AddFunction("main");
    relay::TensorType type{DataType::UInt(8), relay::MakeShape(shape)};
    if (c.symbolic) type.shape[0] = tir::MakeVar("m");
    const relay::Value data{f->AddInput("x", type)};
    const relay::Value weights{f->AddConstant("w", w)};
    relay::Attrs attrs;
    attrs.Set("out_dtype", DataType::Int(32));
    const relay::Value product{
        *f->AddOp("matmul", "c", {data, weights}, attrs)};
    const relay::Value added{f->AddConstant("b", bias)};
    f->outputs = {relay::Value{*f->AddOp("add", "y", {product, added})}};
    f->output_names = {"y"};
  }

  int32_t Expected(size_t row, size_t column) const {
    int32_t sum = bias.data<int32_t>()[column];
    for (int64_t t = 0; t < k; ++t) {
      sum += x.data<uint8_t>()[row * k + t] * w.data<int8_t>()[t * n + column];
    }
    return sum;
  }

  const int64_t k, n;
  Tensor x, w, bias;
  relay::Module module;
};

class ByteTiles : public testing::TestWithParam<Case> {};

TEST_P(ByteTiles, SumsAreExact) {
  Problem p(GetParam());
  const auto executor = CompileAndOpenWithTiles(&p.module, "");
  ASSERT_TRUE(executor.ok()) << executor.status();
  const auto outputs = (*executor)->Run({p.x});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  const absl::Span<const int32_t> y = (*outputs)[0].values<int32_t>();
  ASSERT_EQ(y.size(), p.x.NumElements() / p.k * p.n);
  for (size_t i = 0; i < y.size(); ++i) {
    ASSERT_EQ(y[i], p.Expected(i / p.n, i % p.n)) << i / p.n << " " << i % p.n;
  }
}

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

bool UsesTiles(const Case& c, const std::string& options) {
  Problem p(c);
  const auto set = testing_support::CompileFor(
      &p.module,
      "llvm -mcpu=x86-64-v3 -mattr=+amx-tile,+amx-bf16,+amx-int8 " + options);
  EXPECT_TRUE(set.ok()) << set.status();
  if (!set.ok()) return false;
  const auto& features =
      FindTargetKey(set->provenance(), "host").cpu_features();
  return std::find(features.begin(), features.end(), "amx-int8") !=
         features.end();
}

TEST(ByteTilesTest, AreForProductsThatFillThem) {
  EXPECT_TRUE(UsesTiles({{16}, 128, 16}, ""));
  EXPECT_TRUE(UsesTiles({{1}, 128, 16, true}, ""));
  EXPECT_FALSE(UsesTiles({{15}, 128, 16}, ""));
  EXPECT_FALSE(UsesTiles({{16}, 64, 16}, ""));
  EXPECT_FALSE(UsesTiles({{16}, 128, 7}, ""));
  // Sums of whole numbers are the same on all machines.
  EXPECT_TRUE(UsesTiles({{16}, 128, 16}, "-reproducible=1"));
}

}  // namespace
}  // namespace ingot
