// The random models that Ingot rightly does not support, and why.
#ifndef INGOT_TESTS_FUZZ_ONNX_REFUSALS_H_
#define INGOT_TESTS_FUZZ_ONNX_REFUSALS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace ingot::fuzz {

// Errors of compiling that are no defect. Every other one is.
struct Refusal {
  std::string op;    // whose error it is; empty: of any
  std::string text;  // a part of the message
  std::string why;
};

const std::vector<Refusal>& Refusals();

// Whether one of them explains the message, which names its operator as the
// importer does: "(Conv)".
bool IsExplained(absl::string_view message);

}  // namespace ingot::fuzz

#endif  // INGOT_TESTS_FUZZ_ONNX_REFUSALS_H_
