// Ranges of code points as ranges of UTF-8's bytes. Internal to this folder.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_TEXT_REGEX_BYTE_RANGES_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_TEXT_REGEX_BYTE_RANGES_H_

#include <vector>

#include "compiler/frontends/onnx/text/regex/rune_set.h"

namespace ingot::regex {

struct ByteRange {
  int low = 0, high = 0;
};

// One range a byte.
using ByteSequence = std::vector<ByteRange>;

// Sequences of which one fits exactly if the bytes are the UTF-8 of one of the
// code points. As RE2 has it, all code points from 0x80 on may also be written
// longer than they need be.
std::vector<ByteSequence> Utf8Sequences(const RuneSet& runes);

}  // namespace ingot::regex

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_TEXT_REGEX_BYTE_RANGES_H_
