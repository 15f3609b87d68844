// Convolutions that cut an image into patches, as products. Private to this
// folder.
#ifndef INGOT_COMPILER_RELAY_PASSES_CONV_PATCHES_H_
#define INGOT_COMPILER_RELAY_PASSES_CONV_PATCHES_H_

#include "absl/status/statusor.h"
#include "compiler/relay/ir.h"
#include "compiler/relay/passes/rules.h"

namespace ingot::relay {

// Makes a conv2d of few channels whose large windows lie side by side a product
// of the patches and the kernels, which needs no incomplete tiles at the end of
// each row:
//
//   [n, c, h * kh, w * kw]  ->  [n * h * w, c * kh * kw]
//
// Its result has channels last, as layers of a transformer read it. The null
// Value for every other convolution.
absl::StatusOr<Value> AsProductOfPatches(RuleContext& c, const Node& node);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_PASSES_CONV_PATCHES_H_
