#include "tools/ingot/output.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "base/annotate.h"
#include "tools/ingot/wrap.h"

namespace ingot {
namespace {

// Whether `text` has `word`, and not only as a part of another word.
bool HasWord(absl::string_view text, absl::string_view word) {
  const auto joins = [](char c) {
    return absl::ascii_isalnum(c) || c == '_' || c == '-' || c == '.';
  };
  for (size_t at = text.find(word); at != absl::string_view::npos;
       at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    const bool starts = at == 0 || !joins(text[at - 1]);
    // A dot ends a sentence when nothing follows it.
    const bool ends = end == text.size() || !joins(text[end]) ||
                      (text[end] == '.' && end + 1 == text.size());
    if (starts && ends) return true;
  }
  return false;
}

}  // namespace

std::string HumanSize(uint64_t bytes) {
  if (bytes < 1024) return absl::StrCat(bytes, " B");
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (value >= 1023.95 && unit + 1 < 4) {
    value /= 1024;
    ++unit;
  }
  return absl::StrFormat("%.1f %s", value, kUnits[unit]);
}

std::string HumanTime(double seconds) {
  // Less than what would be shown as a thousand of a unit.
  constexpr double kMost = 999.5;
  if (seconds < kMost * 1e-9) return absl::StrFormat("%.0f ns", seconds * 1e9);
  if (seconds < kMost * 1e-6) return absl::StrFormat("%.0f us", seconds * 1e6);
  if (seconds < kMost * 1e-3) return absl::StrFormat("%.3g ms", seconds * 1e3);
  if (seconds < kMost) return absl::StrFormat("%.3g s", seconds);
  return absl::StrFormat("%.0f s", seconds);
}

std::string HumanNumber(double value) {
  // printf shows a sign that NaN does not have.
  return std::isnan(value) ? "nan" : absl::StrFormat("%.4g", value);
}

std::string Printable(absl::string_view text) {
  std::string safe;
  for (size_t i = 0; i < text.size(); ++i) {
    const unsigned char c = text[i];
    if (c == 0xC2 && i + 1 < text.size() &&
        static_cast<unsigned char>(text[i + 1]) < 0xA0) {
      ++i;  // U+0080 to U+009F: controls that terminals obey, too
    } else if ((c >= 0x20 && c != 0x7F) || c == '\n' || c == '\t') {
      safe += text[i];
    }
  }
  return safe;
}

std::string OneLine(absl::string_view text) {
  std::string line;
  const std::string safe = Printable(absl::StripTrailingAsciiWhitespace(text));
  for (size_t i = 0; i < safe.size(); ++i) {
    if (safe[i] == '\n') {
      // A line that ends in a colon introduces the next.
      absl::StrAppend(&line, !line.empty() && line.back() == ':' ? " " : "; ");
      while (i + 1 < safe.size() &&
             (safe[i + 1] == ' ' || safe[i + 1] == '\n')) {
        ++i;
      }
    } else {
      line += safe[i] == '\t' ? ' ' : safe[i];
    }
  }
  return line;
}

std::string Cut(absl::string_view line, size_t most) {
  if (line.size() <= most) return std::string(line);
  const size_t beginning = most * 5 / 9, end = most - beginning;
  const auto continues = [line](size_t i) {
    return (static_cast<unsigned char>(line[i]) & 0xC0) == 0x80;
  };
  // Bytes that are no UTF-8 may all continue something.
  size_t first = beginning, last = line.size() - end;
  while (first > beginning - 4 && continues(first)) --first;
  while (last < line.size() - end + 4 && continues(last)) ++last;
  return absl::StrCat(line.substr(0, first), "…", line.substr(last));
}

absl::Status Where(const absl::Status& status, absl::string_view where) {
  return HasWord(status.message(), where) ? status : Annotate(status, where);
}

void Print(absl::string_view text) {
  fwrite(text.data(), 1, text.size(), stdout);
}

void Warn(absl::string_view line) {
  absl::FPrintF(stderr, "ingot: note: %s\n", Cut(OneLine(line)));
}

absl::Status FlushOutput() {
  errno = 0;
  if (fflush(stdout) == 0 && ferror(stdout) == 0) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(
      "writing to stdout: ", errno != 0 ? strerror(errno) : "failed"));
}

Progress::Progress(const Options& options)
    : options_(options),
      terminal_(!options.quiet && isatty(fileno(options.stream)) != 0),
      last_(terminal_ ? absl::InfinitePast() : absl::Now()) {}

void Progress::Update(absl::string_view what, double fraction) {
  if (options_.quiet) return;
  const absl::Time now = absl::Now();
  const absl::Duration pause =
      terminal_ ? absl::Milliseconds(100) : options_.between_lines;
  if (now - last_ < pause) return;
  last_ = now;
  fraction = std::min(1.0, std::max(0.0, fraction));
  const int percent = static_cast<int>(fraction * 100);
  if (!terminal_) {
    absl::FPrintF(options_.stream, "[%3d%%] %s\n", percent, OneLine(what));
    return;
  }
  constexpr int kBar = 24;
  const int filled = static_cast<int>(fraction * kBar);
  std::string line =
      absl::StrFormat("[%s%s] %3d%% %s", std::string(filled, '#'),
                      std::string(kBar - filled, '.'), percent, OneLine(what));
  const size_t width = WidthOf(options_.stream);
  if (line.size() >= width) line.resize(width - 1);
  absl::FPrintF(options_.stream, "\r%s\033[K", line);
  fflush(options_.stream);
  drawn_ = true;
}

void Progress::Clear() {
  if (!drawn_) return;
  fputs("\r\033[K", options_.stream);
  fflush(options_.stream);
  drawn_ = false;
}

}  // namespace ingot
