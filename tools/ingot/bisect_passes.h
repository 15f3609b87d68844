// The pass over a module that changes what it means.
#ifndef INGOT_TOOLS_INGOT_BISECT_PASSES_H_
#define INGOT_TOOLS_INGOT_BISECT_PASSES_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/relay/ir.h"
#include "runtime/tensor_sequence.h"
#include "tools/ingot/compare.h"

namespace ingot {

// The number of passes in (right, wrong] that it takes for the results to be
// wrong: they are right after `right` of them and wrong after `wrong`.
// `is_right` is asked about log2(wrong - right) times.
absl::StatusOr<int> FirstWrongPass(
    int right, int wrong,
    const std::function<absl::StatusOr<bool>(int passes)>& is_right);

// A module's values in main, all computed.
struct ModuleValues {
  const relay::Module* module;
  // Parallel to each other; without sequences.
  std::vector<relay::Value> values;
  std::vector<Tensor> tensors;
};

// Interprets main, of which every value then is an output. `module` outlives
// the result.
absl::StatusOr<ModuleValues> ComputeAll(
    relay::Module* module, const std::vector<TensorOrSequence>& inputs);

// The node where a pass went wrong.
struct WrongNode {
  std::string name;
  std::vector<std::string> sources;  // the model's nodes that it computes
  // It computes none of them; `sources` are those of what first reads it.
  bool is_between_nodes = false;
  // Beside the value of the same name before the pass; empty where there was
  // none.
  std::string problem;
};

// The first node of main after a pass whose results lead to the wrong output,
// while all of its operands are values that were there before the pass, under
// the same names and with the same elements. Elements are the same in any
// order, where a layout was changed. A node that a right one hides, such as the
// first of two factors that a pass has exchanged, is none. Of a branch or a
// loop whose bodies are wrong it is the branch or the loop. Has no name where
// all nodes are as before.
absl::StatusOr<WrongNode> FirstWrongNode(const ModuleValues& before,
                                         const ModuleValues& after,
                                         const Tolerance& tolerance);

}  // namespace ingot

#endif  // INGOT_TOOLS_INGOT_BISECT_PASSES_H_
