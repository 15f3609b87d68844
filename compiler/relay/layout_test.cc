#include "compiler/relay/layout.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::relay {
namespace {

TEST(LayoutTest, BlocksHaveSizes) {
  const absl::StatusOr<Layout> layout = ParseLayout("OIHW4i16o");
  ASSERT_TRUE(layout.ok()) << layout.status();
  EXPECT_EQ(layout->Axes(), "OIHWio");
  EXPECT_EQ(layout->Block('I'), 4);
  EXPECT_EQ(layout->Block('O'), 16);
  EXPECT_EQ(layout->Block('H'), 0);
  EXPECT_EQ(layout->Step('O'), 16);
  EXPECT_EQ(layout->Step('H'), 1);
}

TEST(LayoutTest, PlainOnesHaveNoBlocks) {
  for (const char* plain : {"NCHW", "NCW", "OIDHW", "NHWC"}) {
    EXPECT_TRUE(IsPlainLayout(plain)) << plain;
  }
  for (const char* other : {"NCHW8c", "NCHW1c", "OIHW8o", "NCHW?", ""}) {
    EXPECT_FALSE(IsPlainLayout(other)) << other;
  }
}

TEST(LayoutTest, OtherTextsAreRefused) {
  for (const char* bad : {"", "NCHWc", "NCHW0c", "NCHW8C", "NHW8c", "NCCHW",
                          "NCHW8c8c", "8cNCHW", "NCHW8", "NCHW5000c", "NC-W"}) {
    EXPECT_THAT(ParseLayout(bad).status().message(),
                testing::HasSubstr("is not a layout"))
        << bad;
  }
}

}  // namespace
}  // namespace ingot::relay
