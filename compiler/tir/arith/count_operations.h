// The arithmetic that a function does, for setting its time against what a
// machine could do in it.
#ifndef INGOT_COMPILER_TIR_ARITH_COUNT_OPERATIONS_H_
#define INGOT_COMPILER_TIR_ARITH_COUNT_OPERATIONS_H_

#include <cstdint>
#include <optional>

#include "compiler/tir/ir.h"

namespace ingot::tir {

// How many operations one run makes on the values that it stores: one for each
// arithmetic operator, minimum and mathematical function, two for a product
// with a sum, eight for dot4, four for dot2. Where things are in memory is not
// counted. Guards count as if they always held, loops as if they ran as often
// as the ranges of others let them, and of two branches the longer one counts.
// Empty where it depends on symbols or on values.
std::optional<uint64_t> CountOperations(const PrimFunc& func);

}  // namespace ingot::tir

#endif  // INGOT_COMPILER_TIR_ARITH_COUNT_OPERATIONS_H_
