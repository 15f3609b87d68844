#include "tests/filetests/filetest.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace ingot::filetest {
namespace {

constexpr absl::string_view kRun = "# run:";
constexpr absl::string_view kExpect = "# expect:";
constexpr absl::string_view kError = "# error:";

// Without blank lines at the ends; with one line break at the end if any text.
std::string Trimmed(absl::string_view text) {
  while (!text.empty() && absl::ascii_isspace(text.back())) {
    text.remove_suffix(1);
  }
  while (true) {
    const size_t end = text.find('\n');
    if (end == absl::string_view::npos) break;
    const absl::string_view line = text.substr(0, end);
    if (!absl::StripAsciiWhitespace(line).empty()) break;
    text.remove_prefix(end + 1);
  }
  return text.empty() ? std::string() : absl::StrCat(text, "\n");
}

absl::Status Bad(int line, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("line ", line, ": ", what));
}

}  // namespace

absl::StatusOr<File> ParseFile(absl::string_view text) {
  File file;
  std::string part;
  enum { kComment, kInput, kOutput } where = kComment;
  auto finish = [&]() {
    if (where == kComment) {
      file.comment = Trimmed(part);
    } else if (where == kInput) {
      file.cases.back().input = Trimmed(part);
    } else if (!file.cases.back().expects_error) {
      file.cases.back().expected = Trimmed(part);
    }
    part.clear();
  };
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    absl::string_view rest = line;
    if (absl::ConsumePrefix(&rest, kRun)) {
      finish();
      Case test;
      test.line = number;
      std::vector<std::string> words =
          absl::StrSplit(rest, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
      if (words.empty()) return Bad(number, "# run: without a category");
      test.category = words[0];
      test.args.assign(words.begin() + 1, words.end());
      file.cases.push_back(std::move(test));
      where = kInput;
      continue;
    }
    const bool error = absl::StartsWith(line, kError);
    if (error || absl::StartsWith(line, kExpect)) {
      if (where != kInput) return Bad(number, "no # run: line before it");
      finish();
      Case& test = file.cases.back();
      test.has_expectation = true;
      test.expects_error = error;
      if (error) {
        test.expected =
            std::string(absl::StripAsciiWhitespace(line.substr(kError.size())));
      }
      where = kOutput;
      continue;
    }
    absl::StrAppend(&part, line, "\n");
  }
  finish();
  if (file.cases.empty()) return Bad(1, "no # run: line");
  return file;
}

std::string FormatFile(const File& file) {
  std::string text = file.comment;
  for (const Case& test : file.cases) {
    if (!text.empty()) text += "\n";
    absl::StrAppend(&text, kRun, " ", test.category);
    for (const std::string& arg : test.args) absl::StrAppend(&text, " ", arg);
    absl::StrAppend(&text, "\n", test.input);
    if (test.expects_error) {
      absl::StrAppend(&text, kError, " ", test.expected, "\n");
    } else {
      absl::StrAppend(&text, kExpect, "\n", test.expected);
    }
  }
  return text;
}

absl::StatusOr<Case> RunCase(const Case& test, const Categories& categories) {
  auto it = categories.find(test.category);
  if (it == categories.end()) {
    return absl::NotFoundError(absl::StrCat(
        "no category '", test.category, "'; known: ",
        absl::StrJoin(categories, ", ", [](std::string* out, const auto& c) {
          out->append(c.first);
        })));
  }
  const absl::StatusOr<std::string> output = it->second(test.input, test.args);
  Case actual = test;
  actual.has_expectation = true;
  actual.expects_error = !output.ok();
  if (output.ok()) {
    actual.expected = Trimmed(*output);
    return actual;
  }
  const std::string message(output.status().message());
  if (!test.expects_error || test.expected.empty() ||
      !absl::StrContains(message, test.expected)) {
    // An expectation is one line.
    actual.expected = std::string(absl::StripAsciiWhitespace(
        message.substr(0, std::min(message.find('\n'), message.size()))));
  }
  return actual;
}

std::string Difference(const Case& expected, const Case& actual) {
  if (expected.expects_error == actual.expects_error &&
      expected.expected == actual.expected && expected.has_expectation) {
    return "";
  }
  auto part = [](const Case& test) {
    if (!test.has_expectation) return std::string("nothing\n");
    return test.expects_error ? absl::StrCat("error: ", test.expected, "\n")
                              : test.expected;
  };
  return absl::StrCat("---- expected ----\n", part(expected),
                      "---- actual ----\n", part(actual));
}

}  // namespace ingot::filetest
