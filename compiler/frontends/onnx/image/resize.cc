#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/image/resample.h"
#include "compiler/frontends/onnx/image/resize_extents.h"

namespace ingot::onnx_frontend {
namespace {

// The region of interest, starts, then ends: an attribute, or else an operand.
// Dimensions that are no axes are taken whole.
absl::Status AddRegion(NodeContext& c, const std::vector<int64_t>& axes,
                       int rank, Attrs* attrs, std::vector<Value>* operands) {
  if (c.IsRunTimeInput(1)) {
    INGOT_ASSIGN_OR_RETURN(const Value roi, c.Input(1));
    INGOT_ASSIGN_OR_RETURN(
        const Value all,
        SpreadOverDimensions(c, roi, {0, 1}, axes, rank, "roi"));
    attrs->Set("roi_operand", int64_t{1});
    operands->push_back(all);
    return absl::OkStatus();
  }
  INGOT_ASSIGN_OR_RETURN(std::vector<double> roi, c.ConstantFloats(1, "roi"));
  if (roi.size() != 2 * axes.size()) return c.Error("roi has a wrong length");
  std::vector<double> all(2 * rank, 0);
  for (int d = 0; d < rank; ++d) all[d + rank] = 1;
  for (size_t k = 0; k < axes.size(); ++k) {
    all[axes[k]] = roi[k];
    all[axes[k] + rank] = roi[k + axes.size()];
  }
  attrs->Set("roi", all);
  return absl::OkStatus();
}

// The rounding where the operator set does not say: by ONNX's case
// resize_downsample_nearest of set 10, and in ONNX Runtime, the next element
// where there become fewer.
std::string OldNearestMode(const Extents& extents) {
  const bool grows = !extents.scale_operand &&
                     std::all_of(extents.scales.begin(), extents.scales.end(),
                                 [](double scale) { return scale >= 1; });
  return grows ? "floor" : "ceil_where_smaller";
}

absl::Status Resize(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  const int rank = RankOf(x);
  const Shape& in = ShapeOf(x);
  const bool upsample = c.node().op_type() == "Upsample";
  const bool old = upsample || c.opset() < 11;
  INGOT_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, ResizedAxes(c, rank));

  INGOT_ASSIGN_OR_RETURN(const Extents extents, ReadExtents(c, in, axes));
  Attrs attrs;
  attrs.Set("sizes", extents.sizes);
  if (!extents.scales.empty()) attrs.Set("scales", extents.scales);

  std::string mode = c.String("mode", "nearest");
  if (mode == "bilinear" || mode == "trilinear") mode = "linear";
  if (mode == "bicubic") mode = "cubic";
  attrs.Set("mode", mode);
  const std::string coordinates =
      old ? "asymmetric"
          : c.String("coordinate_transformation_mode", "half_pixel");
  if (c.Int("antialias", 0) != 0 && mode != "nearest") {
    Filter filter{mode == "cubic", c.Float("cubic_coeff_a", -0.75),
                  c.Int("exclude_outside", 0) != 0, coordinates};
    INGOT_ASSIGN_OR_RETURN(Value y, ResampleAntialiased(c, x, filter, extents));
    c.SetOutput(0, y);
    return absl::OkStatus();
  }
  attrs.Set("coordinate_transformation_mode", coordinates);
  if (mode == "nearest") {
    attrs.Set("nearest_mode",
              old ? OldNearestMode(extents)
                  : c.String("nearest_mode", "round_prefer_floor"));
  }
  if (mode == "cubic") {
    attrs.Set("cubic_coeff_a", c.Float("cubic_coeff_a", -0.75));
    attrs.Set("exclude_outside", c.Int("exclude_outside", 0));
  }
  std::vector<Value> operands = {x};
  if (extents.scale_operand) {
    attrs.Set("scale_operand", int64_t{1});
    operands.push_back(extents.scale_operand);
  }
  if (coordinates == "tf_crop_and_resize") {
    attrs.Set("extrapolation_value", c.Float("extrapolation_value", 0));
    INGOT_RETURN_IF_ERROR(AddRegion(c, axes, rank, &attrs, &operands));
  }
  return c.Return("resize", std::move(operands), std::move(attrs));
}

}  // namespace

void AddResizeConverters(ConverterTable* t) {
  t->Add("Resize", 10, &Resize);
  t->Add("Upsample", 1, &Resize);
}

}  // namespace ingot::onnx_frontend
