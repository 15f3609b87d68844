#include "compiler/relay/pattern.h"

#include "gtest/gtest.h"

namespace ingot::relay {
namespace {

TEST(PatternTest, PrintsWhatItMatches) {
  const Pattern conv =
      Pattern::Op({"conv2d", "conv3d"}, {Pattern::Any(), Pattern::Constant()});
  EXPECT_EQ(conv.ToString(), "(conv2d|conv3d)(*, const)");
  const Pattern biased = Pattern::Maybe({"add"}, conv, {Pattern::Constant()});
  EXPECT_EQ(Pattern::Op({"relu"}, {biased}).ToString(),
            "relu([add]((conv2d|conv3d)(*, const), const))");
  EXPECT_EQ(Pattern::Op({"concat"}).ToString(), "concat");
}

}  // namespace
}  // namespace ingot::relay
