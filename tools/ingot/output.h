// Output of the command: tables, sizes, JSON and progress.

#ifndef INGOT_TOOLS_INGOT_OUTPUT_H_
#define INGOT_TOOLS_INGOT_OUTPUT_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace ingot {

// "0 B", "1.5 KiB", "27.3 MiB".
std::string HumanSize(uint64_t bytes);

// "150 ns", "830 us", "12.4 ms", "3.21 s".
std::string HumanTime(double seconds);

// A number for a person: four significant digits, "nan", "inf".
std::string HumanNumber(double value);

// `text` on one line: line breaks become "; " and other control characters
// vanish, so that a name from a file can not forge lines or drive a terminal.
std::string OneLine(absl::string_view text);

// `line`, of which at most `most` bytes are kept: its beginning and its end,
// which say where and why, with "…" between them. No character is cut in two.
std::string Cut(absl::string_view line, size_t most = 900);
// A cell of a table should have so many bytes at most.
inline constexpr size_t kShort = 180;

// `text` without control characters other than line breaks and tabs.
std::string Printable(absl::string_view text);

// Annotate, unless the message already has `where` as a word.
absl::Status Where(const absl::Status& status, absl::string_view where);

// Rows under a header, in columns as wide as they need to be.
class Table {
 public:
  // A header that starts with ">" is of a column that is aligned right.
  explicit Table(std::vector<std::string> header);
  // As many cells as the header has.
  void Add(std::vector<std::string> cells);
  // Fits the terminal that stdout is, as the next one says.
  std::string ToString() const;
  // With lines of at most `width` columns, as far as those that are aligned
  // right leave room: others are broken or, where that saves many lines, stand
  // beneath the row, indented.
  std::string ToString(size_t width) const;

 private:
  struct Layout;
  Layout LayOut(size_t width, size_t beside) const;

  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;  // the header first
};

// Writes to stdout. Failed writes are found by FlushOutput.
void Print(absl::string_view text);

// Writes a line to stderr: something that is no error, but is not as the user
// may think.
void Warn(absl::string_view line);

// Unavailable when what was printed could not be written.
absl::Status FlushOutput();

// Shows how far a long piece of work has come. On a terminal a bar that redraws
// itself; elsewhere a line every few seconds, so that quick work leaves no
// trace in a log. Not thread-safe.
class Progress {
 public:
  struct Options {
    FILE* stream = stderr;
    bool quiet = false;
    // Elsewhere than on a terminal.
    absl::Duration between_lines = absl::Seconds(5);
  };

  Progress() : Progress(Options()) {}
  explicit Progress(const Options& options);
  ~Progress() { Clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `fraction` in [0, 1] of the whole.
  void Update(absl::string_view what, double fraction);

  // Removes the bar, for other output.
  void Clear();

 private:
  const Options options_;
  const bool terminal_;
  absl::Time last_;
  bool drawn_ = false;
};

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_OUTPUT_H_
