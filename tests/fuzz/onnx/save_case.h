// Random models on disk, in ONNX's layout of test cases.
#ifndef INGOT_TESTS_FUZZ_ONNX_SAVE_CASE_H_
#define INGOT_TESTS_FUZZ_ONNX_SAVE_CASE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/fuzz/onnx/check_model.h"

namespace ingot::fuzz {

// Writes model.onnx in the form that `way` gives it, its inputs and what ONNX
// Runtime computes (test_data_set_0), and `note` (note.txt) into `dir`, which
// is made. `ingot verify DIR/model.onnx --test-data=DIR/test_data_set_0`
// repeats what failed.
absl::Status SaveCase(const OnnxModel& model, const Way& way,
                      const std::string& note, const std::string& dir);

// A line for each node: what it reads with types and shapes, its attributes.
std::string Describe(const OnnxModel& model);

}  // namespace ingot::fuzz

#endif  // INGOT_TESTS_FUZZ_ONNX_SAVE_CASE_H_
