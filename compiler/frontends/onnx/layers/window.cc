#include "compiler/frontends/onnx/layers/window.h"

#include <algorithm>
#include <utility>

#include "compiler/frontends/onnx/shape/pad.h"

namespace ingot::onnx_frontend {
namespace {

constexpr int64_t kLargest = int64_t{1} << 31;

bool AllAre(const std::vector<int64_t>& values, int64_t value) {
  return std::all_of(values.begin(), values.end(),
                     [=](int64_t v) { return v == value; });
}

// Adds the padding that auto_pad asks for along spatial dimension `d`.
void AddRunTime(const Value& x, size_t d, int64_t stride, int64_t reach,
                bool upper, RunTimePads* pads) {
  const size_t rank = RankOf(x);
  if (pads->empty()) {
    pads->pads.assign(2 * rank, tir::MakeInt(0));
    pads->out.assign(rank, nullptr);
  }
  const tir::Expr extent = ShapeOf(x)[2 + d];
  const tir::Expr out =
      SimplifyDim((extent + (stride - 1)) / tir::MakeInt(stride));
  const tir::Expr total =
      SimplifyDim(Max((out - 1) * stride + reach - extent, tir::MakeInt(0)));
  const tir::Expr less = SimplifyDim(total / tir::MakeInt(2));
  const tir::Expr more = SimplifyDim(total - less);
  pads->pads[2 + d] = upper ? less : more;
  pads->pads[rank + 2 + d] = upper ? more : less;
  pads->out[2 + d] = out;
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

absl::StatusOr<Value> RunTimePads::Pad(NodeContext& c, Value x,
                                       double value) const {
  if (empty()) return x;
  Compose k(c);
  const Value padded = PadBySymbols(k, x, pads, "constant", value);
  INGOT_RETURN_IF_ERROR(k.status());
  return padded;
}

absl::StatusOr<Value> RunTimePads::Name(NodeContext& c, Value y) const {
  if (empty()) return y;
  Shape shape = ShapeOf(y);
  for (size_t d = 0; d < shape.size(); ++d) {
    if (out[d] != nullptr) shape[d] = out[d];
  }
  return c.Reshape(y, shape, "same");
}

absl::StatusOr<WindowAttrs> ReadWindowAttrs(NodeContext& c, const Value& x,
                                            std::vector<int64_t> kernel,
                                            RunTimePads* run_time) {
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
  const bool upper = auto_pad == "SAME_UPPER";
  for (size_t d = 0; d < n; ++d) {
    const int64_t reach = (w.kernel[d] - 1) * w.dilations[d] + 1;
    int64_t extent, total;
    if (tir::AsConstInt(ShapeOf(x)[2 + d], &extent)) {
      const int64_t out = (extent + w.strides[d] - 1) / w.strides[d];
      total = std::max<int64_t>((out - 1) * w.strides[d] + reach - extent, 0);
    } else if (w.strides[d] == 1) {
      total = reach - 1;
    } else if (reach == 1) {
      total = 0;
    } else if (run_time == nullptr) {
      return c.NotSupported(
          "auto_pad=", auto_pad,
          " with a stride needs the extents of the input; give its shape");
    } else {
      AddRunTime(x, d, w.strides[d], reach, upper, run_time);
      continue;
    }
    const int64_t less = total / 2;
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
  // One element would be repeated, and so would one channel.
  INGOT_ASSIGN_OR_RETURN(bias, c.FixShape(bias, {ShapeOf(x)[1]}, "bias"));
  Shape shape(RankOf(x), tir::MakeInt(1));
  shape[1] = ShapeOf(bias)[0];
  INGOT_ASSIGN_OR_RETURN(bias, c.Reshape(bias, shape, "bias"));
  return c.Emit("add", {x, bias}, {}, "add");
}

}  // namespace ingot::onnx_frontend
