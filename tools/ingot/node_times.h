// Divides the time of a run among the model's nodes.
#ifndef INGOT_TOOLS_INGOT_NODE_TIMES_H_
#define INGOT_TOOLS_INGOT_NODE_TIMES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "loaders/load.h"
#include "runtime/executor/profiler.h"
#include "runtime/tensor_sequence.h"
#include "tools/ingot/output.h"

namespace ingot {

// All calls of a function for the same nodes in one run.
struct NodeTime {
  std::string source;    // the model's nodes; empty for the executor's own work
  std::string function;  // or what a step that is no function does
  int calls = 0;
  double seconds = 0;       // without what it calls itself
  uint64_t bytes = 0;       // of operands and results; 0 where unknown
  uint64_t operations = 0;  // PlanCall.operations of all of them
  bool on_cpu = true;
};

// The middle one of `values`, or the mean of the two in the middle; there is at
// least one.
double Median(std::vector<double> values);

// The times of one run, in the order in which calls began.
std::vector<NodeTime> TimesOfRun(absl::Span<const Profiler::Event> events);

// The medians over `runs` runs after a warm-up, longest first. Errors: the
// executor's.
absl::StatusOr<std::vector<NodeTime>> MeasureNodes(
    const LoadedModel& model, absl::Span<const TensorOrSequence> inputs,
    int threads, int64_t runs, Progress* progress);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_NODE_TIMES_H_
