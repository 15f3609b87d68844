// Values that stay from run to run: an input of main, and the output that takes
// its place when a run is over. Attribute "states" of main lists both, pair by
// pair, as positions among the inputs and the outputs.
#ifndef INGOT_COMPILER_RELAY_STATES_H_
#define INGOT_COMPILER_RELAY_STATES_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "compiler/relay/ir.h"

namespace ingot::relay {

struct State {
  int input, output;
};

std::vector<State> StatesOf(const Function& main);
void SetStates(Function* main, absl::Span<const State> states);

// Says what is wrong with the attribute: positions that are not there or are
// listed twice, types that differ or have symbols. The function must be sound
// otherwise.
absl::Status CheckStates(const Function& function);

// An operator's attribute of this name, where it is 1, says that the result is
// where its first operand is, which it does not read: it changes some of the
// elements.
inline constexpr char kInPlaceAttr[] = "in_place";

// The input of a kernel that its result takes the place of; -1: none.
int UpdatedInput(const Function& kernel);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_STATES_H_
