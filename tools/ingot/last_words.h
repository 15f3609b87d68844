// A command that ends in the middle of its work says this: one line, as of any
// other failure.

#ifndef INGOT_TOOLS_INGOT_LAST_WORDS_H_
#define INGOT_TOOLS_INGOT_LAST_WORDS_H_

#include "absl/strings/string_view.h"

namespace ingot {

// Prepares this process to say "ingot: `call`: why" on stderr when a thread of
// it ends by an exception (status 1) or a signal of a crash (which then ends it
// as ever). What libraries would print by themselves is dropped. A sanitizer's
// handlers stay as they are. Call it once, before there are threads.
void PrepareLastWords(absl::string_view call);

// Says why and ends the process with status 1, without destructors and from any
// thread. `why` is one line.
[[noreturn]] void EndWith(absl::string_view why);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_LAST_WORDS_H_
