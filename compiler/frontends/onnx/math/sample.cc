// Samples of an image at positions and in regions that operands tell.
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontends/onnx/graph/converters.h"

namespace ingot::onnx_frontend {
namespace {

absl::Status GridSample(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(std::vector<Value> in, c.Inputs(2));
  std::string mode = c.String("mode", "bilinear");
  if (mode == "bilinear") mode = "linear";
  if (mode == "bicubic") mode = "cubic";
  Attrs attrs;
  attrs.Set("mode", mode);
  attrs.Set("padding_mode", c.String("padding_mode", "zeros"));
  attrs.Set("align_corners", c.Int("align_corners", 0));
  return c.Return("grid_sample", in, std::move(attrs));
}

absl::Status RoiAlign(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(std::vector<Value> in, c.Inputs(3));
  const std::string coordinates =
      c.String("coordinate_transformation_mode",
               c.opset() < 16 ? "output_half_pixel" : "half_pixel");
  Attrs attrs;
  attrs.Set("output_height", c.Int("output_height", 1));
  attrs.Set("output_width", c.Int("output_width", 1));
  attrs.Set("sampling_ratio", c.Int("sampling_ratio", 0));
  attrs.Set("mode", c.String("mode", "avg"));
  attrs.Set("spatial_scale", c.Float("spatial_scale", 1));
  attrs.Set("half_pixel", int64_t{coordinates == "half_pixel"});
  return c.Return("roi_align", in, std::move(attrs));
}

}  // namespace

void AddSampleConverters(ConverterTable* t) {
  t->Add("GridSample", 16, &GridSample);
  t->Add("RoiAlign", 10, &RoiAlign);
}

}  // namespace ingot::onnx_frontend
