// Questions about the operations of a kernel that templates ask, whatever the
// machine: extents, work, how memory is read.
#ifndef INGOT_COMPILER_SCHEDULES_STAGE_FACTS_H_
#define INGOT_COMPILER_SCHEDULES_STAGE_FACTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/te/schedule.h"

namespace ingot::te {

// The extent that is assumed for a dimension of which only the symbol is known.
inline constexpr int64_t kGuess = 64;

// Of numbers that are not negative; b is not 0.
inline int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

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

// Returns how far apart in memory the elements are that `var` and var + 1 read,
// if that is at most 2 elements forward; -1 for anything else and where it is
// not known.
int AccessStride(const tir::Load& load, const tir::Var* var);
// Whether what is read depends on `var`.
bool DependsOn(const tir::Load& load, const tir::Var* var);
// Every load in the stage's value reads the same or the next element as `var`
// goes up by one.
bool IsContiguous(const Stage* stage, const tir::Var* var);
// The same where elements may also be two apart, as in windows that move by
// two: parts of two vectors then make one.
bool IsNearlyContiguous(const Stage* stage, const tir::Var* var);
// Loads in the value, in order.
std::vector<const tir::Load*> LoadsOf(const Expr& value);

// Whether `reader` is element-wise in `stage`: at each of its points it reads
// the result of `stage` at that point alone.
bool ReadsAtOwnPoints(const Stage* reader, const Stage* stage);
// Whether `reader` reads the elements of `buffer` at its own points alone.
bool ReadsAtOwnPoints(const Stage& reader, const tir::Buffer& buffer);

// The padding that only `reader` reads; null when there is none.
Stage* FindPad(const Schedule& schedule, const Stage& reader);

}  // namespace ingot::te

#endif  // INGOT_COMPILER_SCHEDULES_STAGE_FACTS_H_
