// Whole models for `dnnl,llvm`: partitioned, stored, loaded and run as users'
// are.

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/testing/run_regions.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using testing_support::CompareWithEvaluate;
using testing_support::CompileRelay;
using testing_support::WhyNot;

// Sums are made in another order than the interpreter makes them.
absl::Status Compare(absl::string_view targets, absl::string_view text) {
  return CompareWithEvaluate(targets, text, /*seed=*/1, {1e-3, 1e-4});
}

constexpr char kResidual[] = R"(module {
  func @main(%x: f32[1, 3, 16, 16]) -> (%y, %s) {
    %w1 = const f32[16, 3, 3, 3] random(1)
    %w2 = const f32[16, 16, 3, 3] random(2)
    %w3 = const f32[10, 16] random(3)
    %b1 = const f32[1, 16, 1, 1] random(4)
    %b3 = const f32[10] random(5)
    %c1 = conv2d(%x, %w1) {pads=[1, 1, 1, 1], strides=[2, 2]}
    %a1 = add(%c1, %b1)
    %r1 = relu(%a1)
    %c2 = conv2d(%r1, %w2) {pads=[1, 1, 1, 1]}
    %a2 = add(%c2, %b1)
    %a3 = add(%a2, %r1)
    %r2 = relu(%a3)
    %g = global_avg_pool2d(%r2)
    %f = flatten(%g)
    %d = dense(%f, %w3)
    %e = add(%d, %b3)
    %s = sin(%e)
    %y = softmax(%e)
  }
})";

TEST(DnnlPartition, ResidualNetwork) {
  EXPECT_EQ(Compare("dnnl,llvm", kResidual), absl::OkStatus());
  EXPECT_EQ(Compare("fast: dnnl,llvm", kResidual), absl::OkStatus());
  auto set = CompileRelay("dnnl,llvm", kResidual);
  ASSERT_TRUE(set.ok()) << set.status();
  int convolutions = 0;
  for (const Artifact& artifact : set->artifacts()) {
    if (artifact.codegen_id != "dnnl") continue;
    EXPECT_EQ(artifact.loader, "dnnl");
    EXPECT_TRUE(absl::EndsWith(artifact.file_name, ".dnnl.json"));
    std::string text(artifact.content.view());
    for (size_t at = 0;
         (at = text.find("\"convolution\"", at)) != std::string::npos; ++at) {
      ++convolutions;
    }
    // Biases, sums and activations are part of what they follow.
    EXPECT_EQ(text.find("\"op\": \"eltwise\""), std::string::npos) << text;
    EXPECT_EQ(text.find("\"op\": \"binary\""), std::string::npos) << text;
  }
  EXPECT_EQ(convolutions, 2);
}

TEST(DnnlPartition, SharedWeightsAndSeveralRegions) {
  EXPECT_EQ(Compare("dnnl,llvm", R"(module {
    func @main(%x: f32[4, 8]) -> (%y) {
      %w = const f32[8, 8] random(1)
      %a = dense(%x, %w)
      %b = sin(%a)
      %c = dense(%b, %w)
      %d = cos(%c)
      %e = matmul(%d, %w)
      %y = tanh(%e)
    }
  })"),
            absl::OkStatus());
}

// A graph's file has no word for them.
TEST(DnnlPartition, NumbersThatAreNotFiniteStayBehind) {
  for (const char* nodes :
       {"%y = leaky_relu(%x) {alpha=inf}", "%y = elu(%x) {alpha=nan}",
        "%w = const f32[8, 8] random(1) %d = dense(%x, %w) "
        "%y = leaky_relu(%d) {alpha=inf}"}) {
    EXPECT_EQ(Compare("dnnl,llvm",
                      absl::StrCat("module { func @main(%x: f32[4, 8]) -> "
                                   "(%y, %t) { %t = tanh(%x) ",
                                   nodes, " } }")),
              absl::OkStatus())
        << nodes;
  }
}

TEST(DnnlPartition, SymbolicShapesStayBehind) {
  EXPECT_THAT(WhyNot("dnnl", R"(module {
    func @main(%x: f32[n, 8]) -> (%y) { %y = tanh(%x) }
  })"),
              testing::HasSubstr("not known before it runs"));
}

}  // namespace
}  // namespace ingot
