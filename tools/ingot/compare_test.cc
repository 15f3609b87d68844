#include "tools/ingot/compare.h"

#include <cmath>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/float16.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

template <typename T>
Tensor Make(DataType type, const std::vector<T>& values) {
  absl::StatusOr<Tensor> t =
      Tensor::Empty(type, {static_cast<int64_t>(values.size())});
  EXPECT_TRUE(t.ok());
  std::copy(values.begin(), values.end(), t->template mutable_data<T>());
  return *t;
}

Tensor F32(const std::vector<float>& values) {
  return Make(DataType::Float(32), values);
}

Comparison Of(const Tensor& a, const Tensor& b, const Tolerance& t = {}) {
  absl::StatusOr<Comparison> c = Compare(a, b, t);
  EXPECT_TRUE(c.ok()) << c.status();
  return c.ok() ? *c : Comparison();
}

TEST(CompareTest, TheRuleOfOnnx) {
  Tolerance t{/*rtol=*/0.1, /*atol=*/0.5};
  EXPECT_TRUE(Of(F32({10.5f, 11.5f}), F32({10, 10}), t).ok());
  const Comparison c = Of(F32({10, 11.75f}), F32({10, 10}), t);
  EXPECT_EQ(c.elements, 2);
  EXPECT_EQ(c.mismatches, 1);
  EXPECT_EQ(c.max_abs_err, 1.75);
  EXPECT_EQ(c.max_rel_err, 0.175);
  EXPECT_EQ(c.problem, "[1] is 11.75 and should be 10");
}

TEST(CompareTest, EitherRuleIsEnough) {
  Tolerance t{/*rtol=*/0, /*atol=*/0};
  EXPECT_FALSE(Of(F32({100, 0.5f}), F32({100, 0}), t).ok());
  t.rtol_max = 0.01;
  EXPECT_TRUE(Of(F32({100, 0.5f}), F32({100, 0}), t).ok());
  EXPECT_FALSE(Of(F32({100, 1.5f}), F32({100, 0}), t).ok());
  // A passing absolute tolerance stays one.
  t.atol = 2;
  EXPECT_TRUE(Of(F32({100, 1.5f}), F32({100, 0}), t).ok());
}

TEST(CompareTest, AnInfinityDoesNotLoosenTheRuleOfTheLargest) {
  Tolerance t{/*rtol=*/0, /*atol=*/0, /*rtol_max=*/0.1};
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(Of(F32({inf, 2}), F32({inf, 1}), t).ok());
}

TEST(CompareTest, NanAndInfinityEqualOnlyThemselves) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(Of(F32({kNan, inf, -inf}), F32({-kNan, inf, -inf})).ok());
  for (const auto& [a, b] : std::vector<std::pair<float, float>>{{kNan, 1},
                                                                 {1, kNan},
                                                                 {inf, -inf},
                                                                 {inf, 1},
                                                                 {1, inf},
                                                                 {kNan, inf},
                                                                 {inf, kNan}}) {
    const Comparison c = Of(F32({a}), F32({b}));
    EXPECT_EQ(c.mismatches, 1) << a << " " << b;
    EXPECT_EQ(c.max_abs_err, kInf);
  }
}

TEST(CompareTest, ShapesAndTypesMustAgree) {
  const Comparison c = Of(F32({1, 2}), F32({1}));
  EXPECT_EQ(c.mismatches, 1);
  EXPECT_EQ(c.problem, "it is f32[2] and should be f32[1]");
  EXPECT_FALSE(Of(F32({1}), Make<int32_t>(DataType::Int(32), {1})).ok());
  EXPECT_FALSE(Of(F32({}), Make<int32_t>(DataType::Int(32), {})).ok());
  EXPECT_TRUE(Of(F32({}), F32({})).ok());
}

