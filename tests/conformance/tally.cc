#include "tests/conformance/tally.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace ingot {

void Tally::Add(absl::string_view way, absl::string_view op, Outcome outcome) {
  ++ways_[std::string(way)][std::string(op)]
        .by_outcome[static_cast<int>(outcome)];
}

std::string Tally::ToString() const {
  std::string text;
  auto line = [&text](absl::string_view name, const Counts& counts) {
    const int* n = counts.by_outcome;
    absl::StrAppendFormat(&text, "%-34s %7d %7d %7d\n", name, n[0], n[1], n[2]);
  };
  for (const auto& [way, ops] : ways_) {
    absl::StrAppendFormat(&text, "\n%-34s %7s %7s %7s\n", way, "PASSED",
                          "FAILED", "SKIPPED");
    Counts total;
    for (const auto& [op, counts] : ops) {
      line(op, counts);
      for (int i = 0; i < 3; ++i) total.by_outcome[i] += counts.by_outcome[i];
    }
    line(absl::StrCat("all on ", way), total);
  }
  return text;
}

}  // namespace ingot
