// One model on several targets, against the interpreter.
#ifndef INGOT_TESTS_FUZZ_COMPARE_TARGETS_H_
#define INGOT_TESTS_FUZZ_COMPARE_TARGETS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tests/fuzz/random_model.h"

namespace ingot::fuzz {

// Compiles the model of `seed` for `target` at `opt_level`, links and loads it
// as a user's, runs it and compares every output with what the interpreter says
// of the model as it was made: integers exactly, floats to 2e-3 of the largest.
// The error says what failed, with the model's text.
absl::Status CompareWithInterpreter(uint64_t seed,
                                    const RandomModelOptions& options,
                                    absl::string_view target, int opt_level);

}  // namespace ingot::fuzz

#endif  // INGOT_TESTS_FUZZ_COMPARE_TARGETS_H_
