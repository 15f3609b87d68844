#include "compiler/tuning/tuning_log.h"

#include <cmath>
#include <set>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"

namespace ingot::tuning {
namespace {

// Longer ones are none of ours.
constexpr size_t kMaxLine = 4096;

// A word's name and its value, "best=rows=6,vectors=2".
using Words = std::map<absl::string_view, absl::string_view>;

absl::StatusOr<Words> WordsOf(absl::string_view line) {
  if (line.size() > kMaxLine) {
    return absl::InvalidArgumentError(
        absl::StrCat("longer than ", kMaxLine, " bytes"));
  }
  if (!absl::c_all_of(line, [](char c) { return c >= ' ' && c <= '~'; })) {
    return absl::InvalidArgumentError("not printable ASCII");
  }
  Words words;
  for (absl::string_view word :
       absl::StrSplit(line, ' ', absl::SkipWhitespace())) {
    const size_t equals = word.find('=');
    if (equals == 0 || equals == absl::string_view::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", word, "' is no name=value"));
    }
    if (!words.emplace(word.substr(0, equals), word.substr(equals + 1))
             .second) {
      return absl::InvalidArgumentError(
          absl::StrCat("two words ", word.substr(0, equals)));
    }
  }
  return words;
}

// Reads the words of one line that must be there.
class Line {
 public:
  explicit Line(const Words& words) : words_(words) {}

  std::string Text(absl::string_view name) {
    const auto word = words_.find(name);
    if (word == words_.end() || word->second.empty()) {
      Fail(absl::StrCat("there is no ", name));
      return "";
    }
    return std::string(word->second);
  }

  int64_t Count(absl::string_view name) {
    int64_t value = 0;
    const std::string text = Text(name);
    if (!text.empty() && (!absl::SimpleAtoi(text, &value) || value < 0)) {
      Fail(absl::StrCat(name, "=", text, " is no count"));
    }
    return value;
  }

  double Time(absl::string_view name) {
    double value = 0;
    const std::string text = Text(name);
    if (!text.empty() && (!absl::SimpleAtod(text, &value) ||
                          !std::isfinite(value) || value < 0)) {
      Fail(absl::StrCat(name, "=", text, " is no time"));
    }
    return value;
  }

  const absl::Status& status() const { return status_; }

 private:
  void Fail(absl::string_view why) {
    if (status_.ok()) status_ = absl::InvalidArgumentError(why);
  }

  const Words& words_;
  absl::Status status_;
};

absl::Status AddLine(absl::string_view text, TuningLog* log) {
  INGOT_ASSIGN_OR_RETURN(const Words words, WordsOf(text));
  Line line(words);
  TuningKey key;
  key.kernel = line.Text("kernel");
  key.target = line.Text("target");
  key.ingot = line.Text("ingot");
  key.operation = line.Count("operation");
  key.schedule_template = line.Text("template");
  TuningResult result;
  result.best = line.Text("best");
  result.ms = line.Time("ms");
  result.estimated = line.Text("estimated");
  result.estimated_ms = line.Time("estimated_ms");
  result.threads = line.Count("threads");
  INGOT_RETURN_IF_ERROR(line.status());
  log->Add(key, result);
  return absl::OkStatus();
}

}  // namespace

TuningLog TuningLog::Parse(absl::string_view text,
                           const OnBadLine& on_bad_line) {
  TuningLog log;
  int64_t number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripSuffix(line, "\r");
    if (absl::StripAsciiWhitespace(line).empty() || line[0] == '#') continue;
    const absl::Status status = AddLine(line, &log);
    if (!status.ok() && on_bad_line != nullptr) {
      on_bad_line(number, status.message());
    }
  }
  return log;
}

const TuningResult* TuningLog::Find(const TuningKey& key) const {
  const auto found = results_.find(key);
  return found == results_.end() ? nullptr : &found->second;
}

void TuningLog::Add(const TuningKey& key, const TuningResult& result) {
  results_[key] = result;
}

std::string TuningLog::ToString() const {
  std::string text =
      "# What Ingot measured: for each operation of a kernel the parameters of "
      "its schedule that ran it fastest.\n";
  for (const auto& [key, result] : results_) {
    absl::StrAppendFormat(
        &text,
        "kernel=%s target=%s ingot=%s operation=%d template=%s best=%s ms=%.6g "
        "estimated=%s estimated_ms=%.6g threads=%d\n",
        key.kernel, key.target, key.ingot, key.operation, key.schedule_template,
        result.best, result.ms, result.estimated, result.estimated_ms,
        result.threads);
  }
  return text;
}

}  // namespace ingot::tuning
