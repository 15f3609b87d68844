#include "compiler/driver/plan/joined_parts.h"

#include "compiler/relay/parts.h"

namespace ingot {

std::map<relay::Value, JoinedPart> FindJoinedParts(
    const relay::Function& function) {
  std::map<relay::Value, JoinedPart> parts;
  for (const auto& node : function.nodes()) {
    const auto offsets = relay::OffsetsOfJoined(*node);
    if (!offsets) continue;
    for (size_t i = 0; i < offsets->size(); ++i) {
      relay::Value part = node->inputs[i];
      while (part.node->IsView()) part = part.node->inputs[0];
      parts[part] = {node.get(), static_cast<uint64_t>((*offsets)[i])};
    }
  }
  return parts;
}

}  // namespace ingot
