// What the families of schedules share.
#ifndef INGOT_COMPILER_TE_SCHEDULES_COMMON_H_
#define INGOT_COMPILER_TE_SCHEDULES_COMMON_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/target/target.h"
#include "compiler/te/schedule.h"

namespace ingot::te {

// Below this many scalar operations, waking another thread costs more than it
// saves.
inline constexpr int64_t kParallelWork = 1 << 16;
// What a dimension is taken to be where only its symbol is known.
inline constexpr int64_t kGuess = 64;

// The tag's value; empty when there is none.
absl::string_view TagOf(const Stage* stage, absl::string_view key);

std::optional<int64_t> ConstExtent(const Expr& extent);
int64_t GuessExtent(const Expr& extent);
// Iterations of all loops of the stage, symbols guessed.
int64_t GuessWork(const Stage* stage);
int64_t OutputElements(const Stage* stage);
// Rough cost of one evaluation of the stage's value, in vector instructions.
int64_t ValueCost(const Expr& value);
// Calls exp, tanh and the like, which cost much more than a load.
bool IsExpensive(const Expr& value);

// How far apart in memory the elements are that `var` and var + 1 read: 0 and
// 1 are what they are, anything else and the unknown is -1.
int AccessStride(const tir::Load& load, const tir::Var* var);
// Loads in the value, in order.
std::vector<const tir::Load*> LoadsOf(const Expr& value);

// Whether `reader` is element-wise in `stage`: at each of its points it reads
// the result of `stage` at that point alone.
bool ReadsAtOwnPoints(const Stage* reader, const Stage* stage);

// Lanes of the stage's own element type, at least 1.
int64_t LanesFor(const Stage* stage, const CpuModel& cpu);

// Inlines the compute stages that cost little where they are read.
void InlineCheap(Schedule* schedule);

// Marks the first `count` leaves, fused, parallel if the work is worth it.
// Returns the fused loop (none when count is 0).
std::optional<Loop> FuseParallel(Stage* stage, int count, bool parallel);

// Loops for a compute stage at the root or attached: outer loops fused (and
// parallel, when at the root and worth it), the innermost in vectors.
void ScheduleElementwise(Stage* stage, const CpuModel& cpu);

// Cuts every axis on which the value has conditions. Returns the first such
// axis, or the rank.
int SpecializeConditions(Stage* stage);

// Loops for a kernel whose reductions run along rows of its output: softmax,
// normalizations, means. False when it is not of that form; stages are then
// still untouched. Other stages are left for others.
bool ScheduleRows(Schedule* schedule, const CpuModel& cpu);

// Loops for one reduction by itself.
void ScheduleReduction(Schedule* schedule, Stage* stage, const CpuModel& cpu);

}  // namespace ingot::te

#endif  // INGOT_COMPILER_TE_SCHEDULES_COMMON_H_
