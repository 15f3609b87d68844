// A parsed pattern. Internal to this folder.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_TEXT_REGEX_SYNTAX_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_TEXT_REGEX_SYNTAX_H_

#include <vector>

#include "compiler/frontends/onnx/text/regex/rune_set.h"

namespace ingot::regex {

// A condition on the place between two bytes, which consumes none.
enum class Assertion {
  kTextStart,
  kTextEnd,
  kLineStart,
  kLineEnd,
  kWordBoundary,
  kNoWordBoundary,
};

struct Syntax {
  enum Kind {
    kRunes,      // one code point of `runes`
    kAnyByte,    // one byte, whatever it is
    kAssertion,  // `assertion`
    kConcat,     // the parts, one after the other; of none: the empty string
    kAlternate,  // one of the parts
    kRepeat,     // the one part, `min` to `max` times
  };
  static constexpr int kNoLimit = -1;

  Kind kind = kConcat;
  RuneSet runes;
  Assertion assertion = Assertion::kTextStart;
  int min = 0, max = kNoLimit;
  std::vector<Syntax> parts;
};

}  // namespace ingot::regex

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_TEXT_REGEX_SYNTAX_H_
