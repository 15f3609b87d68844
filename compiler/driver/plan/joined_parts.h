#ifndef INGOT_COMPILER_DRIVER_PLAN_JOINED_PARTS_H_
#define INGOT_COMPILER_DRIVER_PLAN_JOINED_PARTS_H_

#include <cstdint>
#include <map>

#include "compiler/relay/ir.h"

namespace ingot {

// A value that lies in the result of a concatenation.
struct JoinedPart {
  const relay::Node* joined = nullptr;
  uint64_t offset = 0;  // bytes
};

// The values that lie in concatenations of `function` that are no kernels
// (relay/parts.h), as calls give them: views of these may be what is
// concatenated.
std::map<relay::Value, JoinedPart> FindJoinedParts(
    const relay::Function& function);

}  // namespace ingot

#endif  // INGOT_COMPILER_DRIVER_PLAN_JOINED_PARTS_H_
