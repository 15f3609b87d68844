// Reads patterns in RE2's syntax. Internal to this folder.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_TEXT_REGEX_PARSER_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_TEXT_REGEX_PARSER_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "compiler/frontends/onnx/text/regex/syntax.h"

namespace ingot::regex {

class Parser {
 public:
  explicit Parser(absl::string_view pattern) : pattern_(pattern) {}

  // InvalidArgument for what is no pattern of RE2, Unimplemented for what is
  // one, but is not supported; both say what and where.
  absl::StatusOr<Syntax> Parse();

 private:
  struct Flags {
    bool fold_case = false, dot_is_any = false, lines = false;
  };

  bool AtEnd() const { return at_ == pattern_.size(); }
  bool At(absl::string_view text) const {
    return pattern_.substr(at_, text.size()) == text;
  }
  // Skips `text` if it comes next, and returns whether it did.
  bool Take(absl::string_view text);
  char Peek() const { return AtEnd() ? '\0' : pattern_[at_]; }

  template <typename... Args>
  absl::Status Invalid(const Args&... args) const {
    return absl::InvalidArgumentError(absl::StrCat(Where(), args...));
  }
  template <typename... Args>
  absl::Status NotSupported(const Args&... args) const {
    return absl::UnimplementedError(absl::StrCat(Where(), args...));
  }
  std::string Where() const;

  // Up to the end or a ')'.
  absl::StatusOr<Syntax> Alternatives(int depth);
  // One thing that is no repetition, added to `parts`; flags add nothing.
  absl::Status Item(int depth, std::vector<Syntax>* parts);
  absl::Status Group(int depth, std::vector<Syntax>* parts);
  absl::Status GroupName();
  // Reads the flags after "(?" and the ':' or ')' that ends them; returns
  // whether it was a ':'.
  absl::StatusOr<bool> ReadFlags();
  // Reads the rest of an escape outside of a class, after its backslash.
  absl::Status Escape(std::vector<Syntax>* parts);
  // *, +, ? and {n,m}: whether one was there and applied to the last part.
  absl::StatusOr<bool> Repetition(std::vector<Syntax>* parts);
  // {n}, {n,} and {n,m}; not taken if it is none of them.
  bool Counts(int* min, int* max);
  bool Number(size_t* at, int* value) const;

  // Reads the rest of a class, after its '['.
  absl::StatusOr<Syntax> Class();
  // \d and the like, [:alpha:] and the like: added to `runes` if there is one.
  absl::StatusOr<bool> NamedClass(RuneSet* runes);
  absl::StatusOr<int> Rune();
  // The code point that an escape means, after its backslash.
  absl::StatusOr<int> EscapedRune();
  absl::StatusOr<int> ClassRune();
  absl::Status AddFolded(RuneSet added, RuneSet* runes) const;
  absl::StatusOr<Syntax> Literal(int rune) const;

  const absl::string_view pattern_;
  size_t at_ = 0;
  Flags flags_;
};

}  // namespace ingot::regex

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_TEXT_REGEX_PARSER_H_
