#include "compiler/tir/arith/count_operations.h"

#include "compiler/tir/parser.h"
#include "gtest/gtest.h"

namespace ingot::tir {
namespace {

std::optional<uint64_t> Count(absl::string_view text) {
  const absl::StatusOr<PrimFunc> func = Parse(text);
  EXPECT_TRUE(func.ok()) << func.status();
  return CountOperations(*func);
}

TEST(CountOperations, OfAProductWithoutItsPlaces) {
  EXPECT_EQ(Count(R"(
func @f(%a: f32[8, 16], %b: f32[16, 4]) -> (%c: f32[8, 4]) {
  for i in [0, 8) {
    for j in [0, 4) {
      %c[i, j] = 0.0f
      for k in [0, 16) {
        %c[i, j] = muladd(%a[i, (k * 3 + 1) % 16], %b[k, j], %c[i, j])
      }
      %c[i, j] = max(%c[i, j] + 1.0f, 0.0f)
    }
  }
})"),
            8 * 4 * (16 * 2 + 2));
}

TEST(CountOperations, OfPartsOfWhichTheLastIsSmaller) {
  EXPECT_EQ(Count(R"(
func @f(%a: f32[10]) -> (%b: f32[10]) {
  for i in [0, 3) {
    for j in [0, min(10 - i * 4, 4)) { %b[i * 4 + j] = %a[i * 4 + j] + 1.0f }
  }
})"),
            12);
}

TEST(CountOperations, OfTheLongerBranch) {
  EXPECT_EQ(Count(R"(
func @f(%a: f32[8]) -> (%b: f32[8]) {
  for i in [0, 8) {
    if i < 7 { %b[i] = exp(%a[i]) } else { %b[i] = %a[i] * %a[i] + 1.0f }
  }
})"),
            8 * 2);
}

TEST(CountOperations, OfLoopsThatOthersBound) {
  EXPECT_EQ(Count(R"(
func @f(%a: f32[40]) -> (%b: f32[40]) {
  for i in [0, 3) {
    for j in [0, min(i * 16 + 18, 33) - max(i * 16, 1)) {
      %b[j] = %a[j] + 1.0f
    }
    for j in [0, max(i * 16, 1) - i * 16) { %b[j] = %a[j] * 2.0f }
  }
})"),
            3 * 18 + 3);
}

TEST(CountOperations, CopiesOfAnyLengthHaveNone) {
  EXPECT_EQ(Count(R"(
func @f(%a: f32[10]) -> (%b: f32[10], %c: f32[10]) {
  for i in [0, 10) {
    for j in [0, 10 % (i + 1)) { %b[i + j] = %a[i + j] }
    %c[i] = %a[i] + 1.0f
  }
})"),
            10);
}

TEST(CountOperations, DependsOnSymbols) {
  EXPECT_EQ(Count(R"(
func @f(%a: f32[n]) -> (%b: f32[n]) {
  for i in [0, n) { %b[i] = %a[i] + 1.0f }
})"),
            std::nullopt);
}

}  // namespace
}  // namespace ingot::tir
