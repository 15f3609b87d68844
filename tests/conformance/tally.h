// A tally counts the cases that passed, by operator.
#ifndef INGOT_TESTS_CONFORMANCE_TALLY_H_
#define INGOT_TESTS_CONFORMANCE_TALLY_H_

#include <map>
#include <string>

#include "absl/strings/string_view.h"

namespace ingot {

enum class Outcome {
  kPassed,
  kFailed,
  kSkipped,  // Ingot says that it does not support the model
};

class Tally {
 public:
  // `way` is the interpreter or a target, `op` what the case is about.
  void Add(absl::string_view way, absl::string_view op, Outcome outcome);

  // A table: a line for each operator, one of totals for each way.
  std::string ToString() const;

 private:
  struct Counts {
    int by_outcome[3] = {};
  };

  std::map<std::string, std::map<std::string, Counts>> ways_;
};

}  // namespace ingot

#endif  // INGOT_TESTS_CONFORMANCE_TALLY_H_
