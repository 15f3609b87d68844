#include "compiler/frontends/onnx/text/regex/rune_set.h"

#include <algorithm>
#include <iterator>

namespace ingot::regex {

void RuneSet::Add(int low, int high) {
  if (low > high) return;
  auto it = ranges_.upper_bound(low);
  if (it != ranges_.begin() && std::prev(it)->second >= low - 1) --it;
  while (it != ranges_.end() && it->first <= high + 1) {
    low = std::min(low, it->first);
    high = std::max(high, it->second);
    it = ranges_.erase(it);
  }
  ranges_[low] = high;
}

void RuneSet::Add(const RuneSet& other) {
  for (const auto& [low, high] : other.ranges_) Add(low, high);
}

bool RuneSet::Contains(int rune) const {
  auto it = ranges_.upper_bound(rune);
  return it != ranges_.begin() && std::prev(it)->second >= rune;
}

void RuneSet::FoldCase() {
  constexpr int kLongS = 0x17F, kKelvin = 0x212A;
  for (int lower = 'a'; lower <= 'z'; ++lower) {
    const int upper = lower - 'a' + 'A';
    if (!Contains(lower) && !Contains(upper)) continue;
    Add(lower, lower);
    Add(upper, upper);
    if (lower == 's') Add(kLongS, kLongS);
    if (lower == 'k') Add(kKelvin, kKelvin);
  }
}

void RuneSet::Negate() {
  std::map<int, int> others;
  int next = 0;
  for (const auto& [low, high] : ranges_) {
    if (low > next) others[next] = low - 1;
    next = high + 1;
  }
  if (next <= kLastRune) others[next] = kLastRune;
  ranges_ = std::move(others);
}

bool RuneSet::HasBeyondAscii() const {
  return !ranges_.empty() && ranges_.rbegin()->second > 0x7F;
}

}  // namespace ingot::regex
