#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/layers/window.h"

namespace ingot::onnx_frontend {
namespace {

double Lowest(DataType t) {
  if (t.is_float()) return -INFINITY;
  return t.is_int() ? -std::ldexp(1.0, t.bits - 1) : 0;
}

// 1 for each element along the spatial dimensions of x, and the pads, of 0.
absl::StatusOr<Value> PaddedOnes(NodeContext& c, const Value& x,
                                 const RunTimePads& pads) {
  Shape shape = ShapeOf(x);
  shape[0] = shape[1] = tir::MakeInt(1);
  Attrs attrs;
  attrs.Set("shape", shape);
  attrs.Set("dtype", x.type().dtype);
  attrs.Set("value", 1.0);
  INGOT_ASSIGN_OR_RETURN(std::vector<Value> sources,
                         c.builder().DimSources(shape));
  INGOT_ASSIGN_OR_RETURN(Value ones,
                         c.Emit("full", sources, std::move(attrs), "ones"));
  return pads.Pad(c, ones, 0);
}

}  // namespace

absl::StatusOr<Value> PoolOf(NodeContext& c, absl::string_view stem, Value x) {
  const std::vector<int64_t> kernel = c.Ints("kernel_shape");
  if (kernel.empty() || kernel.size() > 3) {
    return c.Error("kernel_shape must have 1 to 3 values");
  }
  RunTimePads pads;
  INGOT_ASSIGN_OR_RETURN(WindowAttrs window,
                         ReadWindowAttrs(c, x, kernel, &pads));
  if (!pads.empty() && stem == "max_pool" && c.wants_output(1)) {
    return c.NotSupported(
        "auto_pad with a stride needs the extents of the input for indices; "
        "give its shape");
  }
  Value ones;
  if (!pads.empty() && stem == "avg_pool" &&
      c.Int("count_include_pad", 0) == 0) {
    INGOT_ASSIGN_OR_RETURN(ones, PaddedOnes(c, x, pads));
  }
  INGOT_ASSIGN_OR_RETURN(
      x, pads.Pad(c, x, stem == "max_pool" ? Lowest(x.type().dtype) : 0));
  const bool one_d = kernel.size() == 1;
  if (one_d) {
    window.AddHeight();
    INGOT_ASSIGN_OR_RETURN(x, AddHeight(c, x));
    if (ones) {
      INGOT_ASSIGN_OR_RETURN(ones, AddHeight(c, ones));
    }
  }
  Attrs attrs = window.ToAttrs();
  attrs.Set("kernel", window.kernel);
  if (c.Int("ceil_mode", 0) != 0) attrs.Set("ceil_mode", int64_t{1});
  const size_t n = window.kernel.size();
  if (stem == "max_pool" && c.wants_output(1)) {
    Attrs indices_attrs = attrs;
    indices_attrs.Set("storage_order", c.Int("storage_order", 0));
    INGOT_ASSIGN_OR_RETURN(Value indices,
                           c.Emit(absl::StrCat("max_pool_indices", n, "d"), {x},
                                  std::move(indices_attrs), "indices"));
    if (one_d) {
      INGOT_ASSIGN_OR_RETURN(indices, DropHeight(c, indices));
    }
    c.SetOutput(1, indices);
  }
  if (stem == "avg_pool" && c.Int("count_include_pad", 0) != 0) {
    attrs.Set("count_include_pad", int64_t{1});
  }
  if (stem == "lp_pool") attrs.Set("p", c.Int("p", 2));
  const std::string op = absl::StrCat(stem, n, "d");
  INGOT_ASSIGN_OR_RETURN(Value y, c.Emit(op, {x}, attrs));
  if (ones) {
    // The part of each window that is no padding.
    INGOT_ASSIGN_OR_RETURN(ones, c.Emit(op, {ones}, attrs, "inside"));
    INGOT_ASSIGN_OR_RETURN(y, c.Emit("div", {y, ones}, {}, "mean"));
  }
  if (one_d) {
    INGOT_ASSIGN_OR_RETURN(y, DropHeight(c, y));
  }
  return pads.Name(c, y);
}

namespace {

absl::Status Pool(NodeContext& c, absl::string_view stem) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(Value y, PoolOf(c, stem, x));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

absl::Status GlobalPool(NodeContext& c, absl::string_view stem) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  const int n = RankOf(x) - 2;
  if (n < 1 || n > 3) {
    return c.Error("the operand ", relay::ToString(x.type()),
                   " should have 1 to 3 spatial dimensions");
  }
  if (n == 1) {
    INGOT_ASSIGN_OR_RETURN(x, AddHeight(c, x));
  }
  Attrs attrs;
  if (stem == "global_lp_pool") attrs.Set("p", c.Int("p", 2));
  INGOT_ASSIGN_OR_RETURN(
      Value y,
      c.Emit(absl::StrCat(stem, n == 1 ? 2 : n, "d"), {x}, std::move(attrs)));
  if (n == 1) {
    INGOT_ASSIGN_OR_RETURN(y, DropHeight(c, y));
  }
  c.SetOutput(0, y);
  return absl::OkStatus();
}

// Puts each element at the place that its index names, zeros elsewhere.
absl::Status MaxUnpool(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(Value indices, c.Input(1));
  const auto in = relay::ConstShape(ShapeOf(x));
  if (!in || in->size() < 3) {
    return c.NotSupported("needs the operand's shape");
  }
  const size_t n = in->size() - 2;
  const std::vector<int64_t> kernel = c.Ints("kernel_shape");
  const std::vector<int64_t> strides =
      c.Ints("strides", std::vector<int64_t>(n, 1));
  const std::vector<int64_t> pads =
      c.Ints("pads", std::vector<int64_t>(2 * n, 0));
  if (kernel.size() != n || strides.size() != n || pads.size() != 2 * n) {
    return c.Error("kernel_shape, strides or pads do not fit ",
                   relay::ToString(x.type()));
  }
  std::vector<int64_t> natural = {(*in)[0], (*in)[1]};
  for (size_t d = 0; d < n; ++d) {
    constexpr int64_t kLargest = int64_t{1} << 31;
    if (strides[d] < 1 || strides[d] > kLargest || kernel[d] < 1 ||
        kernel[d] > kLargest || (*in)[2 + d] > kLargest || pads[d] < 0 ||
        pads[d] > kLargest || pads[n + d] < 0 || pads[n + d] > kLargest) {
      return c.Error("strides or kernel out of range");
    }
    natural.push_back(((*in)[2 + d] - 1) * strides[d] - pads[d] - pads[n + d] +
                      kernel[d]);
  }
  INGOT_ASSIGN_OR_RETURN(int64_t flat, CountElements(natural));
  INGOT_ASSIGN_OR_RETURN(int64_t elements, CountElements(*in));
  Attrs full;
  full.Set("shape", relay::MakeShape({flat}));
  full.Set("dtype", x.type().dtype);
  INGOT_ASSIGN_OR_RETURN(Value zeros, c.Emit("full", {}, full, "zeros"));
  const Shape line = relay::MakeShape({elements});
  INGOT_ASSIGN_OR_RETURN(Value values, c.Reshape(x, line, "values"));
  INGOT_ASSIGN_OR_RETURN(indices, c.Reshape(indices, line, "places"));
  INGOT_ASSIGN_OR_RETURN(Value y,
                         c.Emit("scatter_elements", {zeros, indices, values}));
  INGOT_ASSIGN_OR_RETURN(y, c.Reshape(y, relay::MakeShape(natural)));
  if (c.has_input(2)) {
    // Indices count in the natural shape; a larger one only adds to its end.
    INGOT_ASSIGN_OR_RETURN(std::vector<int64_t> shape,
                           c.ConstantInts(2, "output_shape"));
    if (shape.size() != natural.size()) {
      return c.Error("output_shape has ", shape.size(), " dimensions");
    }
    std::vector<int64_t> grow(2 * shape.size(), 0);
    bool same = true;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] < 0 || shape[d] > (int64_t{1} << 40)) {
        return c.Error("output_shape has a dimension of ", shape[d]);
      }
      grow[shape.size() + d] = shape[d] - natural[d];
      same = same && shape[d] == natural[d];
    }
    if (!same) {
      Attrs pad;
      pad.Set("pads", grow);
      INGOT_ASSIGN_OR_RETURN(y, c.Emit("pad", {y}, std::move(pad), "grow"));
    }
  }
  c.SetOutput(0, y);
  return absl::OkStatus();
}

}  // namespace

void AddPoolConverters(ConverterTable* t) {
  static constexpr std::pair<const char*, const char*> kPools[] = {
      {"MaxPool", "max_pool"},
      {"AveragePool", "avg_pool"},
      {"LpPool", "lp_pool"}};
  for (const auto& [onnx_op, stem] : kPools) {
    t->Add(onnx_op, [s = stem](NodeContext& c) { return Pool(c, s); });
  }
  static constexpr std::pair<const char*, const char*> kGlobal[] = {
      {"GlobalMaxPool", "global_max_pool"},
      {"GlobalAveragePool", "global_avg_pool"},
      {"GlobalLpPool", "global_lp_pool"}};
  for (const auto& [onnx_op, stem] : kGlobal) {
    t->Add(onnx_op, [s = stem](NodeContext& c) { return GlobalPool(c, s); });
  }
  t->Add("MaxUnpool", &MaxUnpool);
}

}  // namespace ingot::onnx_frontend
