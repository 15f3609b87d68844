// join_attention: attention in parts, as exporters write it, and what only
// looks like it.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/relay/passes/test_support.h"
#include "gtest/gtest.h"

namespace ingot::relay {
namespace {

constexpr char kOperands[] =
    "(%q: f32[1, 2, 16, 4], %k: f32[1, 2, 9, 4], %v: f32[1, 2, 9, 5],"
    " %bias: f32[1, 1, 1, 9]) -> (%y) { ";
constexpr char kTurned[] = "%kt = transpose(%k) {axes=[0, 1, 3, 2]} ";
constexpr char kRest[] = " %w = softmax(%s) %y = matmul(%w, %v) }";

// The attentions after the pass, which must keep what the text means.
int Joined(const std::string& text) {
  const auto module = CheckKeepsMeaning(
      absl::StrCat("module { func @main", text, " }"), {"join_attention"});
  return module == nullptr ? -1 : CountOps(*module, "attention");
}

TEST(JoinAttentionTest, AsExportersWriteIt) {
  const std::string scaled = "%c = const f32[] {0.5} ";
  for (const std::string& scores : std::vector<std::string>{
           "%s = matmul(%q, %kt)",
           scaled + "%p = matmul(%q, %kt) %s = mul(%p, %c)",
           scaled + "%p = matmul(%q, %kt) %d = div(%p, %c) %s = add(%d, %bias)",
           scaled + "%p = matmul(%q, %kt) %d = mul(%p, %c) %s = add(%bias, %d)",
           scaled + "%a = mul(%q, %c) %b = mul(%kt, %c) %s = matmul(%a, %b)"}) {
    EXPECT_EQ(Joined(absl::StrCat(kOperands, kTurned, scores, kRest)), 1)
        << scores;
  }
}

TEST(JoinAttentionTest, KeysThatWereNeverByHead) {
  EXPECT_EQ(Joined("(%q: f32[1, 2, 16, 4], %k: f32[1, 9, 2, 4],"
                   " %v: f32[1, 2, 9, 5]) -> (%y) {"
                   " %kt = transpose(%k) {axes=[0, 2, 3, 1]}"
                   " %s = matmul(%q, %kt) %w = softmax(%s) {axis=3}"
                   " %y = matmul(%w, %v) }"),
            1);
}

TEST(JoinAttentionTest, ManyQueriesWithABias) {
  EXPECT_EQ(Joined("(%q: f32[1, 1, 512, 4], %k: f32[1, 1, 9, 4],"
                   " %v: f32[1, 1, 9, 5], %bias: f32[512, 9]) -> (%y) {"
                   " %kt = transpose(%k) {axes=[0, 1, 3, 2]}"
                   " %p = matmul(%q, %kt) %s = add(%p, %bias)"
                   " %w = softmax(%s) %y = matmul(%w, %v) }"),
            1);
}

TEST(JoinAttentionTest, SymbolicLengths) {
  EXPECT_EQ(Joined("(%q: f32[b, 2, s, 4], %k: f32[b, 2, t, 4],"
                   " %v: f32[b, 2, t, 5], %bias: f32[b, 1, s, t]) -> (%y) {"
                   " %kt = transpose(%k) {axes=[0, 1, 3, 2]}"
                   " %p = matmul(%q, %kt) %s = add(%p, %bias)"
                   " %w = softmax(%s) %y = matmul(%w, %v) }"),
            1);
}

TEST(JoinAttentionTest, LeavesTheRest) {
  const std::string product = "%s = matmul(%q, %kt)";
  for (const std::string& text : std::vector<std::string>{
           // The scores, or the weights, are results, too.
           absl::StrCat("(%q: f32[1, 2, 16, 4], %k: f32[1, 2, 9, 4],"
                        " %v: f32[1, 2, 9, 5]) -> (%y, %s) { ",
                        kTurned, product, kRest),
           absl::StrCat("(%q: f32[1, 2, 16, 4], %k: f32[1, 2, 9, 4],"
                        " %v: f32[1, 2, 9, 5]) -> (%y, %w) { ",
                        kTurned, product, kRest),
           // Another axis.
           absl::StrCat(kOperands, kTurned, product,
                        " %w = softmax(%s) {axis=2} %y = matmul(%w, %v) }"),
           // Factors that differ.
           absl::StrCat(kOperands, kTurned,
                        "%p = matmul(%q, %kt) %s = mul(%p, %bias)", kRest),
           // The keys are transposed already.
           absl::StrCat("(%q: f32[1, 2, 16, 4], %kt: f32[1, 2, 4, 9],"
                        " %v: f32[1, 2, 9, 5]) -> (%y) { ",
                        product, kRest),
           // A bias for each of not many queries.
           absl::StrCat("(%q: f32[1, 2, 16, 4], %k: f32[1, 2, 9, 4],"
                        " %v: f32[1, 2, 9, 5], %bias: f32[16, 9]) -> (%y) { ",
                        kTurned, "%p = matmul(%q, %kt) %s = add(%p, %bias)",
                        kRest),
           // Few queries, whose scores are a small matrix.
           absl::StrCat("(%q: f32[1, 2, 3, 4], %k: f32[1, 2, 9, 4],"
                        " %v: f32[1, 2, 9, 5]) -> (%y) { ",
                        kTurned, product, kRest),
           // Keys that all heads share by broadcasting.
           absl::StrCat("(%q: f32[1, 2, 16, 4], %k: f32[1, 1, 9, 4],"
                        " %v: f32[1, 1, 9, 5]) -> (%y) { ",
                        kTurned, product, kRest)}) {
    EXPECT_EQ(Joined(text), 0) << text;
  }
}

TEST(JoinAttentionTest, OnlyWhereTheHostWantsIt) {
  const auto module =
      ParseForTest(absl::StrCat("module { func @main", kOperands, kTurned,
                                "%s = matmul(%q, %kt)", kRest, " }"));
  ASSERT_NE(module, nullptr);
  PassContext context = TestContext();
  context.layouts.joins_attention = false;
  ASSERT_TRUE(RunPasses({"join_attention"}, module.get(), &context).ok());
  EXPECT_EQ(CountOps(*module, "attention"), 0);
}

}  // namespace
}  // namespace ingot::relay
