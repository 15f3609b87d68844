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
      parts[relay::Viewed(node->inputs[i])] = {
          node.get(), static_cast<uint64_t>((*offsets)[i])};
    }
  }
  return parts;
}

}  // namespace ingot
