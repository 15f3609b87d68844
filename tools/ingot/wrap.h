// Text in lines that fit a terminal.

#ifndef INGOT_TOOLS_INGOT_WRAP_H_
#define INGOT_TOOLS_INGOT_WRAP_H_

#include <cstddef>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace ingot {

inline constexpr size_t kAnyWidth = std::numeric_limits<size_t>::max();

// The columns of the terminal that `stream` is; kAnyWidth for a file or a pipe,
// whose reader finds lines whole.
size_t WidthOf(FILE* stream);

// Columns that UTF-8 text takes, one a character: right for what names hold.
size_t DisplayWidth(absl::string_view text);

// `text`, at least one line, in lines of at most `width` columns: broken at
// spaces, longer words after what joins names, and others anywhere.
std::vector<std::string> Wrap(absl::string_view text, size_t width);

// `text` as Wrap breaks it, all lines but the first indented, for a place that
// is `indent` columns into lines of `width`.
std::string WrapAt(size_t indent, absl::string_view text, size_t width);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_WRAP_H_
