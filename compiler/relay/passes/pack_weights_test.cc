// Constants in the panels of products and recurrent steps.
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "compiler/relay/interpreter/evaluate.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/pass.h"
#include "compiler/relay/passes/test_support.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::relay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(PackWeightsTest, Products) {
  const auto module =
      CheckKeepsMeaning(Main(R"((%x: f32[2, 3, 10]) -> (%y, %z, %u) {
    %w = const f32[10, 37] random(1)
    %v = const f32[5, 10] random(2)
    %y = matmul(%x, %w)
    %z = dense(%x, %v)
    %u = matmul(%x, %w)
  })"),
                        {"pack_weights"});
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(CountOps(*module, "dense_packed"), 3);
  EXPECT_EQ(module->main()->nodes().size(), 1 + 2 + 3u);
}

// Data is rounded to bytes, which loses half of a 127th of the largest number.
TEST(PackWeightsTest, FewBits) {
  for (const char* matrix :
       {"dense_bits(%x, %w, %s) {bits=4, data_bits=8}",
        "dense_bits(%x, %w, %s, %z) {bits=4, data_bits=8}",
        "dense_bits(%x, %w, %s) {bits=2, data_bits=8}",
        "dense_bits(%x, %w, %s, %z) {bits=8, data_bits=8}"}) {
    const bool is_4 = absl::StrContains(matrix, "bits=4,");
    const bool is_2 = absl::StrContains(matrix, "bits=2,");
    const int blocks = is_4 ? 2 : is_2 ? 1 : 4;
    const int depth = is_4 ? 120 : is_2 ? 128 : 60;
    std::unique_ptr<Module> module = ParseForTest(Main(absl::Substitute(
        R"((%x: f32[2, 3, $0]) -> (%y) {
          %w = const u8[21, $1, $2] random(1)
          %s = const f32[21, $1] random(2)
          %z = const f32[21, $1] random(3)
          %y = $3
        })",
        depth, blocks, is_4 || is_2 ? 32 : 16, matrix)));
    ASSERT_NE(module, nullptr) << matrix;
    EXPECT_TRUE(KeepsMeaning(module.get(), {"pack_weights"}, 0.1)) << matrix;
    EXPECT_EQ(CountOps(*module, "dense_bits_packed"), 1) << matrix;
    EXPECT_EQ(CountOps(*module, "dense_bits"), 0) << matrix;
  }
}

// A row's infinities and NaN are in all of its results, and in no other row's.
TEST(PackWeightsTest, FewBitsOfWhatIsNotFinite) {
  std::unique_ptr<Module> module =
      ParseForTest(Main(R"((%x: f32[3, 64]) -> (%y) {
    %w = const u8[5, 2, 16] random(1)
    %s = const f32[5, 2] random(2)
    %y = dense_bits(%x, %w, %s) {bits=4, data_bits=8}
  })"));
  ASSERT_NE(module, nullptr);
  ASSERT_TRUE(RunForTest({"pack_weights"}, module.get()));
  ASSERT_EQ(CountOps(*module, "dense_bits_packed"), 1);
  Tensor x = *Tensor::Empty(DataType::Float(32), {3, 64});
  for (int i = 0; i < 3 * 64; ++i) {
    x.mutable_data<float>()[i] = static_cast<float>(i % 7) - 3;
  }
  x.mutable_data<float>()[40] = std::numeric_limits<float>::quiet_NaN();
  x.mutable_data<float>()[64 + 9] = std::numeric_limits<float>::infinity();
  const auto y = EvaluateFunction(*module, *module->main(), {x});
  ASSERT_TRUE(y.ok()) << y.status();
  for (int i = 0; i < 3 * 5; ++i) {
    EXPECT_EQ(std::isfinite((*y)[0].data<float>()[i]), i >= 2 * 5) << i;
  }
}

// The panels in `text` after pack_weights, as the types of constants of four
// dimensions.
std::vector<std::string> PanelsOfSteps(absl::string_view text) {
  std::vector<std::string> panels;
  const auto module = CheckKeepsMeaning(Main(text), {"pack_weights"});
  if (module == nullptr) return panels;
  for (const auto& node : module->main()->nodes()) {
    if (node->kind != NodeKind::kConstant) continue;
    const TensorType& type = node->outputs[0];
    if (type.shape.size() == 4) panels.push_back(ToString(type));
  }
  return panels;
}

TEST(PackWeightsTest, RecurrentSteps) {
  // Vectors of 8 lanes: all of a gate in one panel.
  EXPECT_THAT(
      PanelsOfSteps(R"((%x: f32[3, 2, 96], %h: f32[2, 24]) -> (%y#0, %z#2) {
        %w = const f32[24, 96] random(1)
        %y = lstm(%x, %w, %h, _, %h)
        %z = lstm(%x, %w, %h, _, %h)
      })"),
      ElementsAre("f32[4, 24, 3, 8]"));
  // Eight accumulators at most.
  EXPECT_THAT(PanelsOfSteps(R"((%x: f32[2, 1, 80], %h: f32[1, 80]) -> (%y#1) {
        %w = const f32[80, 80] random(1)
        %y = rnn(%x, %w, %h)
      })"),
              ElementsAre("f32[2, 80, 5, 8]"));
  for (const char* order : {"0", "1"}) {
    EXPECT_THAT(
        PanelsOfSteps(absl::StrCat(R"((%x: f32[3, 2, 48], %h: f32[2, 16],
                                        %b: f32[16]) -> (%y#0, %y#1) {
        %w = const f32[16, 48] random(1)
        %y = gru(%x, %w, %h, _, %b) {linear_before_reset=)",
                                   order, "}}")),
        ElementsAre("f32[3, 16, 2, 8]"));
  }
  // No whole vectors, or only one.
  EXPECT_THAT(PanelsOfSteps(R"((%x: f32[2, 1, 20], %h: f32[1, 20]) -> (%y#1) {
        %w = const f32[20, 20] random(1)
        %y = rnn(%x, %w, %h)
      })"),
              IsEmpty());
  EXPECT_THAT(PanelsOfSteps(R"((%x: f32[2, 1, 8], %h: f32[1, 8]) -> (%y#1) {
        %w = const f32[8, 8] random(1)
        %y = rnn(%x, %w, %h)
      })"),
              IsEmpty());
}

}  // namespace
}  // namespace ingot::relay
