#include "tools/ingot/line_diff.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace ingot {
namespace {

using Lines = std::vector<absl::string_view>;

// A line of the result: of both texts, of the first or of the second.
struct Edit {
  char sign;  // ' ', '-' or '+'
  absl::string_view line;
};

Lines Split(absl::string_view text) {
  if (text.empty()) return {};
  return absl::StrSplit(absl::StripSuffix(text, "\n"), '\n');
}

// The way back through the furthest points that were reached by d changes, for
// d from the last to 0.
std::vector<Edit> WalkBack(const Lines& a, const Lines& b,
                           const std::vector<std::vector<int>>& reached) {
  std::vector<Edit> edits;
  int x = static_cast<int>(a.size()), y = static_cast<int>(b.size());
  for (int d = static_cast<int>(reached.size()); d-- > 0;) {
    // reached[d][k + d] is how far diagonal k = x - y was before change d + 1.
    const auto at = [&](int k) { return reached[d][k + d]; };
    const int k = x - y;
    const bool down = k == -d || (k != d && at(k - 1) < at(k + 1));
    const int from_k = down ? k + 1 : k - 1;
    const int from_x = d == 0 ? 0 : at(from_k);
    const int from_y = d == 0 ? 0 : from_x - from_k;
    while (x > from_x && y > from_y) {
      edits.push_back({' ', a[--x]});
      --y;
    }
    if (d == 0) break;
    if (down) {
      edits.push_back({'+', b[--y]});
    } else {
      edits.push_back({'-', a[--x]});
    }
  }
  std::reverse(edits.begin(), edits.end());
  return edits;
}

// Everything of the one, then everything of the other.
std::vector<Edit> ReplaceAll(const Lines& a, const Lines& b) {
  std::vector<Edit> edits;
  for (absl::string_view line : a) edits.push_back({'-', line});
  for (absl::string_view line : b) edits.push_back({'+', line});
  return edits;
}

std::vector<Edit> FewestEdits(const Lines& a, const Lines& b) {
  // Memory grows with the square.
  constexpr int kMostChanges = 4000;
  const int n = static_cast<int>(a.size()), m = static_cast<int>(b.size());
  std::vector<std::vector<int>> reached;
  std::vector<int> furthest = {0};  // by diagonal, -d to d
  for (int d = 0; d <= std::min(n + m, kMostChanges); ++d) {
    reached.push_back(furthest);
    std::vector<int> next(2 * d + 3, 0);
    for (int k = -d; k <= d; k += 2) {
      const auto at = [&](int diagonal) { return furthest[diagonal + d]; };
      int x = 0;
      if (d > 0) {
        const bool down = k == -d || (k != d && at(k - 1) < at(k + 1));
        x = down ? at(k + 1) : at(k - 1) + 1;
      }
      while (x < n && x - k < m && a[x] == b[x - k]) ++x;
      if (x >= n && x - k >= m) return WalkBack(a, b, reached);
      next[k + d + 1] = x;
    }
    furthest = std::move(next);
  }
  return ReplaceAll(a, b);
}

}  // namespace

std::string LineDiff(absl::string_view a, absl::string_view b) {
  constexpr size_t kContext = 3;
  const std::vector<Edit> edits = FewestEdits(Split(a), Split(b));
  std::string text;
  size_t line_a = 1, line_b = 1;  // of edits[i]
  for (size_t i = 0; i < edits.size();) {
    // A hunk lasts until more lines are equal than two contexts show.
    size_t change = i;
    while (change < edits.size() && edits[change].sign == ' ') ++change;
    if (change == edits.size()) break;
    const size_t start = std::max(i, change - std::min(change, kContext));
    line_a += start - i;
    line_b += start - i;
    size_t end = change, equal = 0;
    for (size_t k = change; k < edits.size() && equal <= 2 * kContext; ++k) {
      equal = edits[k].sign == ' ' ? equal + 1 : 0;
      if (equal == 0) end = k + 1;
    }
    end = std::min(end + kContext, edits.size());
    std::string hunk;
    size_t of_a = 0, of_b = 0;
    for (size_t k = start; k < end; ++k) {
      of_a += edits[k].sign != '+' ? 1 : 0;
      of_b += edits[k].sign != '-' ? 1 : 0;
      absl::StrAppend(&hunk, absl::string_view(&edits[k].sign, 1),
                      edits[k].line, "\n");
    }
    absl::StrAppend(&text, "@@ -", of_a == 0 ? line_a - 1 : line_a, ",", of_a,
                    " +", of_b == 0 ? line_b - 1 : line_b, ",", of_b, " @@\n",
                    hunk);
    line_a += of_a;
    line_b += of_b;
    i = end;
  }
  return text;
}

}  // namespace ingot
