#include "tools/ingot/wrap.h"

#include <pty.h>
#include <unistd.h>

#include <cstdio>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::ElementsAre;

TEST(WrapTest, BreaksAtSpaces) {
  EXPECT_THAT(Wrap("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(Wrap("one two three", 13), ElementsAre("one two three"));
  EXPECT_THAT(Wrap("", 7), ElementsAre(""));
}

TEST(WrapTest, BreaksLongWordsAfterJoints) {
  EXPECT_THAT(
      Wrap("/features/features.3/expand1x1_activation/Relu", 20),
      ElementsAre("/features/features.", "3/expand1x1_", "activation/Relu"));
  EXPECT_THAT(Wrap("abcdefgh", 3), ElementsAre("abc", "def", "gh"));
}

TEST(WrapTest, CountsCharactersAndCutsNone) {
  EXPECT_THAT(Wrap("\xC3\xA4\xC3\xB6\xC3\xBC", 2),
              ElementsAre("\xC3\xA4\xC3\xB6", "\xC3\xBC"));
  EXPECT_EQ(DisplayWidth("\xC3\xA4\xC3\xB6"), 2u);
}

TEST(WrapTest, IndentsWhatFollows) {
  EXPECT_EQ(WrapAt(2, "one two three", 9), "one two\n  three");
  EXPECT_EQ(WrapAt(2, "one two", kAnyWidth), "one two");
  EXPECT_EQ(WrapAt(9, "ab", 4), "a\n         b");
}

TEST(WrapTest, ATerminalHasAWidth) {
  const winsize size = {40, 93, 0, 0};
  int master = 0, slave = 0;
  ASSERT_EQ(openpty(&master, &slave, nullptr, nullptr, &size), 0);
  FILE* stream = fdopen(slave, "w");
  EXPECT_EQ(WidthOf(stream), 93u);
  fclose(stream);
  close(master);
}

TEST(WrapTest, AFileHasLinesOfAnyLength) {
  FILE* file = tmpfile();
  EXPECT_EQ(WidthOf(file), kAnyWidth);
  fclose(file);
}

}  // namespace
}  // namespace ingot
