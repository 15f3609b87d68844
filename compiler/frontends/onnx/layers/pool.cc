#include <algorithm>
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

// The exponent of a norm, which was a float in operator set 1.
absl::StatusOr<int64_t> PowerOf(NodeContext& c) {
  if (c.opset() > 1) return c.Int("p", 2);
  const double p = c.Float("p", 2);
  const auto whole = static_cast<int64_t>(std::clamp(p, -1e9, 1e9));
  if (p == static_cast<double>(whole)) return whole;
  return c.NotSupported("p=", p);
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
  if (stem == "lp_pool") {
    INGOT_ASSIGN_OR_RETURN(const int64_t p, PowerOf(c));
    attrs.Set("p", p);
  }
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
  if (stem == "global_lp_pool") {
    INGOT_ASSIGN_OR_RETURN(const int64_t p, PowerOf(c));
    attrs.Set("p", p);
  }
  INGOT_ASSIGN_OR_RETURN(
      Value y,
      c.Emit(absl::StrCat(stem, n == 1 ? 2 : n, "d"), {x}, std::move(attrs)));
  if (n == 1) {
    INGOT_ASSIGN_OR_RETURN(y, DropHeight(c, y));
  }
  c.SetOutput(0, y);
  return absl::OkStatus();
}

}  // namespace

void AddPoolConverters(ConverterTable* t) {
  static constexpr RelayName kPools[] = {{"MaxPool", 1, "max_pool"},
                                         {"AveragePool", 1, "avg_pool"},
                                         {"LpPool", 1, "lp_pool"}};
  for (const auto& [onnx_op, since, stem] : kPools) {
    t->Add(onnx_op, since, [s = stem](NodeContext& c) { return Pool(c, s); });
  }
  static constexpr RelayName kGlobal[] = {
      {"GlobalMaxPool", 1, "global_max_pool"},
      {"GlobalAveragePool", 1, "global_avg_pool"},
      {"GlobalLpPool", 1, "global_lp_pool"}};
  for (const auto& [onnx_op, since, stem] : kGlobal) {
    t->Add(onnx_op, since,
           [s = stem](NodeContext& c) { return GlobalPool(c, s); });
  }
}

}  // namespace ingot::onnx_frontend
