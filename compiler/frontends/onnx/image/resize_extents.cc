#include "compiler/frontends/onnx/image/resize_extents.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/frontends/onnx/graph/compose.h"
#include "compiler/frontends/onnx/graph/importer.h"
#include "compiler/frontends/onnx/model/tensor_proto.h"

namespace ingot::onnx_frontend {
namespace {

using tir::Expr;

// floor(extent * scale); null where only a run can tell.
absl::StatusOr<Expr> Scaled(NodeContext& c, const Expr& extent, double scale) {
  if (!(scale > 0) || !std::isfinite(scale)) return c.Error("scale ", scale);
  int64_t n;
  if (tir::AsConstInt(extent, &n)) {
    // In floats, as ONNX's shape inference has it: 10 * 0.7f is 7.
    const float size =
        std::floor(static_cast<float>(n) * static_cast<float>(scale));
    if (size > 1e12f) return c.Error("scale ", scale);
    return tir::MakeInt(static_cast<int64_t>(size));
  }
  if (scale == 1) return extent;
  // Symbols: by a whole number, or one over a whole number.
  const double inverse = std::nearbyint(1 / scale);
  if (scale == std::floor(scale) && scale < 1e6) {
    return SimplifyDim(extent * static_cast<int64_t>(scale));
  }
  if (inverse >= 1 && inverse < 1e6 && std::fabs(inverse * scale - 1) < 1e-6) {
    return SimplifyDim(extent / tir::MakeInt(static_cast<int64_t>(inverse)));
  }
  return Expr();
}

// floor(in * scales + add) during a run, for scales f32[rank].
absl::StatusOr<Shape> ScaledByRun(NodeContext& c, const Shape& in,
                                  const Value& scales, double add = 0) {
  Compose k(c);
  const Value extents =
      k.Take(c.builder().DimsTensor(in, absl::StrCat(c.name(), "_extents")));
  const Value scaled = k.Mul(k.Cast(extents, DataType::Float(32)), scales);
  const Value sizes =
      k.Cast(k.Call("floor", {add == 0 ? scaled : k.Add(scaled, add)}),
             DataType::Int(64));
  INGOT_RETURN_IF_ERROR(k.status());
  return c.builder().BindDims(sizes, absl::StrCat(c.name(), "_size"));
}

// Sizes that are null, during a run.
absl::Status FillScaled(NodeContext& c, const Shape& in,
                        const std::vector<double>& scales, Shape* sizes) {
  if (std::count(sizes->begin(), sizes->end(), nullptr) == 0) {
    return absl::OkStatus();
  }
  INGOT_ASSIGN_OR_RETURN(
      Tensor factors,
      MakeTensor<float>(DataType::Float(32),
                        {static_cast<int64_t>(scales.size())},
                        std::vector<float>(scales.begin(), scales.end())));
  INGOT_ASSIGN_OR_RETURN(Value operand,
                         c.Constant(std::move(factors), "scales"));
  INGOT_ASSIGN_OR_RETURN(const Shape told, ScaledByRun(c, in, operand));
  for (size_t d = 0; d < sizes->size(); ++d) {
    if ((*sizes)[d] == nullptr) (*sizes)[d] = told[d];
  }
  return absl::OkStatus();
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

// The same where only a run knows these.
absl::Status KeepAspectInRun(NodeContext& c, bool not_larger,
                             const std::vector<int64_t>& axes, const Shape& in,
                             Extents* extents) {
  Shape from, to;
  for (int64_t a : axes) {
    from.push_back(in[a]);
    to.push_back(extents->sizes[a]);
  }
  Compose k(c);
  auto floats = [&](const Shape& dims, absl::string_view what) {
    return k.Cast(
        k.Take(c.builder().DimsTensor(dims, absl::StrCat(c.name(), "_", what))),
        DataType::Float(32));
  };
  const Value ratios = k.Div(floats(to, "to"), floats(from, "from"));
  const Value scale =
      k.Reduce(not_larger ? "reduce_min" : "reduce_max", ratios, {0});
  INGOT_RETURN_IF_ERROR(k.status());
  const Value scales = k.Expand(scale, ShapeOf(ratios));
  INGOT_RETURN_IF_ERROR(k.status());
  INGOT_ASSIGN_OR_RETURN(
      extents->scale_operand,
      SpreadOverDimensions(c, scales, {1}, axes, static_cast<int>(in.size()),
                           "scales"));
  INGOT_ASSIGN_OR_RETURN(
      const Shape told,
      ScaledByRun(c, in, extents->scale_operand, /*add=*/0.5));
  for (int64_t a : axes) extents->sizes[a] = told[a];
  return absl::OkStatus();
}

// keep_aspect_ratio_policy: one scale for all axes, from the sizes asked for.
absl::Status KeepAspect(NodeContext& c, const std::string& policy,
                        const std::vector<int64_t>& axes, const Shape& in,
                        Extents* extents) {
  const bool not_larger = policy == "not_larger";
  if (!not_larger && policy != "not_smaller") {
    return c.Error("keep_aspect_ratio_policy='", policy, "'");
  }
  double scale = not_larger ? std::numeric_limits<double>::max() : 0;
  for (int64_t a : axes) {
    int64_t from, to;
    if (!tir::AsConstInt(in[a], &from) ||
        !tir::AsConstInt(extents->sizes[a], &to)) {
      return KeepAspectInRun(c, not_larger, axes, in, extents);
    }
    if (from < 1) return c.Error("there is nothing along axis ", a);
    const double ratio = static_cast<double>(to) / static_cast<double>(from);
    scale = not_larger ? std::min(scale, ratio) : std::max(scale, ratio);
  }
  extents->scales.assign(in.size(), 1);
  for (int64_t a : axes) {
    int64_t from = 0;
    tir::AsConstInt(in[a], &from);
    extents->scales[a] = scale;
    extents->sizes[a] = tir::MakeInt(static_cast<int64_t>(
        std::floor(scale * static_cast<double>(from) + 0.5)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<int64_t>> ResizedAxes(NodeContext& c, int rank) {
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

absl::StatusOr<Value> SpreadOverDimensions(NodeContext& c, const Value& values,
                                           const std::vector<float>& otherwise,
                                           const std::vector<int64_t>& axes,
                                           int rank, absl::string_view what) {
  const int64_t count = static_cast<int64_t>(axes.size());
  const int64_t groups = static_cast<int64_t>(otherwise.size());
  const auto shape = relay::ConstShape(ShapeOf(values));
  if (!shape) {
    return c.NotSupported("how many ", what,
                          " there are is not known: they are ",
                          relay::ToString(values.type()));
  }
  if (*shape != std::vector<int64_t>{groups * count}) {
    return c.Error(what, " are ", relay::ToString(values.type()), " for ",
                   axes.size(), " axes");
  }
  // Those of the axes, group by group, and the group's own for all others.
  std::vector<int64_t> from;
  for (int64_t g = 0; g < groups; ++g) {
    from.resize(from.size() + rank, groups * count + g);
    for (int64_t i = 0; i < count; ++i)
      from[g * rank + axes[i]] = g * count + i;
  }
  Compose k(c);
  const Value others =
      k.Constant(MakeTensor<float>(DataType::Float(32), {groups}, otherwise));
  const Value all = k.Concat({k.Cast(values, DataType::Float(32)), others}, 0);
  const Value places =
      k.Constant(MakeTensor<int64_t>(DataType::Int(64), {groups * rank}, from));
  const Value spread = k.Call("gather", {all, places});
  INGOT_RETURN_IF_ERROR(k.status());
  return spread;
}

absl::StatusOr<Extents> ReadExtents(NodeContext& c, const Shape& in,
                                    const std::vector<int64_t>& axes) {
  const int rank = static_cast<int>(in.size());
  const bool upsample = c.node().op_type() == "Upsample";
  const bool old = upsample || c.opset() < 11;
  Extents extents;
  std::vector<double> scales;
  Value scale_operand;
  Shape sizes;
  if (upsample && c.opset() < 7 && c.has_attr("height_scale")) {
    scales = {1, 1, c.Float("height_scale", 1), c.Float("width_scale", 1)};
  } else if (upsample && c.opset() < 9) {
    scales = c.Floats("scales");
  } else {
    const int scales_at = old ? 1 : 2;
    const Known* k = c.known(scales_at);
    const bool empty = k != nullptr && k->values.empty();
    if (c.has_input(scales_at) && !empty && c.IsRunTimeInput(scales_at)) {
      INGOT_ASSIGN_OR_RETURN(scale_operand, c.Input(scales_at));
    } else if (c.has_input(scales_at) && !empty) {
      INGOT_ASSIGN_OR_RETURN(scales, c.ConstantFloats(scales_at, "scales"));
    }
    if (!old && c.has_input(3) && scales.empty() && !scale_operand) {
      INGOT_ASSIGN_OR_RETURN(sizes, c.RunTimeInts(3, "sizes"));
    }
  }
  if (!scales.empty()) {
    INGOT_ASSIGN_OR_RETURN(
        extents.scales,
        Spread<double>(c, scales, axes, std::vector<double>(rank, 1)));
    for (int d = 0; d < rank; ++d) {
      INGOT_ASSIGN_OR_RETURN(Expr size, Scaled(c, in[d], extents.scales[d]));
      extents.sizes.push_back(size);
    }
    INGOT_RETURN_IF_ERROR(FillScaled(c, in, extents.scales, &extents.sizes));
  } else if (scale_operand) {
    INGOT_ASSIGN_OR_RETURN(
        extents.scale_operand,
        SpreadOverDimensions(c, scale_operand, {1}, axes, rank, "scales"));
    INGOT_ASSIGN_OR_RETURN(const Shape told,
                           ScaledByRun(c, in, extents.scale_operand));
    // Dimensions without a scale keep their extents.
    extents.sizes = in;
    for (int64_t a : axes) {
      // Nothing stays nothing, whatever the scale.
      if (!tir::IsConstInt(in[a], 0)) extents.sizes[a] = told[a];
    }
  } else if (!sizes.empty()) {
    INGOT_ASSIGN_OR_RETURN(extents.sizes, Spread<Expr>(c, sizes, axes, in));
    const std::string policy = c.String("keep_aspect_ratio_policy", "stretch");
    if (policy != "stretch") {
      INGOT_RETURN_IF_ERROR(KeepAspect(c, policy, axes, in, &extents));
    }
  } else {
    return c.Error("has neither scales nor sizes");
  }
  for (int d = 0; d < rank; ++d) {
    int64_t v;
    const bool is_known = tir::AsConstInt(extents.sizes[d], &v);
    if (is_known && v < 0) return c.Error("size ", v);
    if (!is_known && tir::IsConstInt(in[d], 0)) {
      return c.NotSupported("whether dimension ", d,
                            ", which has no elements, stays so is not known");
    }
  }
  return extents;
}

}  // namespace ingot::onnx_frontend
