#include "compiler/target/target.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "artifact/names.h"
#include "base/status_macros.h"

namespace ingot {
namespace {

bool IsNameChar(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' ||
         c == '-' || c == '.';
}

bool IsNameStart(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
}

// A value that would end early, or vanish, when written bare.
bool NeedsQuotes(absl::string_view value) {
  if (value.empty()) return true;
  for (size_t i = 0; i < value.size(); ++i) {
    const char c = value[i];
    if (c == ' ' || c == '\t' || c == '"' || c == '\\' || c == '\n' ||
        c == '\r' || c == ';') {
      return true;
    }
    if (c == ',') {
      const bool stays =
          i + 1 < value.size() && (value[i + 1] == '+' || value[i + 1] == '-');
      if (!stays) return true;
    }
  }
  return false;
}

std::string Quoted(absl::string_view value) {
  if (!NeedsQuotes(value)) return std::string(value);
  std::string out = "\"";
  for (char c : value) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// Whether a semicolon stands outside of quotes.
bool HasSeveralLists(absl::string_view text) {
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (text[i] == ';' && !quoted) {
      return true;
    }
  }
  return false;
}

// One pass over the text of one or several targets.
class TargetParser {
 public:
  explicit TargetParser(absl::string_view text) : text_(text) {}

  absl::StatusOr<std::vector<Target>> ParseAll() {
    INGOT_ASSIGN_OR_RETURN(std::vector<Target> targets, ParseList());
    if (pos_ != text_.size()) {
      return Error("several variants, between semicolons, cannot be here");
    }
    return targets;
  }

  absl::StatusOr<std::vector<TargetVariant>> ParseVariants() {
    std::vector<TargetVariant> variants;
    for (bool more = true; more;) {
      SkipSpace();
      TargetVariant variant;
      INGOT_ASSIGN_OR_RETURN(variant.name, Name("the name of a variant"));
      SkipSpace();
      if (Peek() != ':')
        return Error("expected a colon after a variant's name");
      ++pos_;
      if (absl::Status s = CheckVariantName(variant.name); !s.ok()) {
        return Error(s.message());
      }
      for (const TargetVariant& other : variants) {
        if (other.name != variant.name) continue;
        return Error(absl::StrCat("two variants are called ", variant.name));
      }
      const size_t start = pos_;
      INGOT_ASSIGN_OR_RETURN(variant.targets, ParseList());
      variant.text = std::string(
          absl::StripAsciiWhitespace(text_.substr(start, pos_ - start)));
      variants.push_back(std::move(variant));
      more = pos_ < text_.size();
      ++pos_;  // the semicolon at which ParseList stopped
    }
    return variants;
  }

 private:
  // Up to the end or a semicolon.
  absl::StatusOr<std::vector<Target>> ParseList() {
    std::vector<Target> targets;
    while (true) {
      INGOT_ASSIGN_OR_RETURN(Target target, ParseOne());
      targets.push_back(std::move(target));
      if (AtEnd()) return targets;
      ++pos_;  // the comma at which ParseOne stopped
    }
  }

  absl::StatusOr<Target> ParseOne() {
    SkipSpace();
    Target target;
    target.key = kDefaultTargetKey;
    INGOT_ASSIGN_OR_RETURN(std::string name, Name("a target kind"));
    SkipSpace();
    if (Peek() == ':') {
      ++pos_;
      SkipSpace();
      target.key = std::move(name);
      INGOT_ASSIGN_OR_RETURN(name, Name("a target kind after the key"));
      SkipSpace();
    }
    target.kind = std::move(name);
    while (!AtEnd() && Peek() != ',') {
      if (Peek() != '-')
        return Error("expected an option, -name or -name=value");
      ++pos_;
      if (Peek() == '-') ++pos_;  // --name is forgiven
      INGOT_ASSIGN_OR_RETURN(std::string option, Name("an option's name"));
      std::string value = "1";
      if (Peek() == '=') {
        ++pos_;
        INGOT_ASSIGN_OR_RETURN(std::string parsed, Value());
        value = std::move(parsed);
      } else if (!AtEnd() && !AtSpace() && Peek() != ',') {
        return Error("expected = or a space after an option's name");
      }
      if (!target.options.emplace(option, value).second) {
        return Error(absl::StrCat("option -", option, " is given twice"));
      }
      SkipSpace();
    }
    return target;
  }

