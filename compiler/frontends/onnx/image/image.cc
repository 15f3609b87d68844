// Decoding, cropping, sampling grids and windows with offsets.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/frontends/onnx/graph/compose.h"
#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/graph/importer.h"
#include "compiler/frontends/onnx/layers/window.h"
#include "compiler/frontends/onnx/model/tensor_proto.h"

namespace ingot::onnx_frontend {
namespace {

constexpr int64_t kLargest = int64_t{1} << 31;

// The weights of red, green and blue in gray, in 65536ths, as in ITU-R 601-2.
constexpr int64_t kLuma[] = {19595, 38470, 7471};

// How large the image is only its bytes tell.
absl::Status ImageDecoder(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value bytes, c.Input(0));
  const std::string format = c.String("pixel_format", "RGB");
  if (format != "RGB" && format != "BGR" && format != "Grayscale") {
    return c.Error("pixel_format '", format,
                   "' is none of RGB, BGR, Grayscale");
  }
  INGOT_ASSIGN_OR_RETURN(Value size,
                         c.Emit("image_size", {bytes}, {}, "extents"));
  INGOT_ASSIGN_OR_RETURN(
      Shape dims, c.builder().BindDims(size, absl::StrCat(c.name(), "_size")));
  Compose k(c);
  Value image = k.Call("decode_image", {bytes}, Attrs{{"size", dims}});
  if (format == "BGR") {
    image = k.Call("slice", {image},
                   Attrs{{"starts", relay::MakeShape({2})},
                         {"ends", relay::MakeShape({-1})},
                         {"axes", std::vector<int64_t>{2}},
                         {"steps", std::vector<int64_t>{-1}}});
  } else if (format == "Grayscale") {
    const DataType i32 = DataType::Int(32);
    const Value luma = k.Cast(
        k.Constant(MakeTensor<int64_t>(DataType::Int(64), {3}, kLuma)), i32);
    Value sum = k.Reduce("reduce_sum", k.Mul(k.Cast(image, i32), luma), {2});
    sum = k.Div(k.Add(sum, 32768), 65536);
    image = k.Cast(sum, DataType::UInt(8));
  }
  c.SetOutput(0, image);
  return k.status();
}

// Cuts or adds zeros on both sides; the odd one at the end.
absl::Status CenterCropPad(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(std::vector<int64_t> sizes,
                         c.ConstantInts(1, "shape"));
  const int rank = RankOf(x);
  std::vector<int64_t> axes = c.Ints("axes");
  if (axes.empty()) {
    for (int d = 0; d < rank; ++d) axes.push_back(d);
  }
  if (sizes.size() != axes.size()) {
    return c.Error("shape has ", sizes.size(), " values for ", axes.size(),
                   " axes");
  }
  Compose k(c);
  std::vector<int64_t> pads(2 * rank, 0);
  bool grows = false;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    int64_t extent;
    if (axis < 0 || axis >= rank) return c.Error("axis ", axes[i]);
    if (!tir::AsConstInt(ShapeOf(x)[axis], &extent)) {
      return c.NotSupported("dimension ", axis,
                            " has no known extent; give the input's shape");
    }
    if (sizes[i] < 0 || sizes[i] > kLargest || pads[axis + rank] != 0) {
      return c.Error("a size of ", sizes[i], " for axis ", axis);
    }
    if (sizes[i] < extent) {
      const int64_t start = (extent - sizes[i]) / 2;
      x = k.Slice(x, static_cast<int>(axis), tir::MakeInt(start),
                  tir::MakeInt(start + sizes[i]));
      INGOT_RETURN_IF_ERROR(k.status());
    } else if (sizes[i] > extent) {
      pads[axis] = (sizes[i] - extent) / 2;
      pads[axis + rank] = sizes[i] - extent - pads[axis];
      grows = true;
    }
  }
  if (grows) {
    Attrs attrs;
    attrs.Set("pads", pads);
    x = k.Call("pad", {x}, std::move(attrs));
  }
  c.SetOutput(0, x);
  return k.status();
}

// The places of blocks in an image.
struct Blocks {
  WindowAttrs window;
  std::vector<int64_t> positions;  // along each dimension
  std::vector<int64_t> rest;       // behind the last one
  int64_t taps = 1;                // of a block
};

