#include "compiler/relay/ops/register_all.h"

#include <cstdio>
#include <cstdlib>

#include "base/status_macros.h"
#include "compiler/relay/ops/families.h"

namespace ingot::relay {

absl::Status RegisterAllOps(OpRegistry* registry) {
#define INGOT_REGISTER_FAMILY(name) \
  INGOT_RETURN_IF_ERROR(ops::Register##name(registry));
  INGOT_OPERATOR_FAMILIES(INGOT_REGISTER_FAMILY)
#undef INGOT_REGISTER_FAMILY
  return absl::OkStatus();
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
