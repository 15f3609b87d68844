// Code points in patterns: literals, escapes and classes.
#include <cstdint>
#include <utility>

#include "absl/strings/ascii.h"
#include "base/status_macros.h"
#include "compiler/frontends/onnx/text/regex/parser.h"

namespace ingot::regex {
namespace {

struct Named {
  const char* name;
  const char* ranges;  // pairs of first and last character
};

// RE2's \s, unlike [:space:], has no vertical tab.
constexpr Named kPerl[] = {
    {"\\d", "09"}, {"\\s", "\t\n\f\r  "}, {"\\w", "09AZaz__"}};

constexpr Named kPosix[] = {
    {"alnum", "09AZaz"}, {"alpha", "AZaz"},     {"blank", "\t\t  "},
    {"digit", "09"},     {"graph", "!~"},       {"lower", "az"},
    {"print", " ~"},     {"punct", "!/:@[`{~"}, {"space", "\t\r  "},
    {"upper", "AZ"},     {"word", "09AZaz__"},  {"xdigit", "09AFaf"}};

RuneSet RangesOf(absl::string_view ranges) {
  RuneSet runes;
  for (size_t i = 0; i + 1 < ranges.size(); i += 2) {
    runes.Add(ranges[i], ranges[i + 1]);
  }
  return runes;
}

// Whether [:name:] is a class, which `runes` then is.
bool FindPosix(absl::string_view name, RuneSet* runes) {
  if (name == "ascii") {
    runes->Add(0, 0x7F);
    return true;
  }
  if (name == "cntrl") {
    runes->Add(0, 0x1F);
    runes->Add(0x7F, 0x7F);
    return true;
  }
  for (const Named& named : kPosix) {
    if (name != named.name) continue;
    *runes = RangesOf(named.ranges);
    return true;
  }
  return false;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = absl::ascii_tolower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

bool IsOctal(char c) { return c >= '0' && c <= '7'; }

}  // namespace

absl::StatusOr<int> Parser::Rune() {
  if (AtEnd()) return Invalid("it ends too early");
  const auto byte = [&](size_t i) {
    return i < pattern_.size() ? static_cast<uint8_t>(pattern_[i]) : 0;
  };
  const int lead = byte(at_);
  if (lead < 0x80) {
    ++at_;
    return lead;
  }
  const int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
  constexpr int kSmallest[] = {0, 0x80, 0x800, 0x10000};
  int rune = lead & (0x3F >> more);
  bool good = lead >= 0xC2 && lead <= 0xF4;
  for (int i = 1; i <= more; ++i) {
    const int b = byte(at_ + i);
    good = good && (b & 0xC0) == 0x80;
    rune = rune << 6 | (b & 0x3F);
  }
  if (!good || rune < kSmallest[more] || rune > kLastRune) {
    return Invalid("what is no UTF-8");
  }
  at_ += more + 1;
  return rune;
}

absl::StatusOr<int> Parser::EscapedRune() {
  if (AtEnd()) return Invalid("a backslash at the end");
  const char c = Peek();
  constexpr std::pair<char, char> kControls[] = {{'a', '\a'}, {'f', '\f'},
                                                 {'n', '\n'}, {'r', '\r'},
                                                 {'t', '\t'}, {'v', '\v'}};
  for (const auto& [letter, rune] : kControls) {
    if (c == letter) {
      ++at_;
      return rune;
    }
  }
  if (c == 'x') {
    ++at_;
    const bool braces = Take("{");
    int rune = 0, digits = 0;
    for (; (braces || digits < 2) && !AtEnd() && HexDigit(Peek()) >= 0 &&
           rune <= kLastRune;
         ++digits) {
      rune = rune * 16 + HexDigit(pattern_[at_++]);
    }
    const bool whole = braces ? digits > 0 && Take("}") : digits == 2;
    if (!whole || rune > kLastRune) {
      return Invalid("\\x must name a code point with hexadecimal digits");
    }
    return rune;
  }
  if (IsOctal(c)) {
    const bool more = at_ + 1 < pattern_.size() && IsOctal(pattern_[at_ + 1]);
    if (c != '0' && !more) {
      return Invalid("RE2 has no references to groups, \\", std::string(1, c));
    }
    int rune = 0;
    for (int i = 0; i < 3 && !AtEnd() && IsOctal(Peek()); ++i) {
      rune = rune * 8 + (pattern_[at_++] - '0');
    }
    return rune;
  }
  if (!absl::ascii_isascii(c) || absl::ascii_isalnum(c)) {
    return Invalid("there is no escape \\", std::string(1, c));
  }
  ++at_;
  return c;
}

absl::Status Parser::AddFolded(RuneSet added, RuneSet* runes) const {
  if (flags_.fold_case) {
    if (added.HasBeyondAscii()) {
      return NotSupported("letters beyond ASCII under the flag i");
    }
    added.FoldCase();
  }
  runes->Add(added);
  return absl::OkStatus();
}

absl::StatusOr<Syntax> Parser::Literal(int rune) const {
  Syntax s;
  s.kind = Syntax::kRunes;
  RuneSet one;
  one.Add(rune, rune);
  INGOT_RETURN_IF_ERROR(AddFolded(std::move(one), &s.runes));
  return s;
}

absl::StatusOr<bool> Parser::NamedClass(RuneSet* runes) {
  RuneSet added;
  bool negated = false;
  if (At("\\p") || At("\\P")) {
    return NotSupported("Unicode's classes, ", pattern_.substr(at_, 2));
  }
  if (At("\\") && at_ + 1 < pattern_.size()) {
    const char letter = absl::ascii_tolower(pattern_[at_ + 1]);
    const Named* found = nullptr;
    for (const Named& named : kPerl) {
      if (named.name[1] == letter) found = &named;
    }
    if (found == nullptr) return false;
    negated = pattern_[at_ + 1] != letter;
    added = RangesOf(found->ranges);
    at_ += 2;
  } else if (At("[:")) {
    const size_t end = pattern_.find(":]", at_ + 2);
    if (end == absl::string_view::npos) return false;
    absl::string_view name = pattern_.substr(at_ + 2, end - at_ - 2);
    if (!name.empty() && name[0] == '^') {
      negated = true;
      name.remove_prefix(1);
    }
    if (!FindPosix(name, &added)) {
      return Invalid("there is no class [:", name, ":]");
    }
    at_ = end + 2;
  } else {
    return false;
  }
  RuneSet folded;
  INGOT_RETURN_IF_ERROR(AddFolded(std::move(added), &folded));
  if (negated) folded.Negate();
  runes->Add(folded);
  return true;
}

absl::StatusOr<int> Parser::ClassRune() {
  if (Take("\\")) return EscapedRune();
  return Rune();
}

absl::StatusOr<Syntax> Parser::Class() {
  Syntax s;
  s.kind = Syntax::kRunes;
  const bool negated = Take("^");
  // A ']' that comes first is one of the class.
  for (bool first = true; first || Peek() != ']'; first = false) {
    if (AtEnd()) return Invalid("a '[' without a ']'");
    INGOT_ASSIGN_OR_RETURN(const bool named, NamedClass(&s.runes));
    if (named) continue;
    INGOT_ASSIGN_OR_RETURN(const int low, ClassRune());
    int high = low;
    if (At("-") && at_ + 1 < pattern_.size() && pattern_[at_ + 1] != ']') {
      ++at_;
      INGOT_ASSIGN_OR_RETURN(high, ClassRune());
      if (high < low) return Invalid("a range of a class that falls");
    }
    RuneSet range;
    range.Add(low, high);
    INGOT_RETURN_IF_ERROR(AddFolded(std::move(range), &s.runes));
  }
  ++at_;
  if (negated) s.runes.Negate();
  return s;
}

}  // namespace ingot::regex
