// Private to this folder: regions as calls.
#ifndef INGOT_BACKENDS_CMSIS_NN_LOWER_H_
#define INGOT_BACKENDS_CMSIS_NN_LOWER_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/cmsis_nn/workspace.h"
#include "compiler/relay/ir.h"
#include "compiler/target/target.h"

namespace ingot::cmsis_nn {

// The calls of a region's layers, one after the other, with their weights and
// workspaces. Between them values are signed bytes with channels last; loops
// bring what comes from outside into that form, and results back.
absl::StatusOr<LoweredRegion> LowerRegion(const relay::Module& module,
                                          const relay::Function& region,
                                          absl::string_view symbol,
                                          Extension extension);

}  // namespace ingot::cmsis_nn

#endif  // INGOT_BACKENDS_CMSIS_NN_LOWER_H_
