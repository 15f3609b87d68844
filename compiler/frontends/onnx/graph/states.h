// Values that stay from run to run. Internal to the ONNX frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_GRAPH_STATES_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_GRAPH_STATES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/frontends/frontend.h"
#include "compiler/relay/import/call_builder.h"
#include "compiler/relay/ir.h"
#include "onnx/onnx.pb.h"

namespace ingot::onnx_frontend {

class NodeContext;

// An input of the model that stays, and the output that is its next value.
struct ImportedState {
  std::string input, output;
  std::vector<int64_t> sizes;  // as StateOption has them
  // The dimension along which a run adds entries; -1: none, each run gives it
  // as a whole.
  int axis = -1;
  // All of it, with room for more entries. What the model calls the input are
  // the first `past` of them.
  relay::Value whole;
  tir::Expr past;
  relay::Value filled;
  // `whole` with the entries that the run adds, and what the model calls the
  // output; null until something adds them.
  relay::Value updated, result;
};

// The states that the options ask for. InvalidArgument where the model has no
// such input or output.
absl::StatusOr<std::vector<ImportedState>> FindStates(
    const onnx::GraphProto& graph, absl::Span<const StateOption> options);

// The state whose entries, as many as there are before a run, operand i of a
// node is, unless something added more; else null.
absl::StatusOr<ImportedState*> StateInput(NodeContext& c, int i);

// Writes `entries` into the state, along its axis from `starts` on (i64, one
// for all or one for each of the first dimension), and gives the whole.
// `circular`: after the last entry comes the first one.
absl::StatusOr<relay::Value> UpdateState(relay::CallBuilder& calls,
                                         relay::Value entries,
                                         relay::Value starts,
                                         ImportedState* state,
                                         bool circular = false);
// Adds `entries` after those that there are, and gives all of them, which is
// what the model calls the output.
absl::StatusOr<relay::Value> AppendToState(relay::CallBuilder& calls,
                                           relay::Value entries,
                                           ImportedState* state);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_GRAPH_STATES_H_
