#include "backends/dnnl/operators.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"

namespace ingot::dnnl_backend {
namespace {

using Shapes = absl::Span<const Dims>;
using Result = absl::StatusOr<Dims>;

// Larger ones only come from damaged files, and would overflow in arithmetic.
constexpr int64_t kMaxValue = int64_t{1} << 31;

template <typename... Parts>
absl::Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

absl::Status CheckValues(const Node& node, absl::string_view name, size_t count,
                         int64_t lowest) {
  const Dims& values = node.Ints(name);
  if (values.size() != count) {
    return Invalid(name, " must have ", count, " values, not ", values.size());
  }
  for (int64_t v : values) {
    if (v < lowest || v > kMaxValue) {
      return Invalid(name, " holds ", v, ", which is out of range");
    }
  }
  return absl::OkStatus();
}

// Appends the extents of the result of windows over dimensions 2 and on of `x`.
absl::Status AppendWindows(const Node& node, const Dims& x,
                           absl::Span<const int64_t> kernel, Dims* result) {
  const size_t n = kernel.size();
  if (n < 1 || n > 3 || x.size() != n + 2) {
    return Invalid("windows of ", n, " dimensions over ", ToString(x));
  }
  INGOT_RETURN_IF_ERROR(CheckValues(node, "strides", n, 1));
  INGOT_RETURN_IF_ERROR(CheckValues(node, "dilations", n, 1));
  INGOT_RETURN_IF_ERROR(CheckValues(node, "pads", 2 * n, 0));
  for (size_t d = 0; d < n; ++d) {
    if (kernel[d] < 1 || kernel[d] > kMaxValue || x[2 + d] > kMaxValue) {
      return Invalid("a kernel of ", kernel[d], " over ", x[2 + d]);
    }
    const int64_t reach = (kernel[d] - 1) * node.Ints("dilations")[d] + 1;
    const int64_t room =
        x[2 + d] + node.Ints("pads")[d] + node.Ints("pads")[n + d] - reach;
    if (room < 0) {
      return Invalid("a window of ", reach, " does not fit into dimension ",
                     2 + d, " of ", ToString(x), " with its padding");
    }
    result->push_back(room / node.Ints("strides")[d] + 1);
  }
  return absl::OkStatus();
}

absl::Status CheckVector(Shapes shapes, size_t i, int64_t extent,
                         absl::string_view role) {
  if (i < shapes.size() && shapes[i] != Dims{extent}) {
    return Invalid(role, " must be of shape [", extent, "], not ",
                   ToString(shapes[i]));
  }
  return absl::OkStatus();
}

Result Convolution(const Node& node, Shapes shapes) {
  const Dims &x = shapes[0], &w = shapes[1];
  const int64_t groups = node.Int("groups");
  if (x.size() < 3 || x.size() > 5 || w.size() != x.size()) {
    return Invalid("data ", ToString(x), " and weights ", ToString(w));
  }
  if (groups < 1 || w[0] % groups != 0 || x[1] % groups != 0 ||
      x[1] / groups != w[1]) {
    return Invalid("data ", ToString(x), ", weights ", ToString(w),
                   " and groups=", groups, " do not fit together");
  }
  INGOT_RETURN_IF_ERROR(CheckVector(shapes, 2, w[0], "the bias"));
  Dims result = {x[0], w[0]};
  INGOT_RETURN_IF_ERROR(
      AppendWindows(node, x, absl::MakeConstSpan(w).subspan(2), &result));
  return result;
}

Result InnerProduct(const Node& node, Shapes shapes) {
  const Dims &x = shapes[0], &w = shapes[1];
  const bool io = node.String("weights") == "io";
  if (x.size() < 2 || w.size() != 2 || w[io ? 0 : 1] != x.back()) {
    return Invalid("data ", ToString(x), " and weights ", ToString(w),
                   " in order ", node.String("weights"));
  }
  const int64_t units = w[io ? 1 : 0];
  INGOT_RETURN_IF_ERROR(CheckVector(shapes, 2, units, "the bias"));
  Dims result = x;
  result.back() = units;
  return result;
}

Result Broadcast(const Dims& a, const Dims& b, size_t dims) {
  Dims result;
  for (size_t d = 0; d < dims; ++d) {
    if (a[d] != b[d] && a[d] != 1 && b[d] != 1) {
      return Invalid(ToString(a), " and ", ToString(b), " do not broadcast");
    }
    result.push_back(std::max(a[d], b[d]));
  }
  return result;
}

Result Matmul(const Node& node, Shapes shapes) {
  const Dims &a = shapes[0], &b = shapes[1];
  if (a.size() < 2 || a.size() != b.size() || a.back() != b[b.size() - 2]) {
    return Invalid("operands ", ToString(a), " and ", ToString(b));
  }
  INGOT_RETURN_IF_ERROR(CheckVector(shapes, 2, b.back(), "the bias"));
  INGOT_ASSIGN_OR_RETURN(Dims result, Broadcast(a, b, a.size() - 2));
  result.push_back(a[a.size() - 2]);
  result.push_back(b.back());
  return result;
}

Result Binary(const Node& node, Shapes shapes) {
  const Dims &a = shapes[0], &b = shapes[1];
  if (a.size() != b.size()) {
    return Invalid("operands ", ToString(a), " and ", ToString(b),
                   " differ in rank");
  }
  Result result = Broadcast(a, b, a.size());
  if (result.ok() && *result != a) {
    return Invalid("only the second operand may be repeated, not ", ToString(a),
                   " for ", ToString(b));
  }
  return result;
}

Result Eltwise(const Node& node, Shapes shapes) {
  if (!IsEltwiseAlgorithm(node.String("algorithm"))) {
    return Invalid("there is no element-wise algorithm '",
                   node.String("algorithm"), "'");
  }
  return shapes[0];
}

Result Pooling(const Node& node, Shapes shapes) {
  const Dims& x = shapes[0];
  if (x.size() < 3) return Invalid("data ", ToString(x), " has no plane");
  Dims result = {x[0], x[1]};
  INGOT_RETURN_IF_ERROR(AppendWindows(node, x, node.Ints("kernel"), &result));
  const size_t n = x.size() - 2;
  for (size_t d = 0; d < n; ++d) {
    const int64_t reach =
        (node.Ints("kernel")[d] - 1) * node.Ints("dilations")[d] + 1;
    // Such windows would see no element.
    if (node.Ints("pads")[d] >= reach || node.Ints("pads")[n + d] >= reach ||
        node.Ints("dilations")[d] > x[2 + d]) {
      return Invalid("a window that lies outside of ", ToString(x));
    }
  }
  return result;
}

Result BatchNorm(const Node& node, Shapes shapes) {
  const Dims& x = shapes[0];
  if (x.size() < 2 || x.size() > 5) return Invalid("data ", ToString(x));
  static constexpr absl::string_view kRoles[] = {"scale", "bias", "mean",
                                                 "variance"};
  for (size_t i = 0; i < 4; ++i) {
    INGOT_RETURN_IF_ERROR(CheckVector(shapes, 1 + i, x[1], kRoles[i]));
  }
  return x;
}

Result Lrn(const Node& node, Shapes shapes) {
  const Dims& x = shapes[0];
  const int64_t size = node.Int("size");
  if (x.size() < 2 || x.size() > 5) return Invalid("data ", ToString(x));
  // As many channels after as before.
  if (size < 1 || size % 2 == 0 || size > 2 * x[1]) {
    return Invalid("size=", size, " of channels of ", ToString(x));
  }
  return x;
}

Result Axis(const Node& node, Shapes shapes) {
  const int64_t axis = node.Int("axis");
  if (axis < 0 || axis >= static_cast<int64_t>(shapes[0].size())) {
    return Invalid("axis ", axis, " of ", ToString(shapes[0]));
  }
  return shapes[0];
}

Result LayerNorm(const Node& node, Shapes shapes) {
  const Dims& x = shapes[0];
  if (x.size() < 2 || x.size() > 5) return Invalid("data ", ToString(x));
  for (size_t i = 1; i < 3; ++i) {
    INGOT_RETURN_IF_ERROR(
        CheckVector(shapes, i, x.back(), i == 1 ? "the scale" : "the bias"));
  }
  return x;
}

Result Concat(const Node& node, Shapes shapes) {
  INGOT_ASSIGN_OR_RETURN(Dims result, Axis(node, shapes));
  const size_t axis = static_cast<size_t>(node.Int("axis"));
  for (const Dims& x : shapes.subspan(1)) {
    bool fits = x.size() == result.size();
    for (size_t d = 0; fits && d < x.size(); ++d) {
      fits = d == axis || x[d] == result[d];
    }
    if (!fits)
      return Invalid("operands ", ToString(shapes[0]), " and ", ToString(x));
    result[axis] += x[axis];
  }
  return result;
}

Result Resampling(const Node& node, Shapes shapes) {
  const Dims& x = shapes[0];
  if (x.size() < 3 || x.size() > 5) return Invalid("data ", ToString(x));
  const size_t n = x.size() - 2;
  INGOT_RETURN_IF_ERROR(CheckValues(node, "sizes", n, 1));
  Dims result = {x[0], x[1]};
  result.insert(result.end(), node.Ints("sizes").begin(),
                node.Ints("sizes").end());
  return result;
}

Result Reshape(const Node& node, Shapes shapes) {
  INGOT_ASSIGN_OR_RETURN(int64_t from, CountElementsOf(shapes[0]));
  INGOT_ASSIGN_OR_RETURN(int64_t to, CountElementsOf(node.Ints("shape")));
  if (from != to) {
    return Invalid(ToString(shapes[0]), " has ", from, " elements, ",
                   ToString(node.Ints("shape")), " has ", to);
  }
  return node.Ints("shape");
}

Result Transpose(const Node& node, Shapes shapes) {
  const Dims &x = shapes[0], &axes = node.Ints("axes");
  Dims result;
  uint64_t seen = 0;
  for (int64_t axis : axes) {
    if (axis < 0 || axis >= static_cast<int64_t>(x.size()) ||
        (seen >> axis & 1) != 0) {
      return Invalid("axes ", ToString(axes), " of ", ToString(x));
    }
    seen |= uint64_t{1} << axis;
    result.push_back(x[axis]);
  }
  if (axes.size() != x.size()) {
    return Invalid("axes ", ToString(axes), " of ", ToString(x));
  }
  return result;
}

Result Slice(const Node& node, Shapes shapes) {
  const Dims &x = shapes[0], &starts = node.Ints("starts"),
             &ends = node.Ints("ends");
  if (starts.size() != x.size() || ends.size() != x.size()) {
    return Invalid("starts and ends must have ", x.size(), " values");
  }
  Dims result;
  for (size_t d = 0; d < x.size(); ++d) {
    if (starts[d] < 0 || ends[d] > x[d] || starts[d] >= ends[d]) {
      return Invalid("from ", starts[d], " to ", ends[d], " of dimension ", d,
                     " of ", ToString(x));
    }
    result.push_back(ends[d] - starts[d]);
  }
  return result;
}

// This is a table with an entry for each operator, so it is not split.
std::vector<Operator> MakeOperators() {
  using S = AttributeSpec;
  const S strides{"strides", S::kInts, {}}, pads{"pads", S::kInts, {}},
      dilations{"dilations", S::kInts, {}}, axis{"axis", S::kInt, {}},
      epsilon{"epsilon", S::kFloat, {}};
  return {
      {"convolution",
       {"data", "weights", "bias"},
       2,
       false,
       true,
       {strides, pads, dilations, {"groups", S::kInt, {}}},
       &Convolution},
      {"inner_product",
       {"data", "weights", "bias"},
       2,
       false,
       true,
       {{"weights", S::kString, {"oi", "io"}}},
       &InnerProduct},
      {"matmul", {"a", "b", "bias"}, 2, false, true, {}, &Matmul},
      {"binary",
       {"a", "b"},
       2,
       false,
       true,
       {{"algorithm", S::kString, {"add", "sub", "mul", "div", "max", "min"}}},
       &Binary},
      {"eltwise",
       {"data"},
       1,
       false,
       false,
       {{"algorithm", S::kString, {}},
        {"alpha", S::kFloat, {}},
        {"beta", S::kFloat, {}}},
       &Eltwise},
      {"pooling",
       {"data"},
       1,
       false,
       false,
       {{"algorithm",
         S::kString,
         {"max", "avg_include_padding", "avg_exclude_padding"}},
        {"kernel", S::kInts, {}},
        strides,
        pads,
        dilations},
       &Pooling},
      {"batch_normalization",
       {"data", "scale", "bias", "mean", "variance"},
       5,
       false,
       false,
       {epsilon},
       &BatchNorm},
      {"layer_normalization",
       {"data", "scale", "bias"},
       2,
       false,
       false,
       {epsilon},
       &LayerNorm},
      {"lrn",
       {"data"},
       1,
       false,
       false,
       {{"size", S::kInt, {}},
        {"alpha", S::kFloat, {}},
        {"beta", S::kFloat, {}},
        {"bias", S::kFloat, {}}},
       &Lrn},
      {"softmax", {"data"}, 1, false, false, {axis}, &Axis},
      {"log_softmax", {"data"}, 1, false, false, {axis}, &Axis},
      {"concat", {"data"}, 1, true, false, {axis}, &Concat},
      {"resampling",
       {"data"},
       1,
       false,
       false,
       {{"algorithm", S::kString, {"nearest", "linear"}},
        {"sizes", S::kInts, {}}},
       &Resampling},
      {"reshape",
       {"data"},
       1,
       false,
       false,
       {{"shape", S::kInts, {}}},
       &Reshape},
      {"transpose",
       {"data"},
       1,
       false,
       false,
       {{"axes", S::kInts, {}}},
       &Transpose},
      {"slice",
       {"data"},
       1,
       false,
       false,
       {{"starts", S::kInts, {}}, {"ends", S::kInts, {}}},
       &Slice},
  };
}

}  // namespace

const Operator* FindOperator(absl::string_view name) {
  static const auto* const kOperators =
      new std::vector<Operator>(MakeOperators());
  for (const Operator& op : *kOperators) {
    if (op.name == name) return &op;
  }
  return nullptr;
}

bool IsNumber(double value) {
  return std::abs(value) <= std::numeric_limits<float>::max();
}

bool IsEltwiseAlgorithm(absl::string_view name) {
  static constexpr absl::string_view kNames[] = {
      "relu",     "tanh",      "elu",      "square", "abs",  "sqrt",
      "linear",   "soft_relu", "logistic", "exp",    "log",  "gelu_tanh",
      "gelu_erf", "swish",     "clip",     "round",  "mish", "hardswish"};
  return std::find(std::begin(kNames), std::end(kNames), name) !=
         std::end(kNames);
}

}  // namespace ingot::dnnl_backend