  absl::StatusOr<std::string> Name(absl::string_view what) {
    const size_t start = pos_;
    if (pos_ < text_.size() && IsNameStart(text_[pos_])) {
      while (pos_ < text_.size() && IsNameChar(text_[pos_])) ++pos_;
    }
    if (pos_ == start) return Error(absl::StrCat("expected ", what));
    return std::string(text_.substr(start, pos_ - start));
  }

  absl::StatusOr<std::string> Value() {
    std::string value;
    if (Peek() == '"') {
      for (++pos_; pos_ < text_.size(); ++pos_) {
        char c = text_[pos_];
        if (c == '"') {
          ++pos_;
          if (!AtEnd() && !AtSpace() && Peek() != ',') {
            return Error("expected a space after the closing quote");
          }
          return value;
        }
        if (c == '\\' && pos_ + 1 < text_.size()) c = text_[++pos_];
        value += c;
      }
      return Error("the closing quote is missing");
    }
    while (!AtEnd() && !AtSpace()) {
      if (Peek() == ',' && !CommaStays()) break;
      value += text_[pos_++];
    }
    if (value.empty()) {
      return Error("expected a value after = (\"\" is the empty one)");
    }
    return value;
  }

  // A comma belongs to the value in -mattr=+avx2,+fma.
  bool CommaStays() const {
    return pos_ + 1 < text_.size() &&
           (text_[pos_ + 1] == '+' || text_[pos_ + 1] == '-');
  }
  // The end of a list of targets.
  bool AtEnd() const { return pos_ == text_.size() || text_[pos_] == ';'; }
  char Peek() const { return pos_ < text_.size() ? text_[pos_] : '\0'; }
  bool AtSpace() const {
    return absl::ascii_isspace(static_cast<unsigned char>(text_[pos_]));
  }
  void SkipSpace() {
    while (pos_ < text_.size() && AtSpace()) ++pos_;
  }
  absl::Status Error(absl::string_view what) const {
    return absl::InvalidArgumentError(
        absl::StrCat("target \"", absl::CHexEscape(text_), "\", column ",
                     pos_ + 1, ": ", what));
  }

  const absl::string_view text_;
  size_t pos_ = 0;
};

}  // namespace

std::string Target::ToString() const {
  std::string out;
  if (Id() != kind) out = key + ": ";
  out += kind;
  for (const auto& [name, value] : options) {
    absl::StrAppend(&out, " -", name, "=", Quoted(value));
  }
  return out;
}

std::string Target::Id() const {
  return key.empty() || key == kDefaultTargetKey ? kind : key;
}

std::string Target::Option(absl::string_view name,
                           absl::string_view otherwise) const {
  auto it = options.find(std::string(name));
  return it == options.end() ? std::string(otherwise) : it->second;
}

absl::StatusOr<std::vector<Target>> ParseTargets(absl::string_view text) {
  return TargetParser(text).ParseAll();
}

absl::StatusOr<std::vector<TargetVariant>> ParseTargetVariants(
    absl::string_view text) {
  TargetParser parser(text);
  if (HasSeveralLists(text)) return parser.ParseVariants();
  INGOT_ASSIGN_OR_RETURN(std::vector<Target> targets, parser.ParseAll());
  return std::vector<TargetVariant>{
      {"", std::string(text), std::move(targets)}};
}

absl::StatusOr<Target> ParseTarget(absl::string_view text) {
  INGOT_ASSIGN_OR_RETURN(std::vector<Target> targets, ParseTargets(text));
  if (targets.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected one target, got ", targets.size(), ": \"",
                     absl::CHexEscape(text), "\""));
  }
  return std::move(targets[0]);
}

}  // namespace ingot
