// Tests which kernels are one.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/relay/passes/test_support.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::relay {
namespace {

using ::testing::ElementsAre;

// The kernels that main calls, in order.
std::vector<std::string> CallsOf(absl::string_view main) {
  const auto module =
      CheckKeepsMeaning(absl::StrCat("module { func @main", main, " }"),
                        {"fuse_ops", "share_kernels"}, 1e-5);
  if (module == nullptr) return {"(failed)"};
  std::vector<std::string> calls;
  for (const auto& node : module->main()->nodes()) {
    if (node->kind == NodeKind::kCallFunction) calls.push_back(node->callee);
  }
  return calls;
}

TEST(ShareKernelsTest, NamesOfSymbolsDoNotMatter) {
  EXPECT_THAT(CallsOf(R"((%x: f32[n, 4], %y: f32[m, 4]) -> (%a, %b) {
    %a = relu(%x)
    %b = relu(%y)
  })"),
              ElementsAre("relu", "relu"));
}

TEST(ShareKernelsTest, SymbolsInAttributesCount) {
  EXPECT_THAT(CallsOf(R"((%x: f32[n], %y: f32[m]) -> (%a, %b) {
    %a = expand(%x) {shape=[3, n]}
    %b = expand(%y) {shape=[3, m]}
  })"),
              ElementsAre("expand", "expand"));
}

TEST(ShareKernelsTest, WhichSymbolsAreEqualMatters) {
  EXPECT_THAT(CallsOf(R"((%x: f32[n, n], %y: f32[n, m]) -> (%a, %b) {
    %a = relu(%x)
    %b = relu(%y)
  })"),
              ElementsAre("relu", "relu_1"));
}

TEST(ShareKernelsTest, AttributesAndConstantsMatter) {
  EXPECT_THAT(CallsOf(R"((%x: f32[n, 4], %y: f32[m, 4]) -> (%a, %b, %c, %d) {
    %two = const f32[] {2}
    %three = const f32[] {3}
    %a = mul(%x, %two)
    %b = mul(%y, %three)
    %c = softmax(%x) {axis=0}
    %d = softmax(%y) {axis=1}
  })"),
              ElementsAre("mul", "mul_1", "softmax", "softmax_1"));
}

TEST(ShareKernelsTest, ParametersAreCalledWhatTheyAreInCommon) {
  const auto module = CheckKeepsMeaning(R"(module {
  func @main(%"box.data": f32[n], %"class.data": f32[m]) -> (%a, %b) {
    %a = relu(%"box.data")
    %b = relu(%"class.data")
  }
})",
                                        {"fuse_ops", "share_kernels"}, 1e-5);
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->Find("relu")->inputs[0]->name, "data");
  EXPECT_EQ(module->Find("relu_1"), nullptr);
}

}  // namespace
}  // namespace ingot::relay
