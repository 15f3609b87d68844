// Layouts of tensors, which calls name in text.
#ifndef INGOT_COMPILER_RELAY_LAYOUT_H_
#define INGOT_COMPILER_RELAY_LAYOUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ingot::relay {

// The longest block.
inline constexpr int64_t kMaxBlock = 4096;

// One dimension of a layout: a whole axis ('C'), or a block of it ('c', 8).
struct LayoutDim {
  char axis;          // upper case
  int64_t block = 0;  // 0: the whole axis, or what blocks leave of it
};

struct Layout {
  std::vector<LayoutDim> dims;

  // The text without the sizes of blocks: "NCHWc".
  std::string Axes() const;
  // The size of that axis's block; 0 when it has none.
  int64_t Block(char axis) const;
  // The distance that one step of the whole dimension goes along the axis: its
  // block, or 1.
  int64_t Step(char axis) const;
};

// "NCHW8c": N, C, H, W, c of 8. Each axis stands once in upper case, and at
// most once as a block, after it; InvalidArgument for other texts.
absl::StatusOr<Layout> ParseLayout(absl::string_view text);

// Whether it is a layout without blocks.
bool IsPlainLayout(absl::string_view text);

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_LAYOUT_H_
