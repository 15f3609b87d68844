// UTF-8 as RFC 3629 defines it: no overlong forms, no surrogates, nothing above
// U+10FFFF.
#ifndef INGOT_BASE_UTF8_H_
#define INGOT_BASE_UTF8_H_

#include <cstddef>

#include "absl/strings/string_view.h"

namespace ingot {

// The number of bytes of the code point that `text` begins with, 1 to 4; 0
// when it begins with none, or is empty.
size_t Utf8SequenceLength(absl::string_view text);

// Whether all of `text` is UTF-8. Empty text is.
bool IsUtf8(absl::string_view text);

}  // namespace ingot

#endif  // INGOT_BASE_UTF8_H_
