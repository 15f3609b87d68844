#include "base/utf8.h"

#include "gtest/gtest.h"

namespace ingot {
namespace {

TEST(Utf8Test, LengthOfTheFirstCodePoint) {
  EXPECT_EQ(Utf8SequenceLength("a"), 1u);
  EXPECT_EQ(Utf8SequenceLength("\xC3\xA9z"), 2u);         // é
  EXPECT_EQ(Utf8SequenceLength("\xE2\x82\xAC"), 3u);      // €
  EXPECT_EQ(Utf8SequenceLength("\xF0\x9F\x98\x80"), 4u);  // U+1F600
  EXPECT_EQ(Utf8SequenceLength("\xF4\x8F\xBF\xBF"), 4u);  // U+10FFFF
  EXPECT_EQ(Utf8SequenceLength(""), 0u);
}

TEST(Utf8Test, RefusesWhatTheStandardForbids) {
  for (const absl::string_view bad : {"\x80",      // a continuation byte first
                                      "\xC3",      // cut off
                                      "\xC3z",     // not continued
                                      "\xC0\x80",  // overlong forms
                                      "\xE0\x80\x80", "\xF0\x80\x80\x80",
                                      "\xED\xA0\x80",      // a surrogate
                                      "\xF4\x90\x80\x80",  // above U+10FFFF
                                      "\xF8\x88\x80\x80\x80", "\xFF"}) {
    EXPECT_EQ(Utf8SequenceLength(bad), 0u);
    EXPECT_FALSE(IsUtf8(bad));
  }
  EXPECT_TRUE(IsUtf8(""));
  EXPECT_TRUE(IsUtf8("caf\xC3\xA9 \xE2\x82\xAC"));
  EXPECT_FALSE(IsUtf8("caf\xC3\xA9 \xE2\x82"));
}

}  // namespace
}  // namespace ingot
