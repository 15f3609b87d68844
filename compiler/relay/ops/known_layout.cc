// Known tensors in another layout, as strided copies of whole blocks.
#include <algorithm>
#include <map>
#include <string>

#include "base/status_macros.h"
#include "compiler/relay/layout.h"
#include "compiler/relay/ops/known.h"
#include "compiler/relay/strided.h"

namespace ingot::relay::ops {
namespace {

using Ints = std::vector<int64_t>;

// A tensor's layout and shape, axis by axis.
struct Side {
  Layout layout;
  Ints strides;
  std::map<char, int64_t> extents;  // of whole axes, filled up to whole blocks

  // The stride of the axis, or of its block; 0 when it has none.
  int64_t Stride(char axis, bool block) const {
    for (size_t d = 0; d < layout.dims.size(); ++d) {
      if (layout.dims[d].axis == axis && (layout.dims[d].block > 0) == block) {
        return strides[d];
      }
    }
    return 0;
  }
};

absl::StatusOr<Side> MakeSide(absl::string_view text,
                              absl::Span<const int64_t> shape) {
  Side side;
  INGOT_ASSIGN_OR_RETURN(side.layout, ParseLayout(text));
  side.strides = DenseStrides(shape);
  for (size_t d = 0; d < side.layout.dims.size(); ++d) {
    const LayoutDim& dim = side.layout.dims[d];
    if (dim.block > 0) continue;
    side.extents[dim.axis] = shape[d] * side.layout.Step(dim.axis);
  }
  return side;
}

// A part of the copy that is a loop nest.
struct Piece {
  Ints dims, from, to;
  int64_t from_at = 0, to_at = 0;

  void Add(int64_t extent, int64_t from_stride, int64_t to_stride) {
    dims.push_back(extent);
    from.push_back(from_stride);
    to.push_back(to_stride);
  }
};

// Adds the loops over one axis to every piece; a last, partial block of it
// doubles the pieces. False when both sides have blocks, of different sizes.
bool AddAxis(const Side& from, const Side& to, char axis,
             std::vector<Piece>* pieces) {
  const int64_t n = std::min(from.extents.at(axis), to.extents.at(axis));
  const int64_t fb = from.layout.Step(axis), tb = to.layout.Step(axis);
  if (fb > 1 && tb > 1 && fb != tb) return false;
  const int64_t b = std::max(fb, tb);
  const int64_t f_outer = from.Stride(axis, false);
  const int64_t t_outer = to.Stride(axis, false);
  if (b == 1) {
    for (Piece& p : *pieces) p.Add(n, f_outer, t_outer);
    return true;
  }
  // Strides from block to block, and within one.
  const int64_t f_step = fb > 1 ? f_outer : f_outer * b;
  const int64_t t_step = tb > 1 ? t_outer : t_outer * b;
  const int64_t f_inner = fb > 1 ? from.Stride(axis, true) : f_outer;
  const int64_t t_inner = tb > 1 ? to.Stride(axis, true) : t_outer;
  std::vector<Piece> rest;
  if (n % b != 0) {
    rest = *pieces;
    for (Piece& p : rest) {
      p.from_at += n / b * f_step;
      p.to_at += n / b * t_step;
      p.Add(1, 0, 0);
      p.Add(n % b, f_inner, t_inner);
    }
  }
  for (Piece& p : *pieces) {
    p.Add(n / b, f_step, t_step);
    p.Add(b, f_inner, t_inner);
  }
  pieces->insert(pieces->end(), rest.begin(), rest.end());
  return true;
}

}  // namespace

MaybeTensor CopyToLayout(const KnownCall& c) {
  const Attrs& attrs = c.node.attrs;
  const Tensor& x = c.operands[0];
  INGOT_ASSIGN_OR_RETURN(const Side from,
                         MakeSide(attrs.Get<std::string>("src"), x.shape()));
  INGOT_ASSIGN_OR_RETURN(const Side to,
                         MakeSide(attrs.Get<std::string>("dst"), c.shape));
  std::vector<Piece> pieces(1);
  // In the order of the result, so that it is written in order.
  for (const LayoutDim& dim : to.layout.dims) {
    if (dim.block > 0) continue;
    if (!AddAxis(from, to, dim.axis, &pieces)) return std::nullopt;
  }
  // Blocks that are not full end in zeros.
  INGOT_ASSIGN_OR_RETURN(Tensor y, Zeros(x.dtype(), c.shape));
  const size_t element = x.dtype().bytes();
  for (const Piece& p : pieces) {
    CopyStrided(static_cast<const char*>(x.raw_data()) + p.from_at * element,
                p.from,
                static_cast<char*>(y.mutable_raw_data()) + p.to_at * element,
                p.to, p.dims, element);
  }
  return y;
}

}  // namespace ingot::relay::ops
