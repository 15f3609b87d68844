#include "tests/filetests/filetest.h"

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace ingot::filetest {
namespace {

Categories TestCategories() {
  return {{"shout",
           [](absl::string_view input, absl::Span<const std::string> args)
               -> absl::StatusOr<std::string> {
             if (input == "bad\n") return absl::InternalError("no\nshouting");
             std::string out(input);
             for (const std::string& arg : args) out += arg;
             return out;
           }}};
}

constexpr char kText[] = R"(What this is about.

# run: shout ! ?
hello
# expect:
hello
!?

# run: shout
bad
# error: no
)";

TEST(FileTestTest, ParsesAndFormats) {
  absl::StatusOr<File> file = ParseFile(kText);
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_EQ(file->cases.size(), 2u);
  EXPECT_EQ(file->cases[0].args, (std::vector<std::string>{"!", "?"}));
  EXPECT_EQ(file->cases[0].input, "hello\n");
  EXPECT_EQ(file->cases[1].line, 9);
  EXPECT_EQ(FormatFile(*file), kText);
}

TEST(FileTestTest, RunsAndCompares) {
  File file = ParseFile(kText).value();
  for (const Case& test : file.cases) {
    absl::StatusOr<Case> actual = RunCase(test, TestCategories());
    ASSERT_TRUE(actual.ok()) << actual.status();
    EXPECT_EQ(Difference(test, *actual), "");
  }
  file.cases[0].expected = "bye\n";
  Case actual = RunCase(file.cases[0], TestCategories()).value();
  EXPECT_NE(Difference(file.cases[0], actual), "");
  EXPECT_EQ(actual.expected, "hello\n!?\n");
  file.cases[1].expected = "yes";
  actual = RunCase(file.cases[1], TestCategories()).value();
  EXPECT_NE(Difference(file.cases[1], actual), "");
  EXPECT_EQ(actual.expected, "no");
}

TEST(FileTestTest, BadFiles) {
  EXPECT_FALSE(ParseFile("hello\n").ok());
  EXPECT_FALSE(ParseFile("# run:\n").ok());
  EXPECT_FALSE(ParseFile("# expect:\n").ok());
  Case unknown;
  unknown.category = "whisper";
  EXPECT_EQ(RunCase(unknown, TestCategories()).status().message(),
            "no category 'whisper'; known: shout");
}

}  // namespace
}  // namespace ingot::filetest
