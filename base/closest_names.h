// Finds the names that a misspelled word may have meant.
#ifndef INGOT_BASE_CLOSEST_NAMES_H_
#define INGOT_BASE_CLOSEST_NAMES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace ingot {

// The up to three of `known` that `word` may have meant, closest first: those
// that differ by at most two letters, or by a third of theirs, and those that
// begin with it.
std::vector<std::string> ClosestNames(absl::string_view word,
                                      absl::Span<const std::string> known);

// "did you mean link or list?"; empty when nothing is close.
std::string DidYouMean(absl::string_view word,
                       absl::Span<const std::string> known);

}  // namespace ingot

#endif  // INGOT_BASE_CLOSEST_NAMES_H_
