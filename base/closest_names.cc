#include "base/closest_names.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ingot {
namespace {

// The number of letters that must be added, dropped or changed.
size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::vector<std::string> ClosestNames(absl::string_view word,
                                      absl::Span<const std::string> known) {
  std::vector<std::pair<size_t, std::string>> near;
  for (const std::string& name : known) {
    // A word that a name starts with is most likely cut short.
    const bool starts = !word.empty() && absl::StartsWith(name, word);
    const size_t distance = starts ? 1 : EditDistance(word, name);
    if (distance <= std::max<size_t>(2, name.size() / 3)) {
      near.emplace_back(distance, name);
    }
  }
  std::sort(near.begin(), near.end());
  if (near.size() > 3) near.resize(3);
  std::vector<std::string> names;
  for (auto& [distance, name] : near) names.push_back(std::move(name));
  return names;
}

std::string DidYouMean(absl::string_view word,
                       absl::Span<const std::string> known) {
  const std::vector<std::string> closest = ClosestNames(word, known);
  if (closest.empty()) return "";
  return absl::StrCat("did you mean ", absl::StrJoin(closest, " or "), "?");
}

}  // namespace ingot
