// One function a family of operators: adds its definitions to a registry.
// AlreadyExists when a name is taken.
#ifndef INGOT_COMPILER_RELAY_OPS_FAMILIES_H_
#define INGOT_COMPILER_RELAY_OPS_FAMILIES_H_

#include "absl/status/status.h"
#include "compiler/relay/op.h"

namespace ingot::relay::ops {

absl::Status RegisterElementwise(OpRegistry* registry);
absl::Status RegisterBinary(OpRegistry* registry);
absl::Status RegisterConvolution(OpRegistry* registry);
absl::Status RegisterMatmul(OpRegistry* registry);
absl::Status RegisterPool(OpRegistry* registry);
absl::Status RegisterNormalization(OpRegistry* registry);
absl::Status RegisterReduction(OpRegistry* registry);
absl::Status RegisterView(OpRegistry* registry);
absl::Status RegisterRearrange(OpRegistry* registry);
absl::Status RegisterLayout(OpRegistry* registry);
absl::Status RegisterIndexing(OpRegistry* registry);
absl::Status RegisterGenerate(OpRegistry* registry);
absl::Status RegisterResize(OpRegistry* registry);
absl::Status RegisterRecurrent(OpRegistry* registry);
absl::Status RegisterQuantize(OpRegistry* registry);
absl::Status RegisterRunTime(OpRegistry* registry);
absl::Status RegisterSelect(OpRegistry* registry);
absl::Status RegisterSampling(OpRegistry* registry);
absl::Status RegisterText(OpRegistry* registry);
absl::Status RegisterTextSearch(OpRegistry* registry);
absl::Status RegisterFloat8(OpRegistry* registry);
absl::Status RegisterLinearAlgebra(OpRegistry* registry);
absl::Status RegisterImage(OpRegistry* registry);
absl::Status RegisterRandom(OpRegistry* registry);
absl::Status RegisterList(OpRegistry* registry);

}  // namespace ingot::relay::ops

#endif  // INGOT_COMPILER_RELAY_OPS_FAMILIES_H_
