#include "compiler/frontends/onnx/text/regex/byte_ranges.h"

#include <iterator>

namespace ingot::regex {
namespace {

// The last code point of so many bytes.
constexpr int kLastOf[] = {0, 0x7F, 0x7FF, 0xFFFF, kLastRune};
constexpr int kMostBytes = 4;

// Byte `i` of the `n` that rune has.
int ByteOf(int rune, int i, int n) {
  constexpr int kLead[] = {0, 0, 0xC0, 0xE0, 0xF0};
  const int bits = rune >> (6 * (n - 1 - i));
  return i == 0 ? kLead[n] | bits : 0x80 | (bits & 0x3F);
}

void AddRange(int low, int high, std::vector<ByteSequence>* sequences) {
  if (low == 0x80 && high == kLastRune) {
    constexpr ByteRange kMore = {0x80, 0xBF};
    sequences->push_back({{0xC2, 0xDF}, kMore});
    sequences->push_back({{0xE0, 0xEF}, kMore, kMore});
    sequences->push_back({{0xF0, 0xF4}, kMore, kMore, kMore});
    return;
  }
  // Cut where the number of bytes changes.
  int bytes = 1;
  while (low > kLastOf[bytes]) ++bytes;
  if (high > kLastOf[bytes]) {
    AddRange(low, kLastOf[bytes], sequences);
    AddRange(kLastOf[bytes] + 1, high, sequences);
    return;
  }
  // Cut until after the first byte that differs all bytes are possible.
  for (int last = 1; last < bytes; ++last) {
    const int mask = (1 << (6 * last)) - 1;
    if ((low & ~mask) == (high & ~mask)) continue;
    const int cut = (low & mask) != 0       ? low | mask
                    : (high & mask) != mask ? (high & ~mask) - 1
                                            : high;
    if (cut == high) continue;
    AddRange(low, cut, sequences);
    AddRange(cut + 1, high, sequences);
    return;
  }
  ByteSequence sequence;
  for (int i = 0; i < bytes; ++i) {
    sequence.push_back({ByteOf(low, i, bytes), ByteOf(high, i, bytes)});
  }
  sequences->push_back(std::move(sequence));
}

}  // namespace

std::vector<ByteSequence> Utf8Sequences(const RuneSet& runes) {
  static_assert(std::size(kLastOf) == kMostBytes + 1);
  std::vector<ByteSequence> sequences;
  for (const auto& [low, high] : runes.ranges()) {
    const bool both = low < 0x80 && high > 0x7F;
    if (both) AddRange(low, 0x7F, &sequences);
    AddRange(both ? 0x80 : low, high, &sequences);
  }
  return sequences;
}

}  // namespace ingot::regex
