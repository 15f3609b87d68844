#include "compiler/frontends/onnx/image/resample.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/frontends/onnx/graph/compose.h"
#include "compiler/frontends/onnx/model/tensor_proto.h"

namespace ingot::onnx_frontend {
namespace {

// The place in the operand of element x of the result.
absl::StatusOr<double> Source(const std::string& coordinates, double x,
                              double in, double out, double scale) {
  const double length = scale * in;  // before it was rounded to `out`
  if (coordinates == "half_pixel") return (x + 0.5) / scale - 0.5;
  if (coordinates == "asymmetric") return x / scale;
  if (coordinates == "align_corners") {
    return length == 1 ? 0 : x * (in - 1) / (length - 1);
  }
  if (coordinates == "pytorch_half_pixel") {
    return length == 1 ? -0.5 : (x + 0.5) / scale - 0.5;
  }
  if (coordinates == "half_pixel_symmetric") {
    return in / 2 * (1 - out / length) + (x + 0.5) / scale - 0.5;
  }
  return absl::UnimplementedError(absl::StrCat(
      "antialias with coordinate_transformation_mode='", coordinates, "'"));
}

double Tap(const Filter& filter, double x) {
  x = std::fabs(x);
  if (!filter.cubic) return std::max(1 - x, 0.0);
  const double a = filter.cubic_a;
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

}  // namespace

absl::StatusOr<std::vector<double>> FilterWeights(const Filter& filter,
                                                  int64_t in, int64_t out,
                                                  double scale) {
  std::vector<double> weights(in * out, 0);
  const double narrow = std::min(scale, 1.0);
  // Half of the taps: those that the widened filter reaches.
  const int64_t half =
      1 -
      static_cast<int64_t>(std::floor((filter.cubic ? -2 : -1) / narrow) + 1);
  for (int64_t i = 0; i < out; ++i) {
    INGOT_ASSIGN_OR_RETURN(
        const double at,
        Source(filter.coordinates, static_cast<double>(i),
               static_cast<double>(in), static_cast<double>(out), scale));
    const int64_t last = static_cast<int64_t>(std::ceil(at)) + half - 1;
    const int64_t first = last - 2 * half + 1;
    double sum = 0;
    for (int64_t j = first; j <= last; ++j) {
      if (filter.exclude_outside && (j < 0 || j >= in)) continue;
      sum += Tap(filter, (static_cast<double>(j) - at) * narrow);
    }
    for (int64_t j = first; j <= last; ++j) {
      if (filter.exclude_outside && (j < 0 || j >= in)) continue;
      // Samples outside repeat the edge.
      weights[i * in + std::clamp<int64_t>(j, 0, in - 1)] +=
          Tap(filter, (static_cast<double>(j) - at) * narrow) / sum;
    }
  }
  return weights;
}

absl::StatusOr<Value> ResampleAntialiased(NodeContext& c, Value x,
                                          const Filter& filter,
                                          const std::vector<int64_t>& sizes,
                                          const std::vector<double>& scales) {
  const auto dims = relay::ConstShape(ShapeOf(x));
  if (!dims) {
    return c.NotSupported("antialias=1 needs the input's shape; give it");
  }
  const int rank = RankOf(x);
  Compose k(c);
  if (std::count(sizes.begin(), sizes.end(), 0) > 0) {
    Attrs attrs;
    attrs.Set("shape", relay::MakeShape(sizes));
    attrs.Set("dtype", x.type().dtype);
    attrs.Set("value", 0.0);
    return c.Emit("full", {}, std::move(attrs), "empty");
  }
  for (int d = 0; d < rank; ++d) {
    const int64_t in = (*dims)[d], out = sizes[d];
    const double scale =
        scales.empty() ? static_cast<double>(out) / static_cast<double>(in)
                       : scales[d];
    if (in == out && scale == 1) continue;
    constexpr int64_t kMaxMatrix = int64_t{1} << 26;
    if (in < 1 || out < 1 || in > kMaxMatrix / out || !(scale * 1e6 > 1)) {
      return c.NotSupported("antialiasing from ", in, " to ", out, " elements");
    }
    INGOT_ASSIGN_OR_RETURN(std::vector<double> weights,
                           FilterWeights(filter, in, out, scale));
    const std::vector<float> floats(weights.begin(), weights.end());
    const Value matrix =
        k.Constant(MakeTensor<float>(DataType::Float(32), {out, in}, floats));
    // The dimension last, and at least one before it.
    std::vector<int64_t> order;
    for (int e = 0; e < rank; ++e) order.push_back(e);
    std::swap(order[d], order[rank - 1]);
    Value rows = k.Transpose(k.Cast(x, DataType::Float(32)), order);
    if (rank == 1) rows = k.Reshape(rows, relay::MakeShape({1, in}));
    Value y = k.Call("dense", {rows, matrix});
    if (rank == 1) y = k.Reshape(y, relay::MakeShape({out}));
    const DataType type = x.type().dtype;
    x = k.Cast(k.Transpose(y, order), type);
    INGOT_RETURN_IF_ERROR(k.status());
  }
  return x;
}

}  // namespace ingot::onnx_frontend
