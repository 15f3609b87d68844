#include "compiler/frontends/onnx/text/regex/parser.h"

#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "base/status_macros.h"

namespace ingot::regex {
namespace {

// Groups inside of groups; what reads and compiles them recurses.
constexpr int kMaxDepth = 200;
// As RE2 has it.
constexpr int kMaxCount = 1000;

Syntax Asserted(Assertion assertion) {
  Syntax s;
  s.kind = Syntax::kAssertion;
  s.assertion = assertion;
  return s;
}

}  // namespace

std::string Parser::Where() const {
  return absl::StrCat("the pattern at byte ", at_, ": ");
}

bool Parser::Take(absl::string_view text) {
  if (!At(text)) return false;
  at_ += text.size();
  return true;
}

absl::StatusOr<Syntax> Parser::Parse() {
  INGOT_ASSIGN_OR_RETURN(Syntax all, Alternatives(0));
  if (!AtEnd()) return Invalid("a ')' without a '('");
  return all;
}

absl::StatusOr<Syntax> Parser::Alternatives(int depth) {
  if (depth > kMaxDepth) {
    return NotSupported("groups inside of more than ", kMaxDepth, " groups");
  }
  Syntax all;
  all.kind = Syntax::kAlternate;
  Syntax sequence;
  bool repeated = false;  // the last thing was a repetition
  while (!AtEnd() && Peek() != ')') {
    if (Take("|")) {
      all.parts.push_back(std::exchange(sequence, Syntax()));
      repeated = false;
      continue;
    }
    const size_t start = at_;
    INGOT_ASSIGN_OR_RETURN(const bool repeats, Repetition(&sequence.parts));
    if (repeats && repeated) {
      at_ = start;
      return Invalid("a repetition of a repetition");
    }
    repeated = repeats;
    if (!repeats) INGOT_RETURN_IF_ERROR(Item(depth, &sequence.parts));
  }
  if (all.parts.empty()) return sequence;
  all.parts.push_back(std::move(sequence));
  return all;
}

absl::StatusOr<bool> Parser::Repetition(std::vector<Syntax>* parts) {
  const size_t start = at_;
  int min = 0, max = Syntax::kNoLimit;
  if (Take("+")) {
    min = 1;
  } else if (Take("?")) {
    max = 1;
  } else if (!Take("*") && !Counts(&min, &max)) {
    return false;
  }
  // One that takes as little as it can: all the same for a match of the whole.
  Take("?");
  if (parts->empty()) {
    at_ = start;
    return Invalid("a repetition of nothing");
  }
  if (min > kMaxCount || max > kMaxCount ||
      (max != Syntax::kNoLimit && max < min)) {
    at_ = start;
    return Invalid("a repetition must be of rising counts up to ", kMaxCount);
  }
  Syntax repeat;
  repeat.kind = Syntax::kRepeat;
  repeat.min = min;
  repeat.max = max;
  repeat.parts.push_back(std::move(parts->back()));
  parts->back() = std::move(repeat);
  return true;
}

bool Parser::Number(size_t* at, int* value) const {
  const size_t start = *at;
  int64_t number = 0;
  while (*at < pattern_.size() && absl::ascii_isdigit(pattern_[*at])) {
    number = number * 10 + (pattern_[(*at)++] - '0');
    if (number >= 100000000) return false;
  }
  *value = static_cast<int>(number);
  const size_t digits = *at - start;
  return digits == 1 || (digits > 1 && pattern_[start] != '0');
}

bool Parser::Counts(int* min, int* max) {
  if (Peek() != '{') return false;
  size_t at = at_ + 1;
  auto next = [&] { return at < pattern_.size() ? pattern_[at] : '\0'; };
  if (!Number(&at, min)) return false;
  *max = *min;
  if (next() == ',') {
    ++at;
    if (next() == '}') {
      *max = Syntax::kNoLimit;
    } else if (!Number(&at, max)) {
      return false;
    }
  }
  if (next() != '}') return false;
  at_ = at + 1;
  return true;
}

absl::Status Parser::Item(int depth, std::vector<Syntax>* parts) {
  if (Take("(")) return Group(depth, parts);
  if (Take("[")) {
    INGOT_ASSIGN_OR_RETURN(Syntax s, Class());
    parts->push_back(std::move(s));
    return absl::OkStatus();
  }
  if (Take(".")) {
    Syntax any;
    any.kind = Syntax::kRunes;
    if (!flags_.dot_is_any) any.runes.Add('\n', '\n');
    any.runes.Negate();
    parts->push_back(std::move(any));
    return absl::OkStatus();
  }
  if (Take("^")) {
    parts->push_back(
        Asserted(flags_.lines ? Assertion::kLineStart : Assertion::kTextStart));
    return absl::OkStatus();
  }
  if (Take("$")) {
    parts->push_back(
        Asserted(flags_.lines ? Assertion::kLineEnd : Assertion::kTextEnd));
    return absl::OkStatus();
  }
  if (Take("\\")) return Escape(parts);
  INGOT_ASSIGN_OR_RETURN(const int rune, Rune());
  INGOT_ASSIGN_OR_RETURN(Syntax literal, Literal(rune));
  parts->push_back(std::move(literal));
  return absl::OkStatus();
}

absl::Status Parser::Escape(std::vector<Syntax>* parts) {
  if (Take("Q")) {
    while (!AtEnd() && !Take("\\E")) {
      INGOT_ASSIGN_OR_RETURN(const int rune, Rune());
      INGOT_ASSIGN_OR_RETURN(Syntax literal, Literal(rune));
      parts->push_back(std::move(literal));
    }
    return absl::OkStatus();
  }
  constexpr std::pair<const char*, Assertion> kAssertions[] = {
      {"A", Assertion::kTextStart},
      {"z", Assertion::kTextEnd},
      {"b", Assertion::kWordBoundary},
      {"B", Assertion::kNoWordBoundary}};
  for (const auto& [letter, assertion] : kAssertions) {
    if (Take(letter)) {
      parts->push_back(Asserted(assertion));
      return absl::OkStatus();
    }
  }
  Syntax s;
  s.kind = Syntax::kRunes;
  if (Take("C")) {
    s.kind = Syntax::kAnyByte;
    parts->push_back(std::move(s));
    return absl::OkStatus();
  }
  --at_;  // the backslash
  INGOT_ASSIGN_OR_RETURN(const bool named, NamedClass(&s.runes));
  if (!named) {
    ++at_;
    INGOT_ASSIGN_OR_RETURN(const int rune, EscapedRune());
    INGOT_ASSIGN_OR_RETURN(s, Literal(rune));
  }
  parts->push_back(std::move(s));
  return absl::OkStatus();
}

absl::Status Parser::Group(int depth, std::vector<Syntax>* parts) {
  const Flags outside = flags_;
  if (Take("?")) {
    if (At("=") || At("!") || At("<=") || At("<!")) {
      return Invalid("RE2 has no looking ahead and behind, (?",
                     std::string(1, Peek()));
    }
    if (Take("P<") || Take("<")) {
      INGOT_RETURN_IF_ERROR(GroupName());
    } else {
      INGOT_ASSIGN_OR_RETURN(const bool is_group, ReadFlags());
      if (!is_group) return absl::OkStatus();
    }
  }
  INGOT_ASSIGN_OR_RETURN(Syntax inside, Alternatives(depth + 1));
  if (!Take(")")) return Invalid("a '(' without a ')'");
  flags_ = outside;
  parts->push_back(std::move(inside));
  return absl::OkStatus();
}

absl::Status Parser::GroupName() {
  const size_t end = pattern_.find('>', at_);
  if (end == absl::string_view::npos) {
    return Invalid("a group's name without an end");
  }
  const std::string name(pattern_.substr(at_, end - at_));
  bool good = !name.empty();
  for (char c : name) good = good && (absl::ascii_isalnum(c) || c == '_');
  if (!good) return Invalid("'", name, "' is no name of a group");
  at_ = end + 1;
  return absl::OkStatus();
}

absl::StatusOr<bool> Parser::ReadFlags() {
  bool on = true, any_since_minus = true;
  for (; !AtEnd(); ++at_) {
    const char c = Peek();
    if (c == ':' || c == ')') {
      if (!any_since_minus) return Invalid("no flag after the '-'");
      ++at_;
      return c == ':';
    }
    if (c == '-') {
      if (!on) return Invalid("a second '-' among flags");
      on = any_since_minus = false;
      continue;
    }
    if (c == 'i') {
      flags_.fold_case = on;
    } else if (c == 's') {
      flags_.dot_is_any = on;
    } else if (c == 'm') {
      flags_.lines = on;
    } else if (c != 'U') {  // which says how much to take: all the same
      return Invalid("there is no flag or group (?", std::string(1, c));
    }
    any_since_minus = true;
  }
  return Invalid("a '(' without a ')'");
}

}  // namespace ingot::regex
