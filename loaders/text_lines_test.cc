#include "loaders/text_lines.h"

#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(TextLines, AreWordsWithTheirNumbers) {
  std::vector<std::string> seen;
  const auto read = [&](Words words) -> absl::Status {
    seen.push_back(absl::StrJoin(words, "|"));
    if (words[0] == "bad") return absl::NotFoundError("what is this?");
    return absl::OkStatus();
  };
  EXPECT_EQ(ReadLines("\n# not this\n  a \t b\r\n\nbad line\nmore", read),
            absl::NotFoundError("line 5: what is this?"));
  EXPECT_THAT(seen, ElementsAre("a|b", "bad|line"));
  EXPECT_EQ(ReadLines("", read), absl::OkStatus());
  EXPECT_EQ(ReadLines(" \n\n#", read), absl::OkStatus());
  EXPECT_EQ(seen.size(), 2u);
}

TEST(TextLines, PartsBehindKeys) {
  const std::vector<absl::string_view> words = {"add", "inputs:", "1",
                                                "2",   "shape:",  "end:"};
  EXPECT_THAT(Behind("inputs:", words), ElementsAre("1", "2"));
  EXPECT_THAT(Behind("shape:", words), IsEmpty());
  EXPECT_THAT(Behind("end:", words), IsEmpty());
  EXPECT_THAT(Behind("none:", words), IsEmpty());
}

TEST(TextLines, NumbersAndShapes) {
  std::vector<float> floats = {1};
  EXPECT_EQ(ReadNumbers<float>({"0.5", "-2e3"}, &floats), absl::OkStatus());
  EXPECT_THAT(floats, ElementsAre(1, 0.5, -2000));
  std::vector<int64_t> shape;
  int64_t elements = 0;
  EXPECT_EQ(ReadShape({"2", "3"}, &shape, &elements), absl::OkStatus());
  EXPECT_THAT(shape, ElementsAre(2, 3));
  EXPECT_EQ(elements, 6);
  for (const auto& [word, message] :
       std::vector<std::pair<const char*, const char*>>{
           {"1.5", "'1.5' is not an integer"},
           {"9223372036854775808", "'9223372036854775808' is not an integer"},
           {"x", "'x' is not an integer"},
           {"-1", "negative"}}) {
    shape.clear();
    EXPECT_THAT(std::string(ReadShape({word}, &shape, &elements).message()),
                HasSubstr(message));
  }
  shape.clear();
  EXPECT_FALSE(ReadShape({"4294967296", "4294967296"}, &shape, &elements).ok());
}

}  // namespace
}  // namespace ingot
