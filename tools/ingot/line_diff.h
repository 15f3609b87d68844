// Differences between two texts, line by line.
#ifndef INGOT_TOOLS_INGOT_LINE_DIFF_H_
#define INGOT_TOOLS_INGOT_LINE_DIFF_H_

#include <string>

#include "absl/strings/string_view.h"

namespace ingot {

// The lines that have to go from `a` and to come for it to be `b`, as `diff -u`
// shows them: "@@ -3,7 +3,8 @@", then lines that start with "-", "+" or, three
// at most around each change, " ". Empty for equal texts.
//
// The fewest lines are found as Myers describes ("An O(ND) difference
// algorithm and its variations", 1986). Texts with more than a few thousand
// changed lines are shown as one change, which takes neither time nor memory.
std::string LineDiff(absl::string_view a, absl::string_view b);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_LINE_DIFF_H_
