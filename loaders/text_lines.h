// Artifacts that are lines of words.
#ifndef INGOT_LOADERS_TEXT_LINES_H_
#define INGOT_LOADERS_TEXT_LINES_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace ingot {

using Words = absl::Span<const absl::string_view>;

// Calls `read` with the words of each line, at least one, in order; lines that
// are blank or begin with '#' are left out. Returns the first error of `read`,
// with "line 3: " in front.
absl::Status ReadLines(absl::string_view text,
                       const std::function<absl::Status(Words)>& read);

// The words after `key`, such as "shape:", up to the next one that ends in a
// colon.
Words Behind(absl::string_view key, Words words);

// Adds all words as numbers, of int64_t or float, to `*numbers`.
// InvalidArgument names a word that is none.
template <typename T>
absl::Status ReadNumbers(Words words, std::vector<T>* numbers);

// Adds all words as dimensions to `*shape`, and says how many elements it has.
// The errors of ReadNumbers and CountElements.
absl::Status ReadShape(Words words, std::vector<int64_t>* shape,
                       int64_t* elements);

}  // namespace ingot

#endif  // INGOT_LOADERS_TEXT_LINES_H_
