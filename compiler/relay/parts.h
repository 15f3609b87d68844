// Where parts of a value lie in it: concatenations and slices that need to move
// no byte if memory is given out accordingly.
#ifndef INGOT_COMPILER_RELAY_PARTS_H_
#define INGOT_COMPILER_RELAY_PARTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/relay/ir.h"

namespace ingot::relay {

// The value whose bytes a view shows; of what is no view, the value itself.
Value Viewed(Value value);

// The operands of a concatenation of constant shapes, if each lies in the
// result as a whole: byte offsets, one for each. Nothing for other nodes.
std::optional<std::vector<int64_t>> OffsetsOfJoined(const Node& node);

// The same of a slice: the byte offset of its result in its operand.
std::optional<int64_t> OffsetOfCut(const Node& node);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_PARTS_H_