absl::StatusOr<Blocks> PlaceBlocks(NodeContext& c,
                                   const std::vector<int64_t>& image,
                                   const std::vector<int64_t>& block) {
  const size_t n = block.size();
  Blocks blocks;
  WindowAttrs& window = blocks.window;
  window.kernel = block;
  window.strides = c.Ints("strides", std::vector<int64_t>(n, 1));
  window.dilations = c.Ints("dilations", std::vector<int64_t>(n, 1));
  window.pads = c.Ints("pads", std::vector<int64_t>(2 * n, 0));
  if (window.strides.size() != n || window.dilations.size() != n ||
      window.pads.size() != 2 * n) {
    return c.Error("strides, dilations or pads do not fit block_shape");
  }
  for (size_t d = 0; d < n; ++d) {
    constexpr int64_t kMost = 1 << 20;
    bool fits = true;
    for (int64_t v :
         {image[d], block[d], window.strides[d], window.dilations[d]}) {
      fits = fits && v >= 1 && v <= kMost;
    }
    for (int64_t v : {window.pads[d], window.pads[n + d]}) {
      fits = fits && v >= 0 && v <= kMost;
    }
    if (!fits) {
      return c.Error("sizes, strides, dilations or pads out of range");
    }
    const int64_t span = (block[d] - 1) * window.dilations[d] + 1;
    const int64_t room = image[d] + window.pads[d] + window.pads[n + d] - span;
    if (room < 0) return c.Error("the block is larger than the image");
    blocks.positions.push_back(room / window.strides[d] + 1);
    blocks.rest.push_back(room % window.strides[d]);
    blocks.taps *= block[d];
  }
  return blocks;
}

// The sums of overlapping blocks, as a transposed convolution that puts each
// row of a column at its place in the block.
absl::Status Col2Im(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(std::vector<int64_t> image,
                         c.ConstantInts(1, "image_shape"));
  INGOT_ASSIGN_OR_RETURN(std::vector<int64_t> block,
                         c.ConstantInts(2, "block_shape"));
  const size_t n = block.size();
  if (n < 1 || n > 3 || image.size() != n || RankOf(x) != 3) {
    return c.Error("image_shape and block_shape must have 1 to 3 values, for ",
                   relay::ToString(x.type()));
  }
  INGOT_ASSIGN_OR_RETURN(Blocks blocks, PlaceBlocks(c, image, block));
  WindowAttrs& window = blocks.window;
  const std::vector<int64_t>& positions = blocks.positions;
  std::vector<int64_t>& rest = blocks.rest;
  const int64_t taps = blocks.taps;
  int64_t rows, columns, count = 1;
  for (int64_t p : positions) count *= p;
  if (!tir::AsConstInt(ShapeOf(x)[1], &rows) ||
      !tir::AsConstInt(ShapeOf(x)[2], &columns)) {
    return c.NotSupported("columns ", relay::ToString(x.type()),
                          ", whose extents only a run knows");
  }
  if (taps > (1 << 12) || rows % taps != 0 || rows == 0 || columns != count) {
    return c.Error("columns ", relay::ToString(x.type()), " do not fit ", taps,
                   " elements a block and ", count, " blocks");
  }
  const int64_t channels = rows / taps;
  Shape grid = {ShapeOf(x)[0], tir::MakeInt(rows)};
  std::vector<int64_t> kernel = {rows, 1};
  grid.insert(grid.end(), n == 1 ? 1 : 0, tir::MakeInt(1));
  if (n == 1) {  // 1-d operators are imported as 2-d ones
    kernel.push_back(1);
    rest.insert(rest.begin(), 0);
    window.AddHeight();
  }
  for (size_t d = 0; d < n; ++d) {
    grid.push_back(tir::MakeInt(positions[d]));
    kernel.push_back(block[d]);
  }
  INGOT_ASSIGN_OR_RETURN(int64_t elements, CountElements(kernel));
  if (elements > (int64_t{1} << 26)) {
    return c.NotSupported("columns ", relay::ToString(x.type()));
  }
  std::vector<float> weights(elements, 0);
  for (int64_t r = 0; r < rows; ++r) weights[r * taps + r % taps] = 1;
  Compose k(c);
  const Value w = k.Cast(
      k.Constant(MakeTensor<float>(DataType::Float(32), kernel, weights)),
      x.type().dtype);
  Attrs attrs = window.ToAttrs();
  attrs.Set("groups", channels);
  attrs.Set("output_padding", rest);
  Value y = k.Call(absl::StrCat("conv_transpose", std::max<size_t>(n, 2), "d"),
                   {k.Reshape(x, grid), w}, std::move(attrs));
  if (k.ok() && n == 1) y = k.Take(DropHeight(c, y));
  c.SetOutput(0, y);
  return k.status();
}

// Centres (or, with align_corners, corners) of `count` elements in [-1, 1].
double GridPoint(int64_t i, int64_t count, bool align_corners) {
  const double n = static_cast<double>(count), at = static_cast<double>(i);
  if (align_corners) return count > 1 ? -1 + 2 * at / (n - 1) : -1;
  return -1 + (2 * at + 1) / n;
}

