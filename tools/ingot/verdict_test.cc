#include "tools/ingot/verdict.h"

#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

Comparison Wrong(double error, double largest) {
  Comparison c;
  c.elements = 4;
  c.mismatches = 1;
  c.max_abs_err = error;
  c.largest = largest;
  c.problem = "[0] is wrong";
  return c;
}

TEST(VerdictTest, SmallErrorsMayBeRounding) {
  Verdict verdict;
  EXPECT_THAT(verdict.RoundingHint(), IsEmpty());
  verdict.Add("set", "a", "f32[4]", Wrong(0.003, 1000));
  EXPECT_THAT(verdict.RoundingHint(), HasSubstr("--rtol-max=1e-5 "));
  // Right ones may be off by anything that the tolerance bears.
  Comparison right = Wrong(1, 1);
  right.problem.clear();
  verdict.Add("set", "b", "f32[4]", right);
  verdict.Add("set", "c", "f32[4]", Wrong(0.5, 1000));
  EXPECT_THAT(verdict.RoundingHint(),
              HasSubstr("0.0005 of an output's largest number may be rounding, "
                        "which --rtol-max=1e-3 bears"));
  verdict.Add("set", "d", "f32[4]", Wrong(2, 1000));
  EXPECT_THAT(verdict.RoundingHint(), IsEmpty());
}

TEST(VerdictTest, OtherTypesAndNansAreNoRounding) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const Comparison& c : {Wrong(0, 0), Wrong(kInfinity, 1)}) {
    Verdict verdict;
    verdict.Add("set", "a", "f32[4]", c);
    EXPECT_THAT(verdict.RoundingHint(), IsEmpty());
  }
}

TEST(VerdictTest, IntegersAreNotRounded) {
  Verdict verdict;
  Comparison c = Wrong(1, 1e9);
  c.is_rounded = false;
  verdict.Add("set", "a", "i64[4]", c);
  EXPECT_THAT(verdict.RoundingHint(), IsEmpty());
}

}  // namespace
}  // namespace ingot
