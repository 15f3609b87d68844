#include "compiler/relay/pattern_parser.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::relay {
namespace {

using ::testing::HasSubstr;

TEST(PatternParserTest, ReadsWhatIsPrinted) {
  for (const std::string text :
       {"relu", "relu|clip", "relu(*)", "add(dense(*, const), const)",
        "(conv2d|conv3d)(*, const)",
        "[relu|clip](add((conv2d|conv3d)(*, const), *))",
        "relu([add]([mul](*, const), const))"}) {
    const auto pattern = ParsePattern(text);
    ASSERT_TRUE(pattern.ok()) << text << ": " << pattern.status();
    EXPECT_EQ(pattern->ToString(), text);
  }
}

TEST(PatternParserTest, ErrorsSayWhere) {
  const auto error = [](const std::string& text) {
    return std::string(ParsePattern(text).status().message());
  };
  EXPECT_THAT(error("add(dens(*), const)"),
              HasSubstr("1:5: relay has no operator 'dens'"));
  EXPECT_THAT(error("*"), HasSubstr("1:1: expected a call of an operator"));
  EXPECT_THAT(error("const"), HasSubstr("1:1: expected a call of an operator"));
  EXPECT_THAT(error(""), HasSubstr("expected an operator"));
  EXPECT_THAT(error("relu(*"), HasSubstr("1:7: expected"));
  EXPECT_THAT(error("relu(*) relu"), HasSubstr("1:9: expected the end"));
  EXPECT_THAT(error("[relu]"), HasSubstr("1:7: expected what it may be just"));
  EXPECT_THAT(error("relu(#)"), HasSubstr("1:6"));
  std::string deep;
  for (int i = 0; i < 300; ++i) deep += "relu(";
  EXPECT_THAT(error(deep), HasSubstr("nest"));
}

}  // namespace
}  // namespace ingot::relay
