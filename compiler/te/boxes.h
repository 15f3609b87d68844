// The part of a tensor that a loop nest reads. Used by lower.cc only.
#ifndef INGOT_COMPILER_TE_BOXES_H_
#define INGOT_COMPILER_TE_BOXES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/te/loop_state.h"
#include "compiler/te/schedule.h"
#include "compiler/te/side.h"

namespace ingot::te {

// The box of `producer`'s elements that the loops still to be made in `state`
// read, directly or through other stages attached there. FailedPrecondition
// when some reader is elsewhere.
absl::StatusOr<std::vector<Side>> RequiredBox(const Schedule& schedule,
                                              const Stage* producer,
                                              const LoopState& state);

// The range of an axis, cut at these places or, where there are none, where
// conditions of the value change (see Stage::Specialize).
std::vector<Side> PartsOf(const LoopState& state, int axis,
                          const std::vector<int64_t>& places);

}  // namespace ingot::te

#endif  // INGOT_COMPILER_TE_BOXES_H_
