#include "compiler/frontends/onnx/window.h"

#include <algorithm>

namespace ingot::onnx_frontend {
namespace {

constexpr int64_t kLargest = int64_t{1} << 31;

bool AllAre(const std::vector<int64_t>& values, int64_t value) {
  return std::all_of(values.begin(), values.end(),
                     [=](int64_t v) { return v == value; });
}

}  // namespace

Attrs WindowAttrs::ToAttrs() const {
  Attrs attrs;
  if (!AllAre(strides, 1)) attrs.Set("strides", strides);
  if (!AllAre(pads, 0)) attrs.Set("pads", pads);
  if (!AllAre(dilations, 1)) attrs.Set("dilations", dilations);
  return attrs;
}

void WindowAttrs::AddHeight() {
  kernel.insert(kernel.begin(), 1);
  strides.insert(strides.begin(), 1);
  dilations.insert(dilations.begin(), 1);
  pads = {0, pads[0], 0, pads[1]};
}

absl::StatusOr<WindowAttrs> ReadWindowAttrs(NodeContext& c, const Value& x,
                                            std::vector<int64_t> kernel) {
  WindowAttrs w;
  const size_t n = kernel.size();
  w.kernel = std::move(kernel);
  w.strides = c.Ints("strides", std::vector<int64_t>(n, 1));
  w.dilations = c.Ints("dilations", std::vector<int64_t>(n, 1));
  w.pads = c.Ints("pads", std::vector<int64_t>(2 * n, 0));
  if (w.strides.size() != n || w.dilations.size() != n ||
      w.pads.size() != 2 * n) {
    return c.Error(
        "strides, pads or dilations do not have a value for each of ", n,
        " dimensions");
  }
  if (RankOf(x) != static_cast<int>(n) + 2) {
    return c.Error("the operand ", relay::ToString(x.type()), " should have ",
                   n + 2, " dimensions");
  }
  for (size_t d = 0; d < n; ++d) {
    if (w.kernel[d] < 1 || w.kernel[d] > kLargest || w.strides[d] < 1 ||
        w.strides[d] > kLargest || w.dilations[d] < 1 ||
        w.dilations[d] > kLargest) {
      return c.Error("kernel, strides or dilations out of range");
    }
  }
  const std::string auto_pad = c.String("auto_pad", "NOTSET");
  if (auto_pad == "NOTSET" || auto_pad.empty()) return w;
  w.pads.assign(2 * n, 0);
  if (auto_pad == "VALID") return w;
  if (auto_pad != "SAME_UPPER" && auto_pad != "SAME_LOWER") {
    return c.Error("auto_pad='", auto_pad, "'");
  }
  for (size_t d = 0; d < n; ++d) {
    const int64_t reach = (w.kernel[d] - 1) * w.dilations[d] + 1;
    int64_t extent, total;
    if (tir::AsConstInt(ShapeOf(x)[2 + d], &extent)) {
      const int64_t out = (extent + w.strides[d] - 1) / w.strides[d];
      total = std::max<int64_t>((out - 1) * w.strides[d] + reach - extent, 0);
    } else if (w.strides[d] == 1) {
      total = reach - 1;
    } else {
      return c.NotSupported(
          "auto_pad=", auto_pad,
          " with a stride needs the extents of the input; give its shape");
    }
    const int64_t less = total / 2;
    const bool upper = auto_pad == "SAME_UPPER";
    w.pads[d] = upper ? less : total - less;
    w.pads[n + d] = upper ? total - less : less;
  }
  return w;
}

absl::StatusOr<Value> AddHeight(NodeContext& c, Value x) {
  Shape shape = ShapeOf(x);
  shape.insert(shape.begin() + 2, tir::MakeInt(1));
  return c.Reshape(x, shape, "to_2d");
}

absl::StatusOr<Value> DropHeight(NodeContext& c, Value x) {
  Shape shape = ShapeOf(x);
  shape.erase(shape.begin() + 2);
  return c.Reshape(x, shape, "to_1d");
}

absl::StatusOr<Value> AddChannelBias(NodeContext& c, Value x, Value bias) {
  if (RankOf(bias) != 1) {
    return c.Error("the bias ", relay::ToString(bias.type()),
                   " should be a vector");
  }
  Shape shape(RankOf(x), tir::MakeInt(1));
  shape[1] = ShapeOf(bias)[0];
  INGOT_ASSIGN_OR_RETURN(bias, c.Reshape(bias, shape, "bias"));
  return c.Emit("add", {x, bias}, {}, "add");
}

}  // namespace ingot::onnx_frontend
