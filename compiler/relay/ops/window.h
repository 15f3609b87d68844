// Sliding windows: what convolutions and pools share. Internal to
// compiler/relay/ops.
#ifndef INGOT_COMPILER_RELAY_OPS_WINDOW_H_
#define INGOT_COMPILER_RELAY_OPS_WINDOW_H_

#include "compiler/relay/ops/common.h"

namespace ingot::relay::ops {

// The attributes of a window over `n` spatial dimensions.
struct Window {
  std::vector<int64_t> kernel, strides, pads_begin, pads_end, dilations;
  bool ceil_mode = false;

  int n() const { return static_cast<int>(kernel.size()); }
};

// Reads strides, pads and dilations; `kernel` is given. InvalidArgument for
// wrong lengths or values out of range.
absl::StatusOr<Window> ReadWindow(const Attrs& attrs,
                                  absl::Span<const int64_t> kernel);

// Returns the number of windows that start along spatial dimension `d` of
// extent `in`. With ceil_mode a last window may reach past the padded input but
// not start there. InvalidArgument when there is none.
absl::StatusOr<Dim> WindowCount(const Window& w, int d, const Dim& in);

// `x` with pads_begin and pads_end elements of `value` around its spatial
// dimensions, which start at dimension `first`; x itself when nothing is
// padded. Extra room at the end (ceil_mode) comes on top: `extra` a dimension.
te::Tensor PadSpatial(const ComputeContext& c, const te::Tensor& x, int first,
                      absl::Span<const int64_t> begin,
                      absl::Span<const int64_t> end, const Expr& value);
// The same where so much is at the end as only a run may know.
te::Tensor PadSpatial(const ComputeContext& c, const te::Tensor& x, int first,
                      absl::Span<const int64_t> begin,
                      absl::Span<const Dim> end, const Expr& value);

// The plain layouts of data with 1, 2 and 3 spatial dimensions.
inline constexpr absl::string_view kDataLayouts[] = {"NCW", "NCHW", "NCDHW"};

// "NCHW8c" -> 8, "NCHW" -> 0 (also NCW, NCDHW). InvalidArgument otherwise.
absl::StatusOr<int64_t> DataBlock(absl::string_view layout);

AttrSpec StridesAttr();
AttrSpec PadsAttr();
AttrSpec DilationsAttr();

}  // namespace ingot::relay::ops

#endif  // INGOT_COMPILER_RELAY_OPS_WINDOW_H_
