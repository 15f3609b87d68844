#include "tools/ingot/output.h"

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/ingot/json.h"
#include "tools/ingot/wrap.h"

namespace ingot {
namespace {

TEST(ReportTest, SizesAndTimes) {
  EXPECT_EQ(HumanSize(0), "0 B");
  EXPECT_EQ(HumanSize(1023), "1023 B");
  EXPECT_EQ(HumanSize(1536), "1.5 KiB");
  EXPECT_EQ(HumanSize(1048575), "1.0 MiB");
  EXPECT_EQ(HumanSize(uint64_t{3} << 30), "3.0 GiB");
  EXPECT_EQ(HumanSize(uint64_t{5000} << 40), "5000.0 TiB");
  EXPECT_EQ(HumanTime(1.5e-7), "150 ns");
  EXPECT_EQ(HumanTime(0.00083), "830 us");
  EXPECT_EQ(HumanTime(0.0124), "12.4 ms");
  EXPECT_EQ(HumanTime(3.214), "3.21 s");
  // Not 1e+03 of the smaller unit.
  EXPECT_EQ(HumanTime(0.9997e-6), "1 us");
  EXPECT_EQ(HumanTime(0.9996e-3), "1 ms");
  EXPECT_EQ(HumanTime(0.9997), "1 s");
  EXPECT_EQ(HumanTime(1200), "1200 s");
}

TEST(ReportTest, NumbersHaveNoSignedNan) {
  EXPECT_EQ(HumanNumber(-std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(HumanNumber(1.0 / 3), "0.3333");
}

TEST(ReportTest, OneLineForgesNothing) {
  EXPECT_EQ(OneLine("one\ntwo\n  three\n"), "one; two; three");
  EXPECT_EQ(OneLine("these files differ:\n  a.c\n  b.c"),
            "these files differ: a.c; b.c");
  EXPECT_EQ(OneLine("a\x1b[31mred\tb\x7f\r"), "a[31mred b");
  EXPECT_EQ(OneLine("\xC2\x9B"
                    "31m \xC3\xA9"),
            "31m \xC3\xA9");
}

TEST(ReportTest, PrintableKeepsLines) {
  EXPECT_EQ(Printable("a\n\tb\x1b[2J\x07"), "a\n\tb[2J");
}

TEST(ReportTest, WhereSaysAPlaceOnce) {
  const absl::Status status = absl::NotFoundError("file: gone");
  EXPECT_EQ(Where(status, "file").message(), "file: gone");
  EXPECT_EQ(Where(status, "il").message(), "il: file: gone");
  EXPECT_EQ(Where(status, "disk").message(), "disk: file: gone");
}

TEST(TableTest, AlignsColumns) {
  Table table({"NAME", ">SIZE", "LAST"});
  table.Add({"a", "5 B", "x"});
  table.Add({"l\xC3\xA4nger", "1234 B", ""});
  EXPECT_EQ(table.ToString(),
            "NAME      SIZE  LAST\n"
            "a          5 B  x\n"
            "l\xC3\xA4nger  1234 B\n");
}

Table NodesAndReasons() {
  Table table({"NODE", ">CALLS", "WHY"});
  table.Add({"/features/features.3/expand1x1/Conv", "12", "only f32, not i8"});
  table.Add({"/features/features.4/Relu", "1", ""});
  return table;
}

TEST(TableTest, IsAsWideAsItNeedsToBe) {
  EXPECT_EQ(NodesAndReasons().ToString(kAnyWidth),
            "NODE                                 CALLS  WHY\n"
            "/features/features.3/expand1x1/Conv     12  only f32, not i8\n"
            "/features/features.4/Relu                1\n");
}

TEST(TableTest, BreaksWhatIsTooWide) {
  EXPECT_EQ(NodesAndReasons().ToString(52),
            "NODE                         CALLS  WHY\n"
            "/features/features.3/           12  only f32, not i8\n"
            "expand1x1/Conv\n"
            "/features/features.4/Relu        1\n");
}

TEST(TableTest, PutsBeneathWhatWouldTakeManyMoreLinesBeside) {
  Table table({"NODE", ">CALLS", "WHY"});
  for (const char* const calls : {"12", "1"}) {
    table.Add({"/features/features.3/expand1x1/Conv", calls,
               "only f32, not i8; only strides of one; only channel groups of "
               "one; only dense weights"});
  }
  table.Add({"/features/features.4/Relu", "1", ""});
  EXPECT_EQ(table.ToString(42),
            "NODE                                 CALLS\n"
            "    WHY\n"
            "/features/features.3/expand1x1/Conv     12\n"
            "    only f32, not i8; only strides of one;\n"
            "    only channel groups of one; only dense\n"
            "    weights\n"
            "/features/features.3/expand1x1/Conv      1\n"
            "    only f32, not i8; only strides of one;\n"
            "    only channel groups of one; only dense\n"
            "    weights\n"
            "/features/features.4/Relu                1\n");
}

TEST(TableTest, NoWidthIsTooSmall) {
  for (size_t width = 0; width < 60; ++width) {
    const std::string text = NodesAndReasons().ToString(width);
    EXPECT_THAT(text, testing::HasSubstr("12")) << width;
    if (width < 25) continue;
    for (const absl::string_view line : absl::StrSplit(text, '\n')) {
      EXPECT_LE(line.size(), width) << text;
    }
  }
}

// The text that progress left in a file.
std::string Written(const Progress::Options& base, int updates) {
  Progress::Options options = base;
  options.stream = tmpfile();
  {
    Progress progress(options);
    for (int i = 0; i < updates; ++i) progress.Update("work\n", 0.5);
  }
  std::string text(1000, '\0');
  rewind(options.stream);
  text.resize(fread(&text[0], 1, text.size(), options.stream));
  fclose(options.stream);
  return text;
}

TEST(ProgressTest, QuickWorkLeavesNoTraceInALog) {
  EXPECT_EQ(Written({}, 3), "");
}

TEST(ProgressTest, LongWorkGetsLines) {
  Progress::Options options;
  options.between_lines = absl::ZeroDuration();
  EXPECT_EQ(Written(options, 2), "[ 50%] work\n[ 50%] work\n");
  options.quiet = true;
  EXPECT_EQ(Written(options, 2), "");
}

TEST(JsonTest, OneLineWhateverTheNames) {
  testing::internal::CaptureStdout();
  PrintJson({{"name", "a\xFF\n"},
             {"value", std::numeric_limits<double>::infinity()}});
  fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "{\"name\":\"a\xEF\xBF\xBD\\n\",\"value\":null}\n");
}

}  // namespace
}  // namespace ingot
