#ifndef INGOT_TESTS_CONFORMANCE_EXPECTED_FAILURES_H_
#define INGOT_TESTS_CONFORMANCE_EXPECTED_FAILURES_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ingot {

// Reads lines "folder/case  # reason"; blank lines and lines that start with #
// are skipped. Gives the reason by case. InvalidArgument for a line without a
// reason or a case listed twice.
absl::StatusOr<std::map<std::string, std::string>> ReadExpectedFailures(
    absl::string_view path);

}  // namespace ingot

#endif  // INGOT_TESTS_CONFORMANCE_EXPECTED_FAILURES_H_
