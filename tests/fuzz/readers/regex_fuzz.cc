// The regular expressions of ONNX's text operators.
#include <string>
#include <vector>

#include "compiler/frontends/onnx/text/regex/dfa.h"
#include "tests/fuzz/readers/target.h"

namespace ingot::fuzz {

std::vector<std::string> Seeds() {
  return {
      "a(b|c)*d+e?f{2,5}",
      "(?i)[[:alpha:]_][^\\d\\s]*",
      "(?P<name>\\x{1F600}|\\p{Greek})$",
      "^(?:(?s).*?)\\bend\\z",
      "((a{30}){30}){30}",
      "[^\\x00-\\x{10FFFF}]",
  };
}

absl::StatusOr<bool> TryInput(absl::string_view bytes) {
  return regex::CompileRegex(bytes).ok();
}

}  // namespace ingot::fuzz
