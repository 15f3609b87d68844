// Convolutions of volumes as convolutions of planes. Private to this folder.
#ifndef INGOT_COMPILER_RELAY_PASSES_CONV3D_PLANES_H_
#define INGOT_COMPILER_RELAY_PASSES_CONV3D_PLANES_H_

#include "absl/status/statusor.h"
#include "compiler/relay/ir.h"
#include "compiler/relay/passes/rules.h"

namespace ingot::relay {

// Makes a conv3d a conv2d. A kernel without height and width slides along the
// depth of data [n, c, d, h * w], which is a view. Of any other the planes that
// it covers become channels:
//
//   [n, c, d, h, w]  ->  [n * d', kernel's d * c, h, w]
//
// with a copy of the data for each plane of the kernel, little beside the
// products of a few output channels. The null Value for what stays: groups with
// kernels of several planes, and depths that only a run knows where the kernel
// steps or finds less padding than it reaches over.
absl::StatusOr<Value> AsPlanes(RuleContext& c, const Node& node);

// Computes an element-wise operator in the flat planes of a convolution along
// the depth, so that it becomes part of its kernel.
absl::StatusOr<Value> FollowInFlatPlanes(RuleContext& c, const Node& node);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_PASSES_CONV3D_PLANES_H_
