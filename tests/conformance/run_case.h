// One ONNX case by one way through Ingot.
#ifndef INGOT_TESTS_CONFORMANCE_RUN_CASE_H_
#define INGOT_TESTS_CONFORMANCE_RUN_CASE_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tests/conformance/onnx_case.h"

namespace ingot {

// The way that compiles nothing: each operator's definition, node by node, by
// the loop interpreter. Every other way is the text of a target.
inline constexpr char kInterpreter[] = "interpreter";

// Imports the case's model and compares its outputs with those of all its data
// sets. For a target the model is compiled, linked, loaded and executed as a
// user's would be.
//
// Unimplemented when Ingot says that it does not support the model; anything
// else says what went wrong, and where.
absl::Status RunCase(absl::string_view way, const OnnxCase& c);

}  // namespace ingot

#endif  // INGOT_TESTS_CONFORMANCE_RUN_CASE_H_
