// The values that a verification compares, and its result.
#ifndef INGOT_TOOLS_INGOT_VERDICT_H_
#define INGOT_TOOLS_INGOT_VERDICT_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "nlohmann/json.hpp"
#include "runtime/executor/executor.h"
#include "runtime/tensor_sequence.h"
#include "tools/ingot/compare.h"
#include "tools/ingot/output.h"
#include "tools/ingot/test_data.h"

namespace ingot {

// Inputs and what should come of them.
struct Case {
  std::string name;
  std::vector<TensorOrSequence> inputs;
  std::vector<TensorOrSequence> outputs;
  std::set<size_t> text_outputs;  // the positions of those that are text
};

// Reads a case of test data for a model with these inputs and outputs.
absl::StatusOr<Case> ReadCase(const TestDataSet& set,
                              absl::Span<const TensorInfo> inputs,
                              absl::Span<const TensorInfo> outputs);

// The outputs that were compared so far.
class Verdict {
 public:
  Verdict();

  // `set` names the case, `name` and `type` the output.
  void Add(const std::string& set, const std::string& name,
           const std::string& type, const Comparison& comparison);

  std::string TableText() const { return table_.ToString(); }
  // `sets` is the number of cases. An error that is not finite becomes null.
  nlohmann::ordered_json Json(size_t sets, const Tolerance& tolerance) const;
  // DataLoss names the first output that is wrong.
  absl::Status ToStatus() const;
  // Names the --rtol-max that bears all wrong outputs, if a thousandth of the
  // largest number of each does; else empty.
  std::string RoundingHint() const;

 private:
  Table table_;
  nlohmann::ordered_json outputs_ = nlohmann::ordered_json::array();
  int compared_ = 0;
  int wrong_ = 0;
  std::string first_;
  int64_t elements_ = 0;
  int64_t mismatches_ = 0;
  double max_abs_err_ = 0;
  double max_rel_err_ = 0;
  double max_wrong_part_ = 0;  // of the largest number of a wrong output
};

// Compares `got`, the values of a model's `declared` outputs, with those of the
// case, a sequence tensor by tensor. Errors: as CompareOutputs of a run.
absl::Status CompareOutputs(const Case& expected,
                            absl::Span<const TensorInfo> declared,
                            absl::Span<const TensorOrSequence> got,
                            const Tolerance& tolerance, Verdict* verdict);

// Compares all outputs of a run with those of the case; a sequence tensor by
// tensor, if it has as many as it should. InvalidArgument when the two are not
// of the same number and kind; what differs otherwise goes into `verdict`.
absl::Status CompareOutputs(const Case& expected, const GraphExecutor& executor,
                            const Tolerance& tolerance, Verdict* verdict);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_VERDICT_H_
