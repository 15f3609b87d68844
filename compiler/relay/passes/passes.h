// The passes, one a file. Private to this folder; pass.h lists them by name.
#ifndef INGOT_COMPILER_RELAY_PASSES_PASSES_H_
#define INGOT_COMPILER_RELAY_PASSES_PASSES_H_

#include "absl/status/statusor.h"
#include "compiler/relay/passes/pass.h"

namespace ingot::relay {

absl::StatusOr<bool> InferTypesPass(Module* module, PassContext* context);
absl::StatusOr<bool> FoldConstants(Module* module, PassContext* context);
absl::StatusOr<bool> FoldBatchNorm(Module* module, PassContext* context);
absl::StatusOr<bool> Simplify(Module* module, PassContext* context);
absl::StatusOr<bool> EliminateDead(Module* module, PassContext* context);
absl::StatusOr<bool> EliminateCommon(Module* module, PassContext* context);
absl::StatusOr<bool> Partition(Module* module, PassContext* context);
absl::StatusOr<bool> BlockLayout(Module* module, PassContext* context);
absl::StatusOr<bool> PackWeights(Module* module, PassContext* context);
absl::StatusOr<bool> FuseOps(Module* module, PassContext* context);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_PASSES_PASSES_H_
