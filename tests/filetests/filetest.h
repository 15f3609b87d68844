#ifndef INGOT_TESTS_FILETESTS_FILETEST_H_
#define INGOT_TESTS_FILETESTS_FILETEST_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

// Tests as text files: what to run, its input, the exact output.
//
//   # run: tir unroll_loops        the category, then its arguments
//   func @f() -> (%o: i64[2]) { unrolled i in [0, 2) { %o[i] = i } }
//   # expect:
//   func @f() -> (%o: i64[2]) {
//     %o[0] = 0
//     %o[1] = 1
//   }
//
// Where the category is to fail, the last part is one line that the message
// must contain:
//
//   # error: 'i' is not defined
//
// A file may hold several cases; each starts at its `# run:` line. Lines in
// front of the first one are comments. Blank lines at either end of the input
// and of the output do not count.
namespace ingot::filetest {

// Turns the input of a case into its output. Must not keep the arguments.
using Category = std::function<absl::StatusOr<std::string>(
    absl::string_view input, absl::Span<const std::string> args)>;
using Categories = std::map<std::string, Category>;

struct Case {
  int line = 0;  // of its `# run:`, from 1
  std::string category;
  std::vector<std::string> args;
  std::string input;
  std::string expected;  // the output, or part of the error's message
  bool expects_error = false;
  bool has_expectation = false;  // false while it is still to be written
};

struct File {
  std::string comment;  // in front of the first case
  std::vector<Case> cases;
};

// InvalidArgument with the line, for text without cases or of another form.
absl::StatusOr<File> ParseFile(absl::string_view text);

// The text that ParseFile reads back as `file`.
std::string FormatFile(const File& file);

// Runs the case. Returns its output or error as an expectation says it; the
// status is NotFound for an unknown category. Does not look at the expectation
// but for whether it is an error, whose wording it keeps while that holds.
absl::StatusOr<Case> RunCase(const Case& test, const Categories& categories);

// Empty if `actual`, made by RunCase, is as expected; otherwise what differs.
std::string Difference(const Case& expected, const Case& actual);

}  // namespace ingot::filetest

#endif  // INGOT_TESTS_FILETESTS_FILETEST_H_
