#ifndef INGOT_TESTS_CONFORMANCE_EXPECTED_FAILURES_H_
#define INGOT_TESTS_CONFORMANCE_EXPECTED_FAILURES_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ingot {

// The cases that are known not to pass, each with a reason.
class ExpectedFailures {
 public:
  // Reads lines "folder/case  # reason", for all ways, or
  // "way: folder/case  # reason" for one. Blank lines and lines that start with
  // # are skipped. InvalidArgument for a line without a reason or a case listed
  // twice.
  static absl::StatusOr<ExpectedFailures> Read(absl::string_view path);

  // The reason for which a case fails by a way; null when it should pass.
  const std::string* Reason(absl::string_view way, absl::string_view key) const;

  // Every line: its way (empty: all) and its case.
  std::vector<std::pair<std::string, std::string>> entries() const;

 private:
  std::map<std::pair<std::string, std::string>, std::string> reasons_;
};

}  // namespace ingot

#endif  // INGOT_TESTS_CONFORMANCE_EXPECTED_FAILURES_H_
