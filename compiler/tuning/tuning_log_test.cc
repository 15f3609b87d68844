#include "compiler/tuning/tuning_log.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::tuning {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kLine[] =
    "kernel=3f2a target=llvm/9c ingot=0.1.0 operation=1 template=cpu.matmul "
    "best=vectors=2,rows=6 ms=0.5 estimated=vectors=4,rows=3 "
    "estimated_ms=0.625 threads=2";
const TuningKey kKey = {"3f2a", "llvm/9c", "0.1.0", 1, "cpu.matmul"};

class TuningLogTest : public testing::Test {
 protected:
  TuningLog Parse(const std::string& text) {
    bad_.clear();
    return TuningLog::Parse(text, [&](int64_t line, absl::string_view why) {
      bad_.push_back(absl::StrCat(line, ": ", why));
    });
  }

  std::vector<std::string> bad_;
};

TEST_F(TuningLogTest, ReadsWhatItWrites) {
  const TuningLog log = Parse(kLine);
  EXPECT_THAT(bad_, IsEmpty());
  const TuningResult* result = log.Find(kKey);
  ASSERT_NE(result, nullptr);
  EXPECT_EQ(result->best, "vectors=2,rows=6");
  EXPECT_EQ(result->ms, 0.5);
  EXPECT_EQ(result->estimated, "vectors=4,rows=3");
  EXPECT_EQ(result->estimated_ms, 0.625);
  EXPECT_EQ(result->threads, 2);
  EXPECT_EQ(log.ToString().substr(0, 1), "#");
  EXPECT_NE(log.ToString().find(absl::StrCat("\n", kLine, "\n")),
            std::string::npos);
  EXPECT_EQ(Parse(log.ToString()).ToString(), log.ToString());
}

TEST_F(TuningLogTest, EveryPartOfTheKeyCounts) {
  const TuningLog log = Parse(kLine);
  TuningKey other = kKey;
  other.kernel = "3f2b";
  EXPECT_EQ(log.Find(other), nullptr);
  other = kKey;
  other.target = "llvm/9d";
  EXPECT_EQ(log.Find(other), nullptr);
  other = kKey;
  other.ingot = "0.2.0";
  EXPECT_EQ(log.Find(other), nullptr);
  other = kKey;
  other.operation = 0;
  EXPECT_EQ(log.Find(other), nullptr);
  other = kKey;
  other.schedule_template = "cpu.window";
  EXPECT_EQ(log.Find(other), nullptr);
}

TEST_F(TuningLogTest, TheLastLineCounts) {
  std::string later = kLine;
  later.replace(later.find("rows=6"), 6, "rows=5");
  const std::string first = absl::StrCat("# one\n\n", kLine, "\r\n");
  EXPECT_EQ(Parse(absl::StrCat(first, later, "\n")).Find(kKey)->best,
            "vectors=2,rows=5");
  EXPECT_EQ(Parse(absl::StrCat(later, "\n", first)).Find(kKey)->best,
            "vectors=2,rows=6");
  EXPECT_THAT(bad_, IsEmpty());
}

TEST_F(TuningLogTest, SaysWhichLinesMakeNoSense) {
  auto with = [](const std::string& from, const std::string& to) {
    std::string line = kLine;
    line.replace(line.find(from), from.size(), to);
    return line;
  };
  const TuningLog log = Parse(absl::StrCat(
      "nonsense\n", kLine, "\n", with(" ms=0.5", " ms=fast"), "\n",
      with(" ms=0.5", " ms=-1"), "\n", with("operation=1", "operation=x"), "\n",
      with("kernel=3f2a ", ""), "\n", with("threads=2", "threads="), "\n",
      with("threads=2", "ms=2"), "\n", with("3f2a", "3f\x01"), "\n",
      with("3f2a", std::string(5000, 'a')), "\n",
      // A later version may write it.
      with("threads=2", "threads=2 watts=9"), "\n",
      std::string("kernel=3f2a target=llvm/9c")));
  EXPECT_THAT(
      bad_,
      ElementsAre("1: 'nonsense' is no name=value", "3: ms=fast is no time",
                  "4: ms=-1 is no time", "5: operation=x is no count",
                  "6: there is no kernel", "7: there is no threads",
                  "8: two words ms", "9: not printable ASCII",
                  "10: longer than 4096 bytes", "12: there is no ingot"));
  EXPECT_EQ(log.results().size(), 1u);
  EXPECT_NE(log.Find(kKey), nullptr);
}

}  // namespace
}  // namespace ingot::tuning
