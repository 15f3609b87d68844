// docs/operators.md, from what the importer registers and what ONNX's cases
// show.
#ifndef INGOT_TESTS_CONFORMANCE_OPERATORS_DOCUMENT_H_
#define INGOT_TESTS_CONFORMANCE_OPERATORS_DOCUMENT_H_

#include <string>

#include "absl/status/statusor.h"

namespace ingot {

// The whole document. Reads ONNX's cases and the list of expected failures,
// which must be among the caller's runfiles.
absl::StatusOr<std::string> OperatorsDocument();

}  // namespace ingot

#endif  // INGOT_TESTS_CONFORMANCE_OPERATORS_DOCUMENT_H_
