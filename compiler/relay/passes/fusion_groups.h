// Decides which nodes become one kernel. Private to this folder; fuse_ops
// builds the kernels.
#ifndef INGOT_COMPILER_RELAY_PASSES_FUSION_GROUPS_H_
#define INGOT_COMPILER_RELAY_PASSES_FUSION_GROUPS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/relay/ir.h"

namespace ingot::relay {

// The operators of one kernel in topological order. Only the last one's results
// are used outside.
struct FusionGroup {
  std::vector<Node*> nodes;
};

// Puts every operator that is not a view into exactly one group, of at most
// `max_group` operators. Groups are in the order of their last nodes.
//
//  * A convolution, product or reduction takes the element-wise operators and
//    broadcasts that follow, as long as the shape stays: they run while the
//    result is in registers. Diamonds such as x * sigmoid(x) are one step.
//  * Chains of element-wise operators join, and go into what rearranges their
//    result once, or sums it up. A product takes transposes of its operands.
//  * Bytes are dequantised where they are read: a group ends before a
//    `dequantize` rather than after it, and several readers get one each.
absl::StatusOr<std::vector<FusionGroup>> MakeFusionGroups(Function* function,
                                                          int max_group);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_PASSES_FUSION_GROUPS_H_
