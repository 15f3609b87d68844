#include "loaders/text_lines.h"

#include <algorithm>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "runtime/tensor.h"

namespace ingot {
namespace {

bool Read(absl::string_view word, int64_t* out) {
  return absl::SimpleAtoi(word, out);
}
bool Read(absl::string_view word, float* out) {
  return absl::SimpleAtof(word, out);
}

}  // namespace

absl::Status ReadLines(absl::string_view text,
                       const std::function<absl::Status(Words)>& read) {
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    const std::vector<absl::string_view> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
    if (words.empty() || words[0][0] == '#') continue;
    if (absl::Status s = read(words); !s.ok()) {
      return Annotate(s, absl::StrCat("line ", number));
    }
  }
  return absl::OkStatus();
}

Words Behind(absl::string_view key, Words words) {
  auto from = std::find(words.begin(), words.end(), key);
  if (from != words.end()) ++from;
  const auto to = std::find_if(from, words.end(), [](absl::string_view word) {
    return absl::EndsWith(word, ":");
  });
  return words.subspan(from - words.begin(), to - from);
}

template <typename T>
absl::Status ReadNumbers(Words words, std::vector<T>* numbers) {
  for (absl::string_view word : words) {
    if (!Read(word, &numbers->emplace_back())) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", word, "' is not an integer that is expected here"));
    }
  }
  return absl::OkStatus();
}

template absl::Status ReadNumbers(Words words, std::vector<int64_t>* numbers);
template absl::Status ReadNumbers(Words words, std::vector<float>* numbers);

absl::Status ReadShape(Words words, std::vector<int64_t>* shape,
                       int64_t* elements) {
  INGOT_RETURN_IF_ERROR(ReadNumbers(words, shape));
  absl::StatusOr<int64_t> count = CountElements(*shape);
  if (count.ok()) *elements = *count;
  return count.status();
}

}  // namespace ingot
