// A fuzz target of this folder is made of these. The same target runs in two
// ways: under libFuzzer with --config=fuzz, for as long as one likes, and as an
// ordinary test that replays its inputs and some thousand changes of them.

#ifndef INGOT_TESTS_FUZZ_READERS_TARGET_H_
#define INGOT_TESTS_FUZZ_READERS_TARGET_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ingot::fuzz {

// Inputs to begin with, sound ones for the most part.
std::vector<std::string> Seeds();

// Reads `bytes`, which may be anything, and returns whether the reader took
// them. It is an error if the reader broke a promise that no sanitizer sees,
// such as reading back what it wrote.
absl::StatusOr<bool> TryInput(absl::string_view bytes);

}  // namespace ingot::fuzz

#endif  // INGOT_TESTS_FUZZ_READERS_TARGET_H_
