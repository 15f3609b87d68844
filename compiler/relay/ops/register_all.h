// Fills a registry with every standard operator; StandardOps() (op.h) is one
// that has been filled so.
#ifndef INGOT_COMPILER_RELAY_OPS_REGISTER_ALL_H_
#define INGOT_COMPILER_RELAY_OPS_REGISTER_ALL_H_

#include "absl/status/status.h"
#include "compiler/relay/op.h"

namespace ingot::relay {

// AlreadyExists when a name is taken.
absl::Status RegisterAllOps(OpRegistry* registry);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_OPS_REGISTER_ALL_H_
