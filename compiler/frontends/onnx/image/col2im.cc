#include <utility>
#include <vector>

#include "compiler/frontends/onnx/graph/compose.h"
#include "compiler/frontends/onnx/graph/converters.h"

namespace ingot::onnx_frontend {
namespace {

using tir::Expr;

constexpr int64_t kMost = int64_t{1} << 20;  // along a dimension

Expr ProductOf(const Shape& dims) {
  Expr product = I(1);
  for (const Expr& d : dims) product = product * d;
  return SimplifyDim(product);
}

// The places of blocks in an image of `n` dimensions.
struct Blocks {
  Shape image, block;
  std::vector<int64_t> strides, dilations, pads;
  Shape counts;  // of blocks, along each dimension
  Expr taps;     // of a block
};

absl::StatusOr<Blocks> PlaceBlocks(NodeContext& c) {
  Blocks b;
  INGOT_ASSIGN_OR_RETURN(b.image, c.RunTimeExtents(1, "image_shape", kMost));
  INGOT_ASSIGN_OR_RETURN(b.block, c.RunTimeExtents(2, "block_shape", kMost));
  const size_t n = b.block.size();
  if (n < 1 || n > 3 || b.image.size() != n) {
    return c.Error("image_shape and block_shape must have 1 to 3 values");
  }
  b.strides = c.Ints("strides", std::vector<int64_t>(n, 1));
  b.dilations = c.Ints("dilations", std::vector<int64_t>(n, 1));
  b.pads = c.Ints("pads", std::vector<int64_t>(2 * n, 0));
  if (b.strides.size() != n || b.dilations.size() != n ||
      b.pads.size() != 2 * n) {
    return c.Error("strides, dilations or pads do not fit block_shape");
  }
  for (size_t d = 0; d < n; ++d) {
    bool fits = b.strides[d] >= 1 && b.dilations[d] >= 1;
    for (int64_t v : {b.strides[d], b.dilations[d], b.pads[d], b.pads[n + d]}) {
      fits = fits && v >= 0 && v <= kMost;
    }
    if (!fits) return c.Error("strides, dilations or pads out of range");
    const Expr span = (b.block[d] - 1) * b.dilations[d] + 1;
    const Expr room =
        SimplifyDim(b.image[d] + (b.pads[d] + b.pads[n + d]) - span);
    int64_t number;
    if (tir::AsConstInt(room, &number) && number < 0) {
      return c.Error("the block is larger than the image");
    }
    b.counts.push_back(SimplifyDim(Max(room, I(-1)) / I(b.strides[d]) + 1));
  }
  b.taps = ProductOf(b.block);
  return b;
}

// Counts through dimension d of `dims`, for each of their elements in order.
Value Coordinate(Compose& k, const Shape& dims, size_t d) {
  const Shape after(dims.begin() + d + 1, dims.end());
  return k.Call("mod",
                {k.Div(k.CountUp(ProductOf(dims)), k.Number(ProductOf(after))),
                 k.Number(dims[d])});
}

// The places, in the row of a channel, of what each tap of a block adds to each
// element of the image, and whether there is such a block. Both are [taps,
// elements].
struct Sources {
  Value places, is_there;
};

Sources FindSources(Compose& k, const Blocks& b) {
  const Shape elements = {I(1), ProductOf(b.image)}, taps = {b.taps, I(1)};
  Value block, is_there;  // the number of the block
  for (size_t d = 0; d < b.image.size(); ++d) {
    const Value at =
        k.Reshape(k.Add(Coordinate(k, b.image, d), b.pads[d]), elements);
    const Value tap =
        k.Reshape(k.Mul(Coordinate(k, b.block, d), b.dilations[d]), taps);
    const Value from = k.Sub(at, tap), stride = k.Like(from, b.strides[d]);
    const Value number = k.Div(from, stride);
    const Value count = k.Number(b.counts[d]);
    for (const Value& condition :
         {k.Call("greater_equal", {from, k.Like(from, 0)}),
          k.Call("equal", {k.Call("mod", {from, stride}), k.Like(from, 0)}),
          k.Call("less", {number, count})}) {
      is_there = d == 0 && !is_there
                     ? condition
                     : k.Call("logical_and", {is_there, condition});
    }
    block = d == 0 ? number : k.Add(k.Mul(block, count), number);
  }
  const Value tap = k.Reshape(k.CountUp(b.taps), taps);
  const Value places = k.Add(k.Mul(tap, k.Number(ProductOf(b.counts))), block);
  return {k.Call("where", {is_there, places, k.Like(places, 0)}), is_there};
}

// The sums of overlapping blocks: each element of the image takes what the taps
// of the blocks over it have for it.
absl::Status Col2Im(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(const Blocks blocks, PlaceBlocks(c));
  if (RankOf(x) != 3) return c.Error("columns ", relay::ToString(x.type()));
  const Expr batch = ShapeOf(x)[0];
  if (tir::IsConstInt(blocks.taps, 0)) return c.Error("blocks of no elements");
  const Expr channels = SimplifyDim(ShapeOf(x)[1] / blocks.taps);
  const Expr count = ProductOf(blocks.counts);
  INGOT_ASSIGN_OR_RETURN(
      x, c.FixShape(x, {batch, SimplifyDim(channels * blocks.taps), count},
                    "columns"));
  Compose k(c);
  x = k.Reshape(
      x, {SimplifyDim(batch * channels), SimplifyDim(blocks.taps * count)});
  const Sources sources = FindSources(k, blocks);
  Attrs attrs;
  attrs.Set("axis", int64_t{1});
  const Value parts = k.Call("gather", {x, sources.places}, std::move(attrs));
  Value y = k.Call("where", {sources.is_there, parts, k.Like(parts, 0)});
  y = k.Reduce("reduce_sum", y, {1}, /*keepdims=*/false);
  Shape shape = {batch, channels};
  shape.insert(shape.end(), blocks.image.begin(), blocks.image.end());
  c.SetOutput(0, k.Reshape(y, shape));
  return k.status();
}

}  // namespace

void AddCol2imConverters(ConverterTable* t) { t->Add("Col2Im", 18, &Col2Im); }

}  // namespace ingot::onnx_frontend
