#include "isa/testing/ptx/text.h"

#include <cctype>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::isa::ptx {
namespace {

bool IsOfWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
         c == '$' || c == '%' || c == '.' || c == ':';
}

bool StartsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

std::optional<uint64_t> IntegerOf(std::string_view text, int base) {
  while (!text.empty() && text.back() == 'U') text.remove_suffix(1);
  if (text.empty()) return std::nullopt;
  const std::string digits(text);
  char* end = nullptr;
  const uint64_t value = std::strtoull(digits.c_str(), &end, base);
  if (*end != '\0' || std::isxdigit(digits[0]) == 0) return std::nullopt;
  return value;
}

std::optional<uint64_t> SizeOf(std::string_view text) {
  return IntegerOf(Trim(text), 10);
}

// "name[4]", "name", "name[2][3]".
bool ReadShape(std::string_view text, Variable* variable) {
  const size_t bracket = text.find('[');
  variable->name = std::string(Trim(text.substr(0, bracket)));
  variable->bytes = variable->element_bytes;
  while (!text.empty() && text.find('[') != text.npos) {
    const size_t open = text.find('[');
    const size_t close = text.find(']', open);
    if (close == text.npos) return false;
    const std::string_view inside = text.substr(open + 1, close - open - 1);
    // A launch says how much of its memory there is.
    const auto size =
        Trim(inside).empty() ? std::optional<uint64_t>(0) : SizeOf(inside);
    if (!size.has_value()) return false;
    variable->bytes *= static_cast<uint32_t>(*size);
    text.remove_prefix(close + 1);
  }
  return !variable->name.empty();
}

}  // namespace

std::string_view Trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text[0]))) {
    text.remove_prefix(1);
  }
  while (!text.empty() &&
         std::isspace(static_cast<unsigned char>(text.back()))) {
    text.remove_suffix(1);
  }
  return text;
}

std::string WithoutComments(std::string_view text) {
  std::string result(text);
  for (size_t k = 0; k + 1 < result.size(); ++k) {
    if (result[k] != '/') continue;
    size_t end = k;
    if (result[k + 1] == '/') {
      end = result.find('\n', k);
    } else if (result[k + 1] == '*') {
      end = result.find("*/", k + 2);
      if (end != result.npos) end += 2;
    }
    if (end == result.npos) end = result.size();
    for (; k < end; ++k) {
      if (result[k] != '\n') result[k] = ' ';
    }
  }
  return result;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  if (Trim(text).empty()) return parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    if (c == '{' || c == '[' || c == '(') ++depth;
    if (c == '}' || c == ']' || c == ')') --depth;
    if (c != separator || depth != 0) continue;
    parts.push_back(Trim(text.substr(begin, k - begin)));
    begin = k + 1;
  }
  parts.push_back(Trim(text.substr(begin)));
  return parts;
}

std::string_view TakeWord(std::string_view* text) {
  *text = Trim(*text);
  size_t end = 0;
  while (end < text->size() && IsOfWord((*text)[end])) ++end;
  const std::string_view word = text->substr(0, end);
  *text = Trim(text->substr(end));
  return word;
}

std::optional<uint64_t> ConstantOf(std::string_view text) {
  if (text.empty()) return std::nullopt;
  if (text[0] == '-') {
    const auto value = ConstantOf(Trim(text.substr(1)));
    if (!value.has_value()) return std::nullopt;
    return 0 - *value;
  }
  if (StartsWith(text, "0f") || StartsWith(text, "0F") ||
      StartsWith(text, "0d") || StartsWith(text, "0D")) {
    return IntegerOf(text.substr(2), 16);
  }
  if (StartsWith(text, "0x") || StartsWith(text, "0X")) {
    return IntegerOf(text.substr(2), 16);
  }
  return IntegerOf(text, 10);
}

uint32_t BytesOfType(std::string_view type) {
  if (!type.empty() && type[0] == '.') type.remove_prefix(1);
  for (const uint32_t bytes : {1, 2, 4, 8}) {
    const std::string bits = std::to_string(8 * bytes);
    for (const char* const kind : {"b", "u", "s", "f"}) {
      if (type == kind + bits) return bytes;
    }
  }
  if (type == "bf16") return 2;
  if (type == "f16x2" || type == "bf16x2") return 4;
  return 0;
}

std::optional<Variable> VariableOf(std::string_view text) {
  Variable variable;
  const size_t equals = text.find('=');
  std::string_view head = Trim(text.substr(0, equals));
  while (!head.empty() && head[0] == '.') {
    const std::string_view word = TakeWord(&head);
    if (word == ".align") {
      const auto alignment = SizeOf(TakeWord(&head));
      if (!alignment.has_value()) return std::nullopt;
      variable.alignment = static_cast<uint32_t>(*alignment);
      continue;
    }
    if (BytesOfType(word) == 0) return std::nullopt;
    variable.element_bytes = BytesOfType(word);
  }
  variable.alignment = std::max(variable.alignment, variable.element_bytes);
  if (!ReadShape(head, &variable)) return std::nullopt;
  if (equals == text.npos) return variable;
  std::string_view values = Trim(text.substr(equals + 1));
  if (!values.empty() && values[0] == '{') {
    values = values.substr(1, values.size() - 2);
  }
  for (const std::string_view value : Split(values, ',')) {
    const auto bits = ConstantOf(value);
    if (!bits.has_value()) return std::nullopt;
    variable.values.push_back(*bits);
  }
  if (variable.values.size() * variable.element_bytes > variable.bytes) {
    return std::nullopt;
  }
  return variable;
}

}  // namespace ingot::isa::ptx
