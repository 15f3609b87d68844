#include <cmath>
#include <limits>
#include <utility>

#include "compiler/frontends/onnx/converters.h"
#include "compiler/frontends/onnx/resample.h"

namespace ingot::onnx_frontend {
namespace {

using tir::Expr;

// floor(extent * scale).
absl::StatusOr<Expr> Scaled(NodeContext& c, const Expr& extent, double scale) {
  if (!(scale > 0) || !std::isfinite(scale)) return c.Error("scale ", scale);
  int64_t n;
  if (tir::AsConstInt(extent, &n)) {
    const double size = std::floor(static_cast<double>(n) * scale);
    if (size > 1e12) return c.Error("scale ", scale);
    return tir::MakeInt(static_cast<int64_t>(size));
  }
  // Symbols: by a whole number, or one over a whole number.
  const double inverse = std::nearbyint(1 / scale);
  if (scale == std::floor(scale) && scale < 1e6) {
    return SimplifyDim(extent * static_cast<int64_t>(scale));
  }
  if (inverse >= 1 && inverse < 1e6 && std::fabs(inverse * scale - 1) < 1e-6) {
    return SimplifyDim(extent / tir::MakeInt(static_cast<int64_t>(inverse)));
  }
  return c.NotSupported("scaling a symbolic dimension by ", scale,
                        "; give the input's shape");
}

// Values for some axes, spread over all dimensions.
template <typename T>
absl::StatusOr<std::vector<T>> Spread(NodeContext& c, std::vector<T> values,
                                      const std::vector<int64_t>& axes,
                                      std::vector<T> all) {
  if (values.size() != axes.size()) {
    return c.Error("has ", values.size(), " sizes or scales for ", axes.size(),
                   " axes");
  }
  for (size_t k = 0; k < axes.size(); ++k) all[axes[k]] = values[k];
  return all;
}

absl::StatusOr<std::vector<int64_t>> ReadAxes(NodeContext& c, int rank) {
  std::vector<int64_t> axes = c.Ints("axes");
  if (axes.empty()) {
    for (int d = 0; d < rank; ++d) axes.push_back(d);
  }
  for (int64_t& a : axes) {
    if (a < -rank || a >= rank) {
      return c.Error("axis ", a, " is outside of rank ", rank);
    }
    if (a < 0) a += rank;
  }
  return axes;
}

// keep_aspect_ratio_policy: one scale for all axes, from the sizes asked for.
absl::Status KeepAspect(NodeContext& c, const std::string& policy,
                        const std::vector<int64_t>& axes, const Shape& in,
                        Shape* sizes, std::vector<double>* scales) {
  const bool not_larger = policy == "not_larger";
  if (!not_larger && policy != "not_smaller") {
    return c.Error("keep_aspect_ratio_policy='", policy, "'");
  }
  double scale = not_larger ? std::numeric_limits<double>::max() : 0;
  for (int64_t a : axes) {
    int64_t from, to;
    if (!tir::AsConstInt(in[a], &from) || !tir::AsConstInt((*sizes)[a], &to) ||
        from < 1) {
      return c.NotSupported("keeping the aspect ratio of symbolic dimensions");
    }
    const double ratio = static_cast<double>(to) / static_cast<double>(from);
    scale = not_larger ? std::min(scale, ratio) : std::max(scale, ratio);
  }
  scales->assign(in.size(), 1);
  for (int64_t a : axes) {
    int64_t from = 0;
    tir::AsConstInt(in[a], &from);
    (*scales)[a] = scale;
    (*sizes)[a] = tir::MakeInt(static_cast<int64_t>(
        std::floor(scale * static_cast<double>(from) + 0.5)));
  }
  return absl::OkStatus();
}

// Operands of each version: scales alone, or roi, scales and sizes.
absl::Status Resize(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  const int rank = RankOf(x);
  const Shape& in = ShapeOf(x);
  const bool upsample = c.node().op_type() == "Upsample";
  const bool old = upsample || c.opset() < 11;
  INGOT_ASSIGN_OR_RETURN(std::vector<int64_t> axes, ReadAxes(c, rank));

  std::vector<double> scales;
  Shape sizes;
  if (upsample && c.opset() < 9) {
    scales = c.Floats("scales");
  } else {
    const int scales_at = old ? 1 : 2;
    const Known* k = c.known(scales_at);
    const bool empty = k != nullptr && k->values.empty();
    if (c.has_input(scales_at) && !empty) {
      INGOT_ASSIGN_OR_RETURN(scales, c.ConstantFloats(scales_at, "scales"));
    }
    if (!old && c.has_input(3) && scales.empty()) {
      INGOT_ASSIGN_OR_RETURN(sizes, c.RunTimeInts(3, "sizes"));
    }
  }
  Attrs attrs;
  if (!scales.empty()) {
    INGOT_ASSIGN_OR_RETURN(
        scales, Spread<double>(c, scales, axes, std::vector<double>(rank, 1)));
    for (int d = 0; d < rank; ++d) {
      INGOT_ASSIGN_OR_RETURN(Expr size, Scaled(c, in[d], scales[d]));
      sizes.push_back(size);
    }
  } else if (!sizes.empty()) {
    INGOT_ASSIGN_OR_RETURN(sizes, Spread<Expr>(c, sizes, axes, in));
    const std::string policy = c.String("keep_aspect_ratio_policy", "stretch");
    if (policy != "stretch") {
      INGOT_RETURN_IF_ERROR(KeepAspect(c, policy, axes, in, &sizes, &scales));
    }
  } else {
    return c.Error("has neither scales nor sizes");
  }
  for (const Expr& s : sizes) {
    int64_t v;
    if (tir::AsConstInt(s, &v) && v < 0) return c.Error("size ", v);
  }
  attrs.Set("sizes", sizes);
  if (!scales.empty()) attrs.Set("scales", scales);

  std::string mode = c.String("mode", "nearest");
  if (mode == "bilinear" || mode == "trilinear") mode = "linear";
  if (mode == "bicubic") mode = "cubic";
  attrs.Set("mode", mode);
  const std::string coordinates =
      old ? "asymmetric"
          : c.String("coordinate_transformation_mode", "half_pixel");
  if (c.Int("antialias", 0) != 0 && mode != "nearest") {
    const auto numbers = relay::ConstShape(sizes);
    if (!numbers) return c.NotSupported("antialias=1 to symbolic sizes");
    Filter filter{mode == "cubic", c.Float("cubic_coeff_a", -0.75),
                  c.Int("exclude_outside", 0) != 0, coordinates};
    INGOT_ASSIGN_OR_RETURN(Value y,
                           ResampleAntialiased(c, x, filter, *numbers, scales));
    c.SetOutput(0, y);
    return absl::OkStatus();
  }
  attrs.Set("coordinate_transformation_mode", coordinates);
  if (mode == "nearest") {
    attrs.Set("nearest_mode",
              old ? "floor" : c.String("nearest_mode", "round_prefer_floor"));
  }
  if (mode == "cubic") {
    attrs.Set("cubic_coeff_a", c.Float("cubic_coeff_a", -0.75));
    attrs.Set("exclude_outside", c.Int("exclude_outside", 0));
  }
  if (coordinates == "tf_crop_and_resize") {
    INGOT_ASSIGN_OR_RETURN(std::vector<double> roi, c.ConstantFloats(1, "roi"));
    if (roi.size() != 2 * axes.size()) return c.Error("roi has a wrong length");
    std::vector<double> all(2 * rank, 0);
    for (int d = 0; d < rank; ++d) all[d + rank] = 1;
    for (size_t k = 0; k < axes.size(); ++k) {
      all[axes[k]] = roi[k];
      all[axes[k] + rank] = roi[k + axes.size()];
    }
    attrs.Set("roi", all);
    attrs.Set("extrapolation_value", c.Float("extrapolation_value", 0));
  }
  return c.Return("resize", {x}, std::move(attrs));
}

}  // namespace

void AddResizeConverters(ConverterTable* t) {
  t->Add("Resize", &Resize);
  t->Add("Upsample", &Resize);
}

}  // namespace ingot::onnx_frontend
