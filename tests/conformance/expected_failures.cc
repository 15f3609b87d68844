#include "tests/conformance/expected_failures.h"

#include <fstream>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace ingot {

absl::StatusOr<ExpectedFailures> ExpectedFailures::Read(
    absl::string_view path) {
  std::ifstream file{std::string(path)};
  if (!file) return absl::NotFoundError(absl::StrCat("cannot read ", path));
  ExpectedFailures failures;
  std::string line;
  while (std::getline(file, line)) {
    const absl::string_view text = absl::StripAsciiWhitespace(line);
    if (text.empty() || text[0] == '#') continue;
    const size_t hash = text.find('#');
    absl::string_view key =
        absl::StripTrailingAsciiWhitespace(text.substr(0, hash));
    absl::string_view way;
    if (const size_t colon = key.find(':'); colon != absl::string_view::npos) {
      way = key.substr(0, colon);
      key = absl::StripLeadingAsciiWhitespace(key.substr(colon + 1));
    }
    const absl::string_view reason =
        hash == absl::string_view::npos
            ? absl::string_view()
            : absl::StripLeadingAsciiWhitespace(text.substr(hash + 1));
    if (reason.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": '", text, "' has no reason"));
    }
    if (failures.Reason(way, key) != nullptr ||
        !failures.reasons_
             .emplace(std::make_pair(std::string(way), std::string(key)),
                      reason)
             .second) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": ", key, " is listed twice"));
    }
  }
  return failures;
}

const std::string* ExpectedFailures::Reason(absl::string_view way,
                                            absl::string_view key) const {
  for (absl::string_view of : {absl::string_view(), way}) {
    auto it = reasons_.find({std::string(of), std::string(key)});
    if (it != reasons_.end()) return &it->second;
  }
  return nullptr;
}

std::vector<std::pair<std::string, std::string>> ExpectedFailures::entries()
    const {
  std::vector<std::pair<std::string, std::string>> entries;
  for (const auto& [key, reason] : reasons_) entries.push_back(key);
  return entries;
}

}  // namespace ingot
