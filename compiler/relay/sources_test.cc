#include "compiler/relay/sources.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::relay {
namespace {

using ::testing::ElementsAre;

TEST(Sources, HaveEachNameOnceInTheOrderOfAddition) {
  Sources sources = {"b", "a", "b"};
  sources.Add("c");
  sources.Add("a");
  EXPECT_THAT(sources, ElementsAre("b", "a", "c"));
  sources.Add(Sources{"d", "b", "e"});
  EXPECT_THAT(sources, ElementsAre("b", "a", "c", "d", "e"));
}

TEST(Sources, AddThemselves) {
  Sources few = {"a", "b"};
  few.Add(few);
  EXPECT_THAT(few, ElementsAre("a", "b"));
  Sources many;
  for (int i = 0; i < 100; ++i) many.Add(absl::StrCat(i));
  many.Add(many);
  EXPECT_EQ(many.size(), 100u);
}

// Few names are compared one by one, many are looked up.
TEST(Sources, AreTheSameBeforeAndAfterTheyAreMany) {
  Sources sources;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 40; ++i) {
      sources.Add(absl::StrCat(i));
      sources.Add(absl::StrCat(i / 2));
    }
  }
  ASSERT_EQ(sources.size(), 40u);
  int i = 0;
  for (const std::string& name : sources) EXPECT_EQ(name, absl::StrCat(i++));
}

TEST(Sources, TakeAHundredThousandNames) {
  Sources sources;
  for (int i = 0; i < 100'000; ++i) {
    Sources one = {absl::StrCat(i)};
    one.Add(absl::StrCat(i / 2));
    sources.Add(one);
  }
  EXPECT_EQ(sources.size(), 100'000u);
}

}  // namespace
}  // namespace ingot::relay
