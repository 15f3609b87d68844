// Tests which kernels get symbols of their own, and that they compute the same.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/test_support.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::relay {
namespace {

using testing::Contains;
using testing::ElementsAre;

// The inputs and results of each kernel that the nodes of main become, none of
// which are fused. Each symbol has the value `symbol` when they are run.
std::vector<std::string> Kernels(absl::string_view main, int64_t symbol = 6) {
  const auto module = CheckKeepsMeaning(
      absl::StrCat("module { func @main", main, " }"),
      {"fuse_ops", "name_sizes", "share_kernels"}, 1e-5, symbol);
  std::vector<std::string> kernels;
  if (module == nullptr) return kernels;
  for (const auto& function : module->functions()) {
    if (!function->attrs.Has("primitive")) continue;
    std::vector<std::string> types;
    for (const Node* input : function->inputs) {
      types.push_back(ToString(input->outputs[0]));
    }
    kernels.push_back(absl::StrCat(absl::StrJoin(types, ", "), " -> ",
                                   ToString(function->outputs[0].type())));
  }
  return kernels;
}

TEST(NameSizesTest, SizesOfLaterLayers) {
  EXPECT_THAT(Kernels(R"((%x: f32[n, 1, h, w]) -> (%b) {
    %a = max_pool2d(%x) {kernel=[2, 2], strides=[2, 2]}
    %b = avg_pool2d(%a) {kernel=[3, 1], strides=[1, 1]}
  })",
                      8),
              ElementsAre("f32[n, 1, h, w] -> f32[n, 1, h / 2, w / 2]",
                          "f32[n, 1, size, size_1] -> "
                          "f32[n, 1, size - 2, size_1]"));
}

// Kernels on planes of several scales are one.
TEST(NameSizesTest, ScalesShareKernels) {
  EXPECT_THAT(Kernels(R"((%x: f32[1, 1, h, h]) -> (%d, %e) {
    %a = max_pool2d(%x) {kernel=[2, 2], strides=[2, 2]}
    %b = max_pool2d(%a) {kernel=[2, 2], strides=[2, 2]}
    %c = max_pool2d(%b) {kernel=[2, 2], strides=[2, 2]}
    %d = softmax(%c) {axis=-1}
    %e = softmax(%b) {axis=-1}
  })",
                      16)
                  .size(),
              2);
}

// One of the scales is the model's own.
TEST(NameSizesTest, AScaleAndWhatIsLessByAConstantShareKernels) {
  EXPECT_EQ(Kernels(R"((%x: f32[1, 1, h, h]) -> (%a, %c) {
    %a = softmax(%x) {axis=-1}
    %b = max_pool2d(%x) {kernel=[3, 3], strides=[1, 1]}
    %c = softmax(%b) {axis=-1}
  })")
                .size(),
            2);
}

// The operand that is read tells how large it is: no other is needed.
TEST(NameSizesTest, OperandsThatOnlySayWhatSymbolsAreGo) {
  EXPECT_THAT(Kernels(R"((%x: f32[n, 4]) -> (%b) {
    %a = reshape(%x) {shape=[n * 4]}
    %b = softmax(%a) {axis=0}
  })"),
              ElementsAre("f32[size] -> f32[size]"));
}

// However many operands say what a size is made of, none is left.
TEST(NameSizesTest, SizesOfManySymbols) {
  EXPECT_THAT(Kernels(R"((%x: f32[n, 2], %y: f32[m, 2], %z: f32[k, 2]) -> (%b) {
    %a = concat(%x, %y, %z) {axis=0}
    %b = softmax(%a) {axis=-1}
  })"),
              Contains("f32[size, 2] -> f32[size, 2]"));
}

TEST(NameSizesTest, MultiplesOfASizeStayMultiples) {
  EXPECT_THAT(Kernels(R"((%x: f32[n, 6], %y: f32[n, 3]) -> (%c) {
    %a = reshape(%x) {shape=[n * 6]}
    %b = reshape(%y) {shape=[n * 3]}
    %c = concat(%a, %b) {axis=0}
  })"),
              ElementsAre("f32[size * 2], f32[size] -> f32[size * 3]"));
}

// The kernel may need to know how its operands belong together.
TEST(NameSizesTest, SizesMadeOfWhatIsReadStay) {
  EXPECT_THAT(Kernels(R"((%x: f32[n, 6], %y: f32[n, 3]) -> (%c) {
    %a = reshape(%x) {shape=[n * 2, 3]}
    %c = concat(%a, %y) {axis=0}
  })"),
              ElementsAre("f32[n * 2, 3], f32[n, 3] -> f32[n * 3, 3]"));
}

// An attribute names a symbol that only an operand besides tells.
TEST(NameSizesTest, OperandsThatSayMoreStay) {
  EXPECT_THAT(Kernels(R"((%x: f32[n, 6]) -> (%b) {
    %a = reshape(%x) {shape=[1, n * 6]}
    %b = expand(%a) {shape=[n, n * 6]}
  })"),
              ElementsAre("f32[1, size], f32[n, 6] -> f32[n, size]"));
}

// A size is found inside of others, too.
TEST(NameSizesTest, AttributesMadeOfASize) {
  EXPECT_THAT(Kernels(R"((%x: f32[n, 6]) -> (%b) {
    %a = reshape(%x) {shape=[n * 6]}
    %b = top_k(%a) {axis=0, k=[min(n * 6, 7) - 1]}
  })"),
              ElementsAre("f32[size] -> f32[min(size, 7) - 1]"));
}

// An operator that uses a symbol of the run's has to have it in an operand.
TEST(NameSizesTest, SymbolsOfTheRunStayBesideTheirUse) {
  EXPECT_THAT(Kernels(R"((%x: f32[1, 6]) -> (%b) {
    %i = const i64[1] {4}
    %dims = bind_dims(%i) {symbols=["?k"]}
    %y = expand(%x, %dims) {shape=["?k", 6]}
    %a = reshape(%y) {shape=[1, "?k" * 6]}
    %b = expand(%a) {shape=["?k", "?k" * 6]}
  })"),
              Contains("f32[1, \"?k\" * 6], bool[\"?k\", 0] -> "
                       "f32[\"?k\", \"?k\" * 6]"));
}

TEST(NameSizesTest, KnownSizesStay) {
  EXPECT_THAT(Kernels(R"((%x: f32[n, 4, 5]) -> (%a) {
    %a = softmax(%x) {axis=1}
  })"),
              ElementsAre("f32[n, 4, 5] -> f32[n, 4, 5]"));
}

}  // namespace
}  // namespace ingot::relay
