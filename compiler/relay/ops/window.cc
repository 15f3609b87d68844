#include "compiler/relay/ops/window.h"

#include <algorithm>

#include "compiler/relay/layout.h"
#include "compiler/te/tags.h"

namespace ingot::relay::ops {
namespace {

// Larger ones come from damaged models, and would overflow in arithmetic.
constexpr int64_t kMaxWindowValue = int64_t{1} << 31;

absl::StatusOr<std::vector<int64_t>> ReadInts(const Attrs& attrs,
                                              absl::string_view name,
                                              size_t count, int64_t lowest) {
  std::vector<int64_t> values = attrs.GetEach(name, count);
  if (values.size() != count) {
    return Invalid(name, " must have ", count, " values, not ", values.size());
  }
  for (int64_t v : values) {
    if (v < lowest || v > kMaxWindowValue) {
      return Invalid(name, " holds ", v, ", which is out of range");
    }
  }
  return values;
}

}  // namespace

AttrSpec StridesAttr() { return EachAttr("strides", "step of the window", 1); }
AttrSpec PadsAttr() {
  return EachAttr("pads", "all begins, then all ends (t, l, b, r)", 0);
}
AttrSpec DilationsAttr() {
  return EachAttr("dilations", "distance of the window's taps", 1);
}

absl::StatusOr<Window> ReadWindow(const Attrs& attrs,
                                  absl::Span<const int64_t> kernel) {
  Window w;
  const size_t n = kernel.size();
  for (int64_t k : kernel) {
    if (k < 1 || k > kMaxWindowValue) {
      return Invalid("the kernel has a dimension of ", k);
    }
  }
  w.kernel.assign(kernel.begin(), kernel.end());
  INGOT_ASSIGN_OR_RETURN(w.strides, ReadInts(attrs, "strides", n, 1));
  INGOT_ASSIGN_OR_RETURN(w.dilations, ReadInts(attrs, "dilations", n, 1));
  INGOT_ASSIGN_OR_RETURN(std::vector<int64_t> pads,
                         ReadInts(attrs, "pads", 2 * n, 0));
  w.pads_begin.assign(pads.begin(), pads.begin() + n);
  w.pads_end.assign(pads.begin() + n, pads.end());
  return w;
}

absl::StatusOr<Dim> WindowCount(const Window& w, int d, const Dim& in) {
  const int64_t reach = (w.kernel[d] - 1) * w.dilations[d] + 1;
  const int64_t stride = w.strides[d];
  const Dim room = in + (w.pads_begin[d] + w.pads_end[d] - reach);
  int64_t known, extent;
  // A dimension of no elements has no windows, as where a run finds that out.
  const bool empty = ConstDim(in, &extent) && extent == 0;
  if (ConstDim(room, &known) && known < (empty ? -stride : 0)) {
    return Invalid("a window of ", reach, " does not fit into dimension ", d,
                   " of ", known + reach, " with padding");
  }
  Dim count = FloorDiv(room, stride) + 1;
  if (w.ceil_mode) {
    count = Min(CeilDiv(room, stride),
                FloorDiv(in + (w.pads_begin[d] - 1), stride)) +
            1;
  }
  return count;
}

te::Tensor PadSpatial(const ComputeContext& c, const te::Tensor& x, int first,
                      absl::Span<const int64_t> begin,
                      absl::Span<const int64_t> end, const Expr& value) {
  std::vector<Dim> ends;
  for (const int64_t count : end) ends.push_back(I64(count));
  return PadSpatial(c, x, first, begin, ends, value);
}

te::Tensor PadSpatial(const ComputeContext& c, const te::Tensor& x, int first,
                      absl::Span<const int64_t> begin,
                      absl::Span<const Dim> end, const Expr& value) {
  Shape shape = x.shape();
  bool padded = false;
  for (size_t d = 0; d < begin.size(); ++d) {
    shape[first + d] = SimplifyDim(shape[first + d] + begin[d] + end[d]);
    padded = padded || begin[d] != 0 || !tir::IsConstInt(end[d], 0);
  }
  if (!padded) return x;
  return c.graph.Compute(
      SubName(c, "pad"), shape,
      [&](const Indices& i) {
        Indices at = i;
        std::vector<Expr> inside;
        for (size_t d = 0; d < begin.size(); ++d) {
          const Expr& pos = i[first + d];
          if (begin[d] != 0) inside.push_back(Ge(pos, I64(begin[d])));
          if (!tir::IsConstInt(end[d], 0)) {
            inside.push_back(Lt(pos, x.shape()[first + d] + begin[d]));
          }
          at[first + d] = pos - begin[d];
        }
        return tir::MakeSelect(All(inside), x(at), value);
      },
      {{te::kPad, "1"}});
}

absl::StatusOr<int64_t> DataBlock(absl::string_view layout) {
  if (std::count(std::begin(kDataLayouts), std::end(kDataLayouts), layout) >
      0) {
    return 0;
  }
  if (const auto parsed = ParseLayout(layout);
      parsed.ok() && parsed->Axes() == "NCHWc") {
    return parsed->Block('C');
  }
  return Invalid("'", layout, "' is not a data layout such as NCHW or NCHW8c");
}

}  // namespace ingot::relay::ops