TEST(CompareTest, LargeIntegersAreExact) {
  const int64_t big = int64_t{1} << 62;
  const Tolerance exact{0, 0};
  const auto i64 = [](std::vector<int64_t> v) {
    return Make(DataType::Int(64), v);
  };
  EXPECT_TRUE(Of(i64({big}), i64({big}), exact).ok());
  EXPECT_EQ(Of(i64({big + 1}), i64({big}), exact).max_abs_err, 1);
  EXPECT_EQ(Of(i64({std::numeric_limits<int64_t>::max()}),
               i64({std::numeric_limits<int64_t>::min()}), exact)
                .mismatches,
            1);
  EXPECT_EQ(Of(Make<int8_t>(DataType::Int(8), {127}),
               Make<int8_t>(DataType::Int(8), {-128}), exact)
                .max_abs_err,
            255);
  EXPECT_EQ(Of(Make<uint8_t>(DataType::UInt(8), {3}),
               Make<uint8_t>(DataType::UInt(8), {5}), exact)
                .max_abs_err,
            2);
}

TEST(CompareTest, IntegersAreShownWhole) {
  const auto i64 = [](int64_t value) {
    return Make<int64_t>(DataType::Int(64), {value});
  };
  EXPECT_EQ(Of(i64(9007199254740993), i64(1000000001)).problem,
            "[0] is 9007199254740993 and should be 1000000001");
  EXPECT_FALSE(Of(i64(1), i64(2)).is_rounded);
  EXPECT_TRUE(Of(F32({1}), F32({2})).is_rounded);
  EXPECT_EQ(Summarize(i64(1234567))->first, "1234567");
  EXPECT_EQ(Summarize(Make<int8_t>(DataType::Int(8), {-65}))->first, "-65");
  EXPECT_EQ(Of(F32({-kNan}), F32({1})).problem, "[0] is nan and should be 1");
}

TEST(CompareTest, IntegersAreNotRounded) {
  const auto of = [](int64_t a, int64_t b, Tolerance t) {
    return Of(Make<int64_t>(DataType::Int(64), {a}),
              Make<int64_t>(DataType::Int(64), {b}), t)
        .ok();
  };
  Tolerance t{/*rtol=*/0.1, /*atol=*/0};
  EXPECT_FALSE(of(1000001, 1000000, t));
  EXPECT_TRUE(of(1000000, 1000000, t));
  t.atol = 1;
  EXPECT_TRUE(of(1000001, 1000000, t));
  t = {/*rtol=*/0, /*atol=*/0, /*rtol_max=*/1e-6};
  EXPECT_TRUE(of(1000001, 1000000, t));
}

TEST(CompareTest, SixteenBitFloats) {
  const auto f16 = [](float v) {
    return Make<uint16_t>(DataType::Float(16), {FloatToHalf(v)});
  };
  const auto bf16 = [](float v) {
    return Make<uint16_t>(DataType::BFloat16(), {FloatToBFloat16(v)});
  };
  EXPECT_EQ(Of(f16(1.5f), f16(1.0f)).max_abs_err, 0.5);
  EXPECT_EQ(Of(bf16(1.5f), bf16(1.0f)).max_abs_err, 0.5);
}

TEST(CompareTest, NamesTheFirstElementByItsIndex) {
  absl::StatusOr<Tensor> a = F32({0, 0, 0, 0, 1, 1}).Reshape({2, 3});
  absl::StatusOr<Tensor> b = F32({0, 0, 0, 0, 0, 0}).Reshape({2, 3});
  EXPECT_THAT(Of(*a, *b).problem, HasSubstr("[1, 1] is 1"));
}

TEST(SummarizeTest, LeavesNanOut) {
  absl::StatusOr<Summary> s = Summarize(F32({1, kNan, 3, 2, 2, 2, 2}));
  ASSERT_TRUE(s.ok());
  EXPECT_EQ(s->min, 1);
  EXPECT_EQ(s->max, 3);
  EXPECT_EQ(s->mean, 2);
  EXPECT_EQ(s->nans, 1);
  EXPECT_EQ(s->first, "1 nan 3 2 2 ...");
}

TEST(SummarizeTest, HasNoExtremesWithoutNumbers) {
  absl::StatusOr<Summary> s = Summarize(F32({}));
  ASSERT_TRUE(s.ok());
  EXPECT_EQ(s->first, "");
  EXPECT_TRUE(std::isnan(s->min) && std::isnan(s->max) && std::isnan(s->mean));
  s = Summarize(F32({kNan, kNan}));
  ASSERT_TRUE(s.ok());
  EXPECT_EQ(s->nans, 2);
  EXPECT_TRUE(std::isnan(s->min) && std::isnan(s->max) && std::isnan(s->mean));
}

}  // namespace
}  // namespace ingot
