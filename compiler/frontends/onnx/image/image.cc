// Decoding, windows with offsets and regions of images.
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

// Only the image's bytes tell how large it is.
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
  t->Add("ImageDecoder", 20, &ImageDecoder);
  t->Add("DeformConv", 19, &DeformConv);
  t->Add("MaxRoiPool", 1, &MaxRoiPool);
}

}  // namespace ingot::onnx_frontend
