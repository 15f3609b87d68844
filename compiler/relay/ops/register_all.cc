#include "compiler/relay/ops/register_all.h"

#include <cstdio>
#include <cstdlib>

namespace ingot::relay {

namespace ops {
// Written by the build: it calls Register<Family> of each file in BUILD.bazel.
absl::Status RegisterFamilies(OpRegistry* registry);
}  // namespace ops

absl::Status RegisterAllOps(OpRegistry* registry) {
  return ops::RegisterFamilies(registry);
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
