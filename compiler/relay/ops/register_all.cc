#include "compiler/relay/ops/register_all.h"

#include <cstdio>
#include <cstdlib>

#include "compiler/relay/ops/families.h"
#include "compiler/status_macros.h"

namespace ingot::relay {

absl::Status RegisterAllOps(OpRegistry* registry) {
  INGOT_RETURN_IF_ERROR(ops::RegisterElementwise(registry));
  INGOT_RETURN_IF_ERROR(ops::RegisterBinary(registry));
  INGOT_RETURN_IF_ERROR(ops::RegisterConvolution(registry));
  INGOT_RETURN_IF_ERROR(ops::RegisterMatmul(registry));
  INGOT_RETURN_IF_ERROR(ops::RegisterPool(registry));
  INGOT_RETURN_IF_ERROR(ops::RegisterNormalization(registry));
  INGOT_RETURN_IF_ERROR(ops::RegisterReduction(registry));
  INGOT_RETURN_IF_ERROR(ops::RegisterView(registry));
  INGOT_RETURN_IF_ERROR(ops::RegisterRearrange(registry));
  INGOT_RETURN_IF_ERROR(ops::RegisterLayout(registry));
  INGOT_RETURN_IF_ERROR(ops::RegisterIndexing(registry));
  INGOT_RETURN_IF_ERROR(ops::RegisterGenerate(registry));
  INGOT_RETURN_IF_ERROR(ops::RegisterResize(registry));
  INGOT_RETURN_IF_ERROR(ops::RegisterRecurrent(registry));
  INGOT_RETURN_IF_ERROR(ops::RegisterSampling(registry));
  INGOT_RETURN_IF_ERROR(ops::RegisterLinearAlgebra(registry));
  INGOT_RETURN_IF_ERROR(ops::RegisterImage(registry));
  INGOT_RETURN_IF_ERROR(ops::RegisterRandom(registry));
  INGOT_RETURN_IF_ERROR(ops::RegisterList(registry));
  INGOT_RETURN_IF_ERROR(ops::RegisterFloat8(registry));
  INGOT_RETURN_IF_ERROR(ops::RegisterRunTime(registry));
  INGOT_RETURN_IF_ERROR(ops::RegisterSelect(registry));
  INGOT_RETURN_IF_ERROR(ops::RegisterText(registry));
  INGOT_RETURN_IF_ERROR(ops::RegisterTextSearch(registry));
  return ops::RegisterQuantize(registry);
}

const OpRegistry& StandardOps() {
  static const OpRegistry* const ops = [] {
    auto* registry = new OpRegistry;
    const absl::Status status = RegisterAllOps(registry);
    if (!status.ok()) {  // two definitions of one name: our bug
      std::fprintf(stderr, "%s\n", status.ToString().c_str());
      std::abort();
    }
    return registry;
  }();
  return *ops;
}

}  // namespace ingot::relay
