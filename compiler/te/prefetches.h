#ifndef INGOT_COMPILER_TE_PREFETCHES_H_
#define INGOT_COMPILER_TE_PREFETCHES_H_

#include <vector>

#include "compiler/te/loop_state.h"
#include "compiler/te/schedule.h"
#include "compiler/tir/ir.h"

namespace ingot::te {

// Makes the requests of an iteration of `loop` (Stage::Prefetch), `state` being
// that of the loop's body. Used by lower.cc only.
std::vector<tir::Stmt> PrefetchesOf(const LoopState& state, Loop loop);

}  // namespace ingot::te

#endif  // INGOT_COMPILER_TE_PREFETCHES_H_
