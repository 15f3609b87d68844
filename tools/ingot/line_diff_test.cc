#include "tools/ingot/line_diff.h"

#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

TEST(LineDiff, ShowsChangesWithWhatIsAround) {
  EXPECT_EQ(LineDiff("a\nb\nc\n", "a\nb\nc\n"), "");
  EXPECT_EQ(LineDiff("", "x\n"), "@@ -0,0 +1,1 @@\n+x\n");
  EXPECT_EQ(LineDiff("x\n", ""), "@@ -1,1 +0,0 @@\n-x\n");
  EXPECT_EQ(
      LineDiff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
      "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST(LineDiff, DistantChangesAreApart) {
  std::vector<std::string> a, b;
  for (int i = 0; i < 30; ++i) a.push_back(absl::StrCat(i));
  b = a;
  b[2] = "two";
  b.insert(b.begin() + 20, "new");
  EXPECT_EQ(LineDiff(absl::StrJoin(a, "\n"), absl::StrJoin(b, "\n")),
            "@@ -1,6 +1,6 @@\n 0\n 1\n-2\n+two\n 3\n 4\n 5\n"
            "@@ -18,6 +18,7 @@\n 17\n 18\n 19\n+new\n 20\n 21\n 22\n");
}

// `patch` would make this of `a`.
std::vector<std::string> Apply(const std::vector<std::string>& a,
                               const std::string& diff) {
  std::vector<std::string> result;
  size_t at = 0;
  for (absl::string_view line : absl::StrSplit(diff, '\n')) {
    if (line.empty()) continue;
    if (line[0] == '@') {
      size_t start = std::stoul(std::string(line.substr(4)));
      const bool none = line.find(",0 +") != absl::string_view::npos;
      while (at < start - (none ? 0 : 1)) result.push_back(a[at++]);
    } else if (line[0] == '+') {
      result.emplace_back(line.substr(1));
    } else {
      EXPECT_EQ(a[at], line.substr(1));
      if (line[0] == ' ') result.push_back(a[at]);
      ++at;
    }
  }
  while (at < a.size()) result.push_back(a[at++]);
  return result;
}

TEST(LineDiff, AppliedMakesTheOneTheOther) {
  std::mt19937 random(1);
  for (int run = 0; run < 300; ++run) {
    std::vector<std::string> a, b;
    const int length = static_cast<int>(random() % 40) + 1;
    for (int i = 0; i < length; ++i) a.push_back(absl::StrCat(random() % 5));
    for (const std::string& line : a) {
      if (random() % 6 != 0) b.push_back(line);
      if (random() % 6 == 0) b.push_back(absl::StrCat("n", random() % 3));
    }
    if (b.empty()) b.emplace_back("x");
    const std::string diff =
        LineDiff(absl::StrJoin(a, "\n"), absl::StrJoin(b, "\n"));
    EXPECT_EQ(Apply(a, diff), b) << diff;
  }
}

TEST(LineDiff, LargeTextsEndSoon) {
  std::string a, b;
  for (int i = 0; i < 100000; ++i) {
    absl::StrAppend(&a, "a", i, "\n");
    absl::StrAppend(&b, "b", i, "\n");
  }
  EXPECT_GT(LineDiff(a, b).size(), a.size() + b.size());
}

}  // namespace
}  // namespace ingot
