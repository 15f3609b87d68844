#include "tests/conformance/expected_failures.h"

#include <fstream>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace ingot {

absl::StatusOr<std::map<std::string, std::string>> ReadExpectedFailures(
    absl::string_view path) {
  std::ifstream file{std::string(path)};
  if (!file) return absl::NotFoundError(absl::StrCat("cannot read ", path));
  std::map<std::string, std::string> failures;
  std::string line;
  while (std::getline(file, line)) {
    const absl::string_view text = absl::StripAsciiWhitespace(line);
    if (text.empty() || text[0] == '#') continue;
    const size_t hash = text.find('#');
    const absl::string_view name =
        absl::StripTrailingAsciiWhitespace(text.substr(0, hash));
    const absl::string_view reason =
        hash == absl::string_view::npos
            ? absl::string_view()
            : absl::StripLeadingAsciiWhitespace(text.substr(hash + 1));
    if (reason.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": '", text, "' has no reason"));
    }
    if (!failures.emplace(name, reason).second) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": ", name, " is listed twice"));
    }
  }
  return failures;
}

}  // namespace ingot
