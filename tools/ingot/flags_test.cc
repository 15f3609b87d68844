#include "tools/ingot/flags.h"

#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/ingot/wrap.h"

namespace ingot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Parsed {
  std::string output;
  std::vector<std::string> shapes;
  bool json = false;
  int64_t threads = 1;
  double rtol = 0.5;
  std::vector<std::string> words;
  absl::StatusOr<bool> result = false;
};

Parsed Parse(const std::vector<std::string>& args) {
  Parsed p;
  FlagSet flags("cook", {"POT", "LID"}, "Cooks.");
  flags.String("o", "OUT", "where", &p.output);
  flags.Strings("input-shape", "NAME:DIMS", "shape", &p.shapes);
  flags.Bool("json", "json", &p.json);
  flags.Int("threads", "N", "threads", 1, 64, &p.threads);
  flags.Double("rtol", "R", "tolerance", &p.rtol);
  p.result = flags.Parse(args);
  if (p.result.ok() && *p.result) p.words = {flags.word(0), flags.word(1)};
  return p;
}

std::string UsageMessage(const std::vector<std::string>& args) {
  const Parsed p = Parse(args);
  if (p.result.ok()) return "parsed";
  EXPECT_TRUE(IsUsageError(p.result.status()));
  return std::string(p.result.status().message());
}

TEST(FlagSetTest, SetsEveryKind) {
  const Parsed p =
      Parse({"a", "-o", "x.so", "--input-shape=i:1x2", "--json", "b",
             "--input-shape=j:3", "--threads=8", "--rtol=1e-3"});
  ASSERT_TRUE(p.result.ok()) << p.result.status();
  EXPECT_TRUE(*p.result);
  EXPECT_EQ(p.output, "x.so");
  EXPECT_THAT(p.shapes, ElementsAre("i:1x2", "j:3"));
  EXPECT_TRUE(p.json);
  EXPECT_EQ(p.threads, 8);
  EXPECT_EQ(p.rtol, 1e-3);
  EXPECT_THAT(p.words, ElementsAre("a", "b"));
}

TEST(FlagSetTest, ValuesMayHoldEqualsAndDashes) {
  EXPECT_EQ(Parse({"a", "b", "-o=-x=y"}).output, "-x=y");
  EXPECT_EQ(Parse({"a", "b", "-o", "-"}).output, "-");
  EXPECT_THAT(Parse({"-o", "x", "--", "--json", "-"}).words,
              ElementsAre("--json", "-"));
}

TEST(FlagSetTest, SaysWhatIsOff) {
  EXPECT_THAT(UsageMessage({"a"}), HasSubstr("needs LID"));
  EXPECT_THAT(UsageMessage({"a", "b", "c"}), HasSubstr("'c'"));
  EXPECT_THAT(UsageMessage({"a", ""}), HasSubstr("empty word"));
  EXPECT_THAT(UsageMessage({"a", "b", "--treads=2"}),
              HasSubstr("no flag --treads; did you mean --threads?"));
  EXPECT_THAT(UsageMessage({"a", "b", "--o=2"}), HasSubstr("no flag --o"));
  EXPECT_THAT(UsageMessage({"a", "b", "-json"}),
              HasSubstr("no flag -json; did you mean --json?"));
  EXPECT_THAT(UsageMessage({"a", "b", "--json=1"}), HasSubstr("no value"));
  EXPECT_THAT(UsageMessage({"a", "b", "--threads"}),
              HasSubstr("--threads needs a value: --threads=N"));
  EXPECT_THAT(UsageMessage({"a", "b", "-o"}), HasSubstr("-o OUT"));
  EXPECT_THAT(UsageMessage({"a", "b", "--json", "--json"}),
              HasSubstr("given twice"));
  EXPECT_THAT(UsageMessage({"a", "b", "--threads=0"}),
              HasSubstr("whole number from 1 to 64"));
  EXPECT_THAT(UsageMessage({"a", "b", "--threads=2x"}),
              HasSubstr("--threads=2x"));
  EXPECT_THAT(UsageMessage({"a", "b", "--rtol=nan"}), HasSubstr("--rtol=nan"));
  EXPECT_THAT(UsageMessage({"a", "b", "--rtol=-1"}), HasSubstr("--rtol=-1"));
}

TEST(FlagSetTest, RequiredFlags) {
  std::string out;
  FlagSet flags("cook", {}, "Cooks.");
  flags.String("o", "OUT", "where", &out);
  flags.Required();
  absl::StatusOr<bool> result = flags.Parse({});
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(std::string(result.status().message()),
              HasSubstr("needs -o OUT"));
  EXPECT_THAT(flags.Help(kAnyWidth),
              HasSubstr("Usage: ingot cook -o OUT [flags]"));
}

TEST(FlagSetTest, HelpIsNoError) {
  testing::internal::CaptureStdout();
  const Parsed p = Parse({"--help", "--nonsense"});
  const std::string help = testing::internal::GetCapturedStdout();
  ASSERT_TRUE(p.result.ok());
  EXPECT_FALSE(*p.result);
  EXPECT_THAT(help, HasSubstr("Usage: ingot cook POT LID [flags]"));
  EXPECT_THAT(help, HasSubstr("--threads=N"));
  EXPECT_THAT(help, HasSubstr("threads [1]"));
}

TEST(FlagSetTest, NoLimitIsNoDefaultToShow) {
  int64_t ram = std::numeric_limits<int64_t>::max();
  FlagSet flags("cook", {}, "Cooks.");
  flags.Int("ram", "BYTES", "fail above", 0, ram, &ram);
  EXPECT_THAT(flags.Help(kAnyWidth), HasSubstr("fail above\n"));
}

TEST(FlagSetTest, HelpFitsATerminal) {
  bool salt = false;
  FlagSet flags("cook", {}, "Cooks\nwhat there is. In pots:\n  a: one pot");
  flags.Bool("salt", "adds it, as much as a pinch", &salt);
  const std::string help = flags.Help(24);
  EXPECT_THAT(help,
              HasSubstr("Cooks what there is. In\npots:\n  a: one pot\n"));
  EXPECT_THAT(flags.Help(40),
              HasSubstr("  --salt  adds it, as much as a pinch\n"));
  EXPECT_THAT(flags.Help(24),
              HasSubstr("  --salt  adds it, as\n          much as a\n"));
}

}  // namespace
}  // namespace ingot