// theta times the places (x, y, 1) or (x, y, z, 1) of every element.
absl::Status AffineGrid(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value theta, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(std::vector<int64_t> size, c.ConstantInts(1, "size"));
  const int64_t n = static_cast<int64_t>(size.size()) - 2;
  if (n < 2 || n > 3 || RankOf(theta) != 3) {
    return c.Error("size must have 4 or 5 values, theta rank 3");
  }
  const std::vector<int64_t> extents(size.begin() + 2, size.end());
  INGOT_ASSIGN_OR_RETURN(int64_t count, CountElements(extents));
  if (count < 1 || count > (1 << 26)) return c.Error("size out of range");
  const bool align = c.Int("align_corners", 0) != 0;
  std::vector<float> places;
  for (int64_t flat = 0; flat < count; ++flat) {
    int64_t rest = flat;
    for (int64_t d = n - 1; d >= 0; --d) {
      places.push_back(
          static_cast<float>(GridPoint(rest % extents[d], extents[d], align)));
      rest /= extents[d];
    }
    places.push_back(1);
  }
  Compose k(c);
  const Value grid = k.Cast(k.Constant(MakeTensor<float>(
                                DataType::Float(32), {count, n + 1}, places)),
                            theta.type().dtype);
  const Value y = k.Call("matmul", {grid, k.Transpose(theta, {0, 2, 1})});
  Shape shape = {ShapeOf(theta)[0]};
  for (int64_t e : extents) shape.push_back(tir::MakeInt(e));
  shape.push_back(tir::MakeInt(n));
  c.SetOutput(0, k.Reshape(y, shape));
  return k.status();
}

// A convolution whose taps are moved by an operand: the moved taps are sampled
// first, the rest is a product.
absl::Status DeformConv(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(Value w, c.Input(1));
  INGOT_ASSIGN_OR_RETURN(Value offset, c.Input(2));
  const auto dims = relay::ConstShape(ShapeOf(w));
  if (!dims || dims->size() != 4 || RankOf(x) != 4 || RankOf(offset) != 4) {
    return c.NotSupported("operands ", relay::ToString(x.type()), ", ",
                          relay::ToString(w.type()), " and ",
                          relay::ToString(offset.type()),
                          ": only images of two dimensions");
  }
  const std::vector<int64_t> kernel(dims->begin() + 2, dims->end());
  INGOT_ASSIGN_OR_RETURN(WindowAttrs window, ReadWindowAttrs(c, x, kernel));
  Attrs attrs = window.ToAttrs();
  attrs.Set("kernel", kernel);
  attrs.Set("offset_groups", c.Int("offset_group", 1));
  std::vector<Value> in = {x, offset};
  if (c.has_input(4)) {
    INGOT_ASSIGN_OR_RETURN(Value mask, c.Input(4));
    in.push_back(mask);
  }
  Compose k(c);
  const Value columns = k.Call("deform_columns", in, std::move(attrs));
  INGOT_RETURN_IF_ERROR(k.status());
  const int64_t groups = c.Int("group", 1), out = (*dims)[0];
  int64_t channels;
  if (groups < 1 || groups > kLargest || out % groups != 0 ||
      (*dims)[1] > kLargest || !tir::AsConstInt(ShapeOf(x)[1], &channels) ||
      channels != (*dims)[1] * groups) {
    return c.Error("group=", groups, " for ", relay::ToString(x.type()),
                   " and ", relay::ToString(w.type()));
  }
  const int64_t depth = (*dims)[1] * kernel[0] * kernel[1];
  const Shape& shape = ShapeOf(columns);
  const tir::Expr area = SimplifyDim(shape[2] * shape[3]);
  const Value a = k.Reshape(w, relay::MakeShape({groups, out / groups, depth}));
  const Value b = k.Reshape(
      columns, {shape[0], tir::MakeInt(groups), tir::MakeInt(depth), area});
  Value y = k.Call("matmul", {a, b});
  y = k.Reshape(y, {shape[0], tir::MakeInt(out), shape[2], shape[3]});
  if (c.has_input(3)) {
    const Value bias = k.Input(3);
    INGOT_RETURN_IF_ERROR(k.status());
    y = k.Take(AddChannelBias(c, y, bias));
  }
  c.SetOutput(0, y);
  return k.status();
}

absl::Status MaxRoiPool(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(std::vector<Value> in, c.Inputs(2));
  const std::vector<int64_t> bins = c.Ints("pooled_shape");
  if (bins.size() != 2) return c.Error("pooled_shape must have two values");
  Attrs attrs;
  attrs.Set("output_height", bins[0]);
  attrs.Set("output_width", bins[1]);
  attrs.Set("spatial_scale", c.Float("spatial_scale", 1));
  return c.Return("max_roi_pool", in, std::move(attrs));
}

}  // namespace

void AddImageConverters(ConverterTable* t) {
  t->Add("ImageDecoder", &ImageDecoder);
  t->Add("CenterCropPad", &CenterCropPad);
  t->Add("Col2Im", &Col2Im);
  t->Add("AffineGrid", &AffineGrid);
  t->Add("DeformConv", &DeformConv);
  t->Add("MaxRoiPool", &MaxRoiPool);
}

}  // namespace ingot::onnx_frontend
