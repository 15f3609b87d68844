// Products of data that is rounded to bytes with matrices of few bits, by tiles
// (AMX, emulated where it is missing), compiled, linked, loaded and run: the
// same bits as by vectors, for numbers of rows that fill tiles and that do not.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
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

using testing_support::RandomTensor;

const DataType kF32 = DataType::Float(32);

struct Case {
  int64_t bits, blocks, block;  // numbers of a block
  int64_t columns;
  bool has_zeros = false;
  std::vector<int64_t> rows = {0};  // 0: only known at run time

  std::string Name() const {
    return absl::StrCat(bits, "bits_", blocks, "x", block, "_", columns,
                        has_zeros ? "_zeros_" : "_", absl::StrJoin(rows, "x"));
  }
  int64_t depth() const { return blocks * block; }
};

// y = w * x + 1
std::unique_ptr<relay::Module> Model(const Case& c) {
  auto module = std::make_unique<relay::Module>();
  relay::Function* f = module->AddFunction("main");
  std::vector<int64_t> shape = c.rows;
  shape.push_back(c.depth());
  relay::TensorType type{kF32, relay::MakeShape(shape)};
  for (size_t d = 0; d < c.rows.size(); ++d) {
    if (c.rows[d] == 0) type.shape[d] = tir::MakeVar(absl::StrCat("m", d));
  }
  const std::vector<int64_t> blocks = {c.columns, c.blocks};
  std::vector<relay::Value> operands = {
      relay::Value{f->AddInput("x", type)},
      relay::Value{f->AddConstant(
          "w", RandomTensor<uint8_t>(
                   DataType::UInt(8),
                   {c.columns, c.blocks, c.block * c.bits / 8}, 0, 255, 1))},
      relay::Value{
          f->AddConstant("s", RandomTensor<float>(kF32, blocks, -1, 1, 2))}};
  if (c.has_zeros) {
    operands.push_back(relay::Value{f->AddConstant(
        "z", RandomTensor<float>(kF32, blocks, 0, 1 << c.bits, 3))});
  }
  const relay::Value product{
      *f->AddOp("dense_bits", "p", operands,
                {{"bits", c.bits}, {"data_bits", int64_t{8}}})};
  const relay::Value one{
      f->AddConstant("one", RandomTensor<float>(kF32, {c.columns}, 1, 1, 4))};
  f->outputs = {relay::Value{*f->AddOp("add", "y", {product, one})}};
  f->output_names = {"y"};
  return module;
}

// Whether the model, compiled for AVX2 and AMX, multiplies tiles.
bool UsesTiles(const Case& c, const std::string& options = "") {
  const auto set = testing_support::CompileFor(
      Model(c).get(),
      "llvm -mcpu=x86-64-v3 -mattr=+amx-tile,+amx-bf16,+amx-int8 " + options);
  EXPECT_TRUE(set.ok()) << set.status();
  if (!set.ok()) return false;
  const auto& features =
      FindTargetKey(set->provenance(), "host").cpu_features();
  return std::find(features.begin(), features.end(), "amx-int8") !=
         features.end();
}

class FewBitsTiles : public testing::TestWithParam<Case> {};

TEST_P(FewBitsTiles, GiveWhatVectorsDo) {
  if (const absl::Status can_run = testing_support::TilesCanRun();
      !can_run.ok()) {
    GTEST_SKIP() << can_run;
  }
  const Case& c = GetParam();
  ASSERT_TRUE(UsesTiles(c));
  const auto tiles =
      testing_support::CompileAndOpenWithTiles(Model(c).get(), "");
  const auto vectors =
      testing_support::CompileAndOpen(Model(c).get(), "llvm -mcpu=x86-64-v3");
  ASSERT_TRUE(tiles.ok() && vectors.ok()) << tiles.status();
  for (const int64_t m : {1, 3, 15, 16, 17, 33, 64}) {
    std::vector<int64_t> shape = c.rows;
    shape.push_back(c.depth());
    const bool is_known =
        std::find(shape.begin(), shape.end(), 0) == shape.end();
    std::replace(shape.begin(), shape.end(), int64_t{0}, m);
    SCOPED_TRACE(absl::StrJoin(shape, "x"));
    const Tensor x = RandomTensor<float>(kF32, shape, -2, 3, 5);
    const auto got = (*tiles)->Run({x}), want = (*vectors)->Run({x});
    ASSERT_TRUE(got.ok() && want.ok()) << got.status() << want.status();
    ASSERT_EQ((*got)[0].shape(), (*want)[0].shape());
    for (int64_t i = 0; i < (*got)[0].NumElements(); ++i) {
      ASSERT_EQ((*got)[0].data<float>()[i], (*want)[0].data<float>()[i]) << i;
    }
    if (is_known) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, FewBitsTiles,
                         testing::ValuesIn(std::vector<Case>{
                             {4, 3, 32, 48},
                             {4, 5, 32, 41, true},
                             {4, 4, 16, 33},
                             {4, 2, 128, 16, true},
                             {2, 3, 64, 20, true},
                             {2, 2, 16, 32},
                             {8, 3, 32, 17},
                             {8, 2, 64, 40, true},
                             {4, 3, 32, 24, false, {16}},
                             {4, 3, 32, 24, true, {31}},
                             {4, 3, 32, 24, false, {64}},
                             {4, 3, 32, 24, true, {2, 19}},
                             {4, 3, 32, 24, false, {18, 1}},
                             {4, 3, 32, 24, true, {0, 17}},
                             {4, 3, 32, 24, true, {18, 0}},
                             {4, 3, 32, 24, false, {0, 0}},
                             {4, 400, 32, 17, true, {17}}}),
                         [](const auto& info) { return info.param.Name(); });

TEST(FewBitsTilesTest, AreForProductsThatFillThem) {
  EXPECT_TRUE(UsesTiles({4, 2, 32, 16, false, {16}}));
  EXPECT_TRUE(UsesTiles({4, 2, 16, 16, false, {16}}));
  EXPECT_FALSE(UsesTiles({4, 2, 32, 16, false, {15}}));
  EXPECT_FALSE(UsesTiles({4, 2, 32, 16, false, {2, 8}}));
  EXPECT_FALSE(UsesTiles({4, 2, 32, 15, false, {16}}));
  EXPECT_FALSE(UsesTiles({4, 2, 8, 16, false, {16}}));
  // Data is not rounded to bytes there.
  EXPECT_FALSE(UsesTiles({4, 2, 32, 16, false, {16}}, "-reproducible=1"));
}

}  // namespace
}  // namespace ingot
