// The part of a tensor that a loop nest reads. Used by lower.cc only.
#ifndef INGOT_COMPILER_TE_BOXES_H_
#define INGOT_COMPILER_TE_BOXES_H_

#include <optional>
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

// A part of an axis, whose values are at least `from` and less than `to`.
struct Part {
  Side side;
  std::optional<Affine> from, to;
};

// The range of an axis, cut at these places or, where there are none, where
// conditions of the value change (see Stage::Specialize).
std::vector<Part> PartsOf(const LoopState& state, int axis,
                          const std::vector<int64_t>& places);

}  // namespace ingot::te

#endif  // INGOT_COMPILER_TE_BOXES_H_
