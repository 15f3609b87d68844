// The loops of an attention: what each thread does for a block of queries.
#ifndef INGOT_COMPILER_SCHEDULES_CPU_ATTENTION_LOOPS_H_
#define INGOT_COMPILER_SCHEDULES_CPU_ATTENTION_LOOPS_H_

#include <cstdint>

#include "compiler/schedules/cpu/attention_parts.h"
#include "compiler/schedules/cpu/register_tile.h"
#include "compiler/tir/ir.h"

namespace ingot::te::cpu {

// Keys that are looked at together: a multiple of the rows of each tile. Sums
// are made for so many keys at a time, so that no machine has another number.
inline constexpr int64_t kAttentionKeys = 96;

struct AttentionBlocks {
  RegisterTile tile;  // keys, or columns of values, by vectors of queries
  int64_t lanes = 1;
  int64_t panels = 1;  // so many tiles' widths of queries are a block

  int64_t width() const { return tile.vectors * lanes; }
};

// The loops that compute the result.
tir::Stmt AttentionLoops(const AttentionStages& stages,
                         const AttentionBlocks& blocks);

}  // namespace ingot::te::cpu

#endif  // INGOT_COMPILER_SCHEDULES_CPU_ATTENTION_LOOPS_H_
