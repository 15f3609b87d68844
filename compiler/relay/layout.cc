#include "compiler/relay/layout.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace ingot::relay {

std::string Layout::Axes() const {
  std::string axes;
  for (const LayoutDim& d : dims) {
    axes += d.block > 0 ? absl::ascii_tolower(d.axis) : d.axis;
  }
  return axes;
}

int64_t Layout::Block(char axis) const {
  for (const LayoutDim& d : dims) {
    if (d.axis == axis && d.block > 0) return d.block;
  }
  return 0;
}

int64_t Layout::Step(char axis) const {
  return std::max<int64_t>(Block(axis), 1);
}

absl::StatusOr<Layout> ParseLayout(absl::string_view text) {
  Layout layout;
  int64_t number = 0;
  auto bad = [&] {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is not a layout"));
  };
  for (char ch : text) {
    const unsigned char u = static_cast<unsigned char>(ch);
    if (absl::ascii_isdigit(u)) {
      number = number * 10 + (ch - '0');
      if (number > kMaxBlock) return bad();
      continue;
    }
    if (!absl::ascii_isalpha(u)) return bad();
    const bool block = absl::ascii_islower(u);
    const char axis = absl::ascii_toupper(u);
    bool seen_axis = false;
    for (const LayoutDim& d : layout.dims) {
      if (d.axis != axis) continue;
      if (!block || d.block > 0) return bad();
      seen_axis = true;
    }
    if (block != (number > 0) || (block && !seen_axis)) return bad();
    layout.dims.push_back({axis, number});
    number = 0;
  }
  if (number != 0 || layout.dims.empty()) return bad();
  return layout;
}

bool IsPlainLayout(absl::string_view text) {
  const absl::StatusOr<Layout> layout = ParseLayout(text);
  return layout.ok() &&
         std::all_of(layout->dims.begin(), layout->dims.end(),
                     [](const LayoutDim& d) { return d.block == 0; });
}

}  // namespace ingot::relay
