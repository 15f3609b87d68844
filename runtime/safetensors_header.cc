#include "runtime/safetensors_header.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/utf8.h"

namespace ingot {
namespace {

constexpr char kMetadata[] = "__metadata__";
// Values below a tensor's lists have no meaning in the format.
constexpr int kMaxDepth = 100;

void AppendUtf8(uint32_t code, std::string* text) {
  const auto more = [code](int shift) {
    return static_cast<char>(0x80 | (code >> shift & 0x3f));
  };
  if (code < 0x80) {
    text->push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    text->append({static_cast<char>(0xc0 | code >> 6), more(0)});
  } else if (code < 0x10000) {
    text->append({static_cast<char>(0xe0 | code >> 12), more(6), more(0)});
  } else {
    text->append(
        {static_cast<char>(0xf0 | code >> 18), more(12), more(6), more(0)});
  }
}

// Reads JSON (RFC 8259) value by value. Each function begins in front of what
// it reads, white space aside, and returns false where that is not there. The
// reader is of no more use then.
class JsonReader {
 public:
  explicit JsonReader(absl::string_view text) : rest_(text) {}

  // The next character that is no white space; 0 at the end.
  char Peek() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n' ||
                              rest_[0] == '\t' || rest_[0] == '\r')) {
      rest_.remove_prefix(1);
    }
    return rest_.empty() ? '\0' : rest_[0];
  }

  bool AtEnd() { return Peek() == '\0' && rest_.empty(); }

  bool Take(char c) {
    if (Peek() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  // A list or an object: `read` reads each of its elements or members.
  template <typename Read>
  bool Each(char open, char close, const Read& read) {
    if (!Take(open) || ++depth_ > kMaxDepth) return false;
    if (!Take(close)) {
      do {
        if (!read()) return false;
      } while (Take(','));
      if (!Take(close)) return false;
    }
    --depth_;
    return true;
  }

  bool String(std::string* text) {
    if (!Take('"')) return false;
    text->clear();
    while (!rest_.empty()) {
      size_t plain = 0;
      while (plain < rest_.size() && rest_[plain] != '"' &&
             rest_[plain] != '\\' &&
             static_cast<unsigned char>(rest_[plain]) >= 0x20) {
        ++plain;
      }
      text->append(rest_.data(), plain);
      rest_.remove_prefix(plain);
      if (Consume("\"")) return IsUtf8(*text);
      if (!Consume("\\") || !Escape(text)) return false;
    }
    return false;
  }

  // The value of a number that is an unsigned integer of 64 bits.
  bool Number(std::optional<uint64_t>* value) {
    Peek();
    uint64_t integer = 0;
    bool fits = !Consume("-");
    if (!Consume("0")) {
      const bool read = Digits([&](int digit) {
        fits = fits && !__builtin_mul_overflow(integer, 10, &integer) &&
               !__builtin_add_overflow(integer, digit, &integer);
      });
      if (!read) return false;
    }
    if (Consume(".")) {
      fits = false;
      if (!Digits([](int) {})) return false;
    }
    if (Consume("e") || Consume("E")) {
      fits = false;
      if (!Consume("+")) Consume("-");
      if (!Digits([](int) {})) return false;
    }
    if (fits) *value = integer;
    return true;
  }

  bool Skip() {
    std::string text;
    std::optional<uint64_t> number;
    switch (Peek()) {
      case '{':
        return Each('{', '}',
                    [&] { return String(&text) && Take(':') && Skip(); });
      case '[':
        return Each('[', ']', [this] { return Skip(); });
      case '"':
        return String(&text);
      case 't':
        return Consume("true");
      case 'f':
        return Consume("false");
      case 'n':
        return Consume("null");
      default:
        return Number(&number);
    }
  }

 private:
  bool Consume(absl::string_view text) {
    if (rest_.substr(0, text.size()) != text) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  // One digit at least.
  template <typename OnDigit>
  bool Digits(const OnDigit& on_digit) {
    size_t count = 0;
    for (; count < rest_.size() && absl::ascii_isdigit(rest_[count]); ++count) {
      on_digit(rest_[count] - '0');
    }
    rest_.remove_prefix(count);
    return count > 0;
  }

  // Reads the rest of an escape, after its backslash.
  bool Escape(std::string* text) {
    if (rest_.empty()) return false;
    const char c = rest_[0];
    rest_.remove_prefix(1);
    constexpr absl::string_view kNames = "\"\\/bfnrt";
    constexpr absl::string_view kMeant = "\"\\/\b\f\n\r\t";
    if (const size_t at = kNames.find(c); at != absl::string_view::npos) {
      text->push_back(kMeant[at]);
      return true;
    }
    uint32_t code, low;
    if (c != 'u' || !Unit(&code)) return false;
    // A character beyond 16 bits is written as two units.
    if (code >= 0xd800 && code < 0xdc00) {
      if (!Consume("\\u") || !Unit(&low) || low < 0xdc00 || low >= 0xe000) {
        return false;
      }
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xdc00 && code < 0xe000) {
      return false;
    }
    AppendUtf8(code, text);
    return true;
  }

  bool Unit(uint32_t* unit) {
    constexpr size_t kDigits = 4;
    if (rest_.size() < kDigits) return false;
    *unit = 0;
    for (const char c : rest_.substr(0, kDigits)) {
      if (!absl::ascii_isxdigit(c)) return false;
      const int digit =
          absl::ascii_isdigit(c) ? c - '0' : absl::ascii_tolower(c) - 'a' + 10;
      *unit = *unit << 4 | static_cast<uint32_t>(digit);
    }
    rest_.remove_prefix(kDigits);
    return true;
  }

  absl::string_view rest_;
  int depth_ = 0;
};

class HeaderReader {
 public:
  HeaderReader(absl::string_view text, TakeSafetensorsEntry take)
      : json_(text), take_(take) {}

  absl::Status Read() {
    if (json_.Each('{', '}', [this] { return Tensor(); }) && json_.AtEnd()) {
      return absl::OkStatus();
    }
    if (!status_.ok()) return status_;
    return absl::InvalidArgumentError(
        "safetensors: the header is not a JSON object");
  }

 private:
  bool Tensor() {
    std::string name;
    if (!json_.String(&name) || !json_.Take(':')) return false;
    entry_ = {};
    if (json_.Peek() == '{') {
      entry_.is_object = true;
      seen_ = {};
      others_.clear();
      if (!json_.Each('{', '}', [this] { return Field(); })) return false;
    } else if (!json_.Skip()) {
      return false;
    }
    if (name != kMetadata) {
      status_ = take_(std::move(name), entry_);
    } else if (std::exchange(has_metadata_, true)) {
      status_ = RepeatedInSafetensorsHeader(name);
    }
    return status_.ok();
  }

  bool Field() {
    if (!json_.String(&field_) || !json_.Take(':')) return false;
    const char first = json_.Peek();
    if (field_ == "dtype") {
      if (std::exchange(seen_.dtype, true)) return Repeated();
      if (first == '"') return json_.String(&entry_.dtype.emplace());
    } else if (field_ == "shape") {
      if (std::exchange(seen_.shape, true)) return Repeated();
      if (first == '[') return List(&entry_.shape.emplace());
    } else if (field_ == "data_offsets") {
      if (std::exchange(seen_.data_offsets, true)) return Repeated();
      if (first == '[') return List(&entry_.data_offsets.emplace());
    } else if (!others_.insert(field_).second) {
      return Repeated();
    }
    return json_.Skip();
  }

  bool List(SafetensorsEntry::Numbers* numbers) {
    return json_.Each('[', ']', [&] {
      numbers->emplace_back();
      const char first = json_.Peek();
      return first == '-' || absl::ascii_isdigit(first)
                 ? json_.Number(&numbers->back())
                 : json_.Skip();
    });
  }

  bool Repeated() {
    status_ = RepeatedInSafetensorsHeader(field_);
    return false;
  }

  JsonReader json_;
  const TakeSafetensorsEntry take_;
  absl::Status status_;
  bool has_metadata_ = false;
  SafetensorsEntry entry_;  // that is being read
  std::string field_;       // of it, the last one
  struct {
    bool dtype = false, shape = false, data_offsets = false;
  } seen_;
  absl::flat_hash_set<std::string> others_;  // its fields without a meaning
};

}  // namespace

absl::Status ReadSafetensorsHeader(absl::string_view text,
                                   TakeSafetensorsEntry take) {
  return HeaderReader(text, take).Read();
}

absl::Status RepeatedInSafetensorsHeader(absl::string_view name) {
  return absl::InvalidArgumentError(
      absl::StrCat("safetensors: the header has '", name, "' twice"));
}

}  // namespace ingot
