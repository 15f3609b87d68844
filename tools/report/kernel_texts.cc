#include "tools/report/kernel_texts.h"

#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace ingot::report {
namespace {

bool IsNameChar(char c) {
  return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '$';
}

// The function that a line at the margin begins a part of: the owner of the
// first name in it that has one.
std::string OwnerOfLine(absl::string_view line,
                        const FunctionNames& functions) {
  for (size_t i = 0; i < line.size();) {
    size_t end = i;
    while (end < line.size() && IsNameChar(line[end])) ++end;
    if (end > i) {
      std::string owner = OwnerOf(line.substr(i, end - i), functions);
      if (!owner.empty()) return owner;
    }
    i = end + 1;
  }
  return "";
}

// Whether a line goes on with what is above it: it is indented, empty, or
// begins with what closes or goes on.
bool Continues(absl::string_view line) {
  return line.empty() || absl::ascii_isspace(line[0]) || line[0] == '{' ||
         line[0] == '}' || line[0] == ')';
}

bool IsComment(absl::string_view line) {
  return absl::StartsWith(line, "/*") || absl::StartsWith(line, "//");
}

// A text so far, which stops growing when it is long.
class Cut {
 public:
  explicit Cut(size_t most_bytes) : most_bytes_(most_bytes) {}

  void Add(absl::string_view line, std::string* text) const {
    if (text->size() > most_bytes_) return;
    absl::StrAppend(text, line, "\n");
    if (text->size() > most_bytes_) {
      absl::StrAppend(text, "… the rest is in the artifact\n");
    }
  }

 private:
  const size_t most_bytes_;
};

}  // namespace

std::string OwnerOf(absl::string_view name, const FunctionNames& functions) {
  if (functions.count(name) > 0) return std::string(name);
  for (const absl::string_view mark : {".", "_parallel_"}) {
    const absl::string_view base = name.substr(0, name.find(mark));
    if (functions.count(base) > 0) return std::string(base);
  }
  return "";
}

std::map<std::string, std::string> FindKernelTexts(
    absl::string_view text, const FunctionNames& functions, size_t most_bytes) {
  const Cut cut(most_bytes);
  std::map<std::string, std::string> found;
  std::string owner;    // of the lines now
  std::string comment;  // above what comes next
  std::string named;    // the function that it begins with
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (IsComment(line)) {
      owner.clear();
      absl::StrAppend(&comment, line, "\n");
      absl::string_view first = absl::StripPrefix(line, "/* ");
      first = first.substr(0, first.find(':'));
      named = functions.count(first) > 0 ? std::string(first) : "";
      continue;
    }
    if (!Continues(line)) {
      owner = named.empty() ? OwnerOfLine(line, functions) : named;
      // A declaration says nothing.
      if (absl::EndsWith(line, ");")) owner.clear();
      if (!owner.empty() && !comment.empty()) {
        cut.Add(absl::StripSuffix(comment, "\n"), &found[owner]);
      }
      comment.clear();
      named.clear();
    }
    if (!owner.empty()) cut.Add(line, &found[owner]);
  }
  for (auto& [name, part] : found) {
    absl::StripTrailingAsciiWhitespace(&part);
    part += '\n';
  }
  return found;
}

}  // namespace ingot::report
