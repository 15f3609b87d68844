#include "base/closest_names.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::ElementsAre;

TEST(ClosestNamesTest, FindsTyposAndStarts) {
  const std::vector<std::string> known = {"compile", "list", "link", "run"};
  EXPECT_THAT(ClosestNames("complie", known), ElementsAre("compile"));
  EXPECT_THAT(ClosestNames("comp", known), ElementsAre("compile"));
  EXPECT_THAT(ClosestNames("lisk", known), ElementsAre("link", "list"));
  EXPECT_THAT(ClosestNames("zzzzzz", known), ElementsAre());
}

TEST(ClosestNamesTest, DidYouMeanSaysNothingWithoutAName) {
  const std::vector<std::string> known = {"-min-region", "-O"};
  EXPECT_EQ(DidYouMean("-minregion", known), "did you mean -min-region?");
  EXPECT_EQ(DidYouMean("-vector-bits", known), "");
}

}  // namespace
}  // namespace ingot
