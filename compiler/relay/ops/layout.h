// Layouts as text. Internal to compiler/relay/ops.
#ifndef INGOT_COMPILER_RELAY_OPS_LAYOUT_H_
#define INGOT_COMPILER_RELAY_OPS_LAYOUT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ingot::relay::ops {

// One dimension of a layout: a whole axis ('C'), or a block of it ('c', 8).
struct LayoutDim {
  char axis;          // upper case
  int64_t block = 0;  // 0: the whole axis, or what blocks leave of it
};

// "NCHW8c": N, C, H, W, c of 8. Each axis stands once in upper case, and at
// most once as a block, after it; InvalidArgument for other texts.
absl::StatusOr<std::vector<LayoutDim>> ParseLayout(absl::string_view text);

// The block of that axis; 1 when it has none.
int64_t BlockOf(const std::vector<LayoutDim>& dims, char axis);

}  // namespace ingot::relay::ops

#endif  // INGOT_COMPILER_RELAY_OPS_LAYOUT_H_
