// Test data of a model some of whose inputs and outputs became states.
#ifndef INGOT_TOOLS_INGOT_STATE_DATA_H_
#define INGOT_TOOLS_INGOT_STATE_DATA_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/executor/executor.h"
#include "runtime/plan/plan.pb.h"
#include "runtime/tensor.h"
#include "tools/ingot/compare.h"
#include "tools/ingot/test_data.h"
#include "tools/ingot/verdict.h"

namespace ingot {

// A state, and what the model calls it after a run.
struct StateInfo {
  TensorInfo info;
  std::string result;
};
std::vector<StateInfo> StatesOf(const Plan& plan,
                                const GraphExecutor& executor);

// The states as they are before and after a run, one of each for each state; an
// undefined tensor where the data do not say; empty where they say nothing.
struct StateData {
  std::vector<Tensor> before, after;
};

// Reads a case as ReadCase does, of files that hold the model's inputs and
// outputs as they were before some of them became states. The tensors' names
// tell what they are. The number of entries that the states have, where a run
// must be told, is that of what the data have for them. InvalidArgument names
// the file or what is missing.
absl::StatusOr<Case> ReadCaseOfStates(const TestDataSet& set,
                                      absl::Span<const StateInfo> states,
                                      const GraphExecutor& executor,
                                      StateData* data);

// Writes what the states are before a run at their beginnings, and zeros after
// that. States that the data leave out stay as they are: a run goes on where
// the one before it ended. InvalidArgument where there is no room.
absl::Status SetStates(const StateData& data,
                       absl::Span<const StateInfo> states,
                       GraphExecutor* executor);

// Compares the beginnings of the states with what the data say of them.
absl::Status CompareStates(const std::string& set, const StateData& data,
                           absl::Span<const StateInfo> states,
                           const Tolerance& tolerance, GraphExecutor* executor,
                           Verdict* verdict);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_STATE_DATA_H_
