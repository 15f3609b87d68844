#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/layers/kernel.h"
#include "compiler/frontends/onnx/layers/window.h"

namespace ingot::onnx_frontend {
namespace {

absl::StatusOr<ConvOperands> Operands(NodeContext& c, bool transposed) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(Value w, c.Input(1));
  Value bias;
  if (c.has_input(2)) {
    INGOT_ASSIGN_OR_RETURN(bias, c.Input(2));
  }
  return ReadConvOperands(c, x, w, bias, transposed);
}

// The result of a convolution, to which a height was added if it is `one_d`,
// with the bias.
absl::StatusOr<Value> Finish(NodeContext& c, const ConvOperands& in, bool one_d,
                             Value y) {
  if (in.bias) {
    INGOT_ASSIGN_OR_RETURN(y, AddChannelBias(c, y, in.bias));
  }
  if (one_d) {
    INGOT_ASSIGN_OR_RETURN(y, DropHeight(c, y));
  }
  return y;
}

absl::Status Conv(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(const ConvOperands in, Operands(c, false));
  Value x = in.x, w = in.w;
  RunTimePads pads;
  INGOT_ASSIGN_OR_RETURN(WindowAttrs window,
                         ReadWindowAttrs(c, x, in.kernel, &pads));
  INGOT_ASSIGN_OR_RETURN(x, pads.Pad(c, x, 0));
  const bool one_d = in.kernel.size() == 1;
  if (one_d) {
    window.AddHeight();
    INGOT_ASSIGN_OR_RETURN(x, AddHeight(c, x));
    INGOT_ASSIGN_OR_RETURN(w, AddHeight(c, w));
  }
  Attrs attrs = window.ToAttrs();
  if (in.groups != 1) attrs.Set("groups", in.groups);
  INGOT_ASSIGN_OR_RETURN(
      Value y, c.Emit(absl::StrCat("conv", window.kernel.size(), "d"), {x, w},
                      std::move(attrs)));
  INGOT_ASSIGN_OR_RETURN(y, Finish(c, in, one_d, y));
  INGOT_ASSIGN_OR_RETURN(y, pads.Name(c, y));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

// The extents that a transposed convolution is asked for; none when it is not.
absl::StatusOr<std::vector<int64_t>> OutputShape(NodeContext& c, size_t n) {
  std::vector<int64_t> shape = c.Ints("output_shape");
  if (shape.size() == n + 2) {  // some exporters list all dimensions
    shape.erase(shape.begin(), shape.begin() + 2);
  }
  if (!shape.empty() && shape.size() != n) {
    return c.Error("output_shape must have ", n, " values");
  }
  return shape;
}

// Sets the pads, and the `extra` elements at the end, as auto_pad and
// output_shape ask for.
absl::Status FitOutput(NodeContext& c, const Value& x, WindowAttrs* window,
                       std::vector<int64_t>* extra) {
  const size_t n = window->kernel.size();
  const std::string auto_pad = c.String("auto_pad", "NOTSET");
  INGOT_ASSIGN_OR_RETURN(const std::vector<int64_t> output_shape,
                         OutputShape(c, n));
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  if (auto_pad == "VALID") window->pads.assign(2 * n, 0);
  for (size_t d = 0; d < n && (same || !output_shape.empty()); ++d) {
    constexpr int64_t kLargest = int64_t{1} << 31;
    int64_t in;
    if (!tir::AsConstInt(ShapeOf(x)[2 + d], &in)) {
      if (!output_shape.empty()) {
        return c.NotSupported(
            "output_shape needs the extents of the input; give its shape");
      }
      in = 1;  // what is cut off is the same for all
    }
    const int64_t stride = window->strides[d];
    if (stride < 1 || stride > kLargest || in > kLargest ||
        window->dilations[d] < 1 || window->dilations[d] > kLargest) {
      return c.Error("strides or dilations out of range");
    }
    const int64_t out = output_shape.empty() ? in * stride : output_shape[d];
    const int64_t full = stride * (in - 1) + (*extra)[d] +
                         (window->kernel[d] - 1) * window->dilations[d] + 1;
    const int64_t total = full - out;
    if (total < 0) {
      // Nothing to cut off: zeros make up for it at the end. So ONNX's
      // specification has the extents (with SAME, those of the input times the
      // stride), TensorFlow these numbers, and ONNX Runtime them with an
      // output_shape; with SAME it leaves the zeros out, and ONNX's reference
      // puts some in front.
      (*extra)[d] -= total;
      window->pads[d] = window->pads[n + d] = 0;
      continue;
    }
    const bool more_at_end = auto_pad == "SAME_UPPER";
    window->pads[d] = more_at_end ? total / 2 : total - total / 2;
    window->pads[n + d] = total - window->pads[d];
  }
  return absl::OkStatus();
}

absl::Status ConvTranspose(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(const ConvOperands in, Operands(c, true));
  Value x = in.x, w = in.w;
  const size_t n = in.kernel.size();
  WindowAttrs window;
  window.kernel = in.kernel;
  window.strides = c.Ints("strides", std::vector<int64_t>(n, 1));
  window.dilations = c.Ints("dilations", std::vector<int64_t>(n, 1));
  window.pads = c.Ints("pads", std::vector<int64_t>(2 * n, 0));
  std::vector<int64_t> extra =
      c.Ints("output_padding", std::vector<int64_t>(n, 0));
  if (window.strides.size() != n || window.dilations.size() != n ||
      window.pads.size() != 2 * n || extra.size() != n ||
      RankOf(x) != static_cast<int>(n) + 2) {
    return c.Error("strides, pads, dilations, output_padding or the operand ",
                   relay::ToString(x.type()), " do not fit ", n,
                   " spatial dimensions");
  }
  INGOT_RETURN_IF_ERROR(FitOutput(c, x, &window, &extra));
  const bool one_d = n == 1;
  if (one_d) {
    window.AddHeight();
    extra.insert(extra.begin(), 0);
    INGOT_ASSIGN_OR_RETURN(x, AddHeight(c, x));
    INGOT_ASSIGN_OR_RETURN(w, AddHeight(c, w));
  }
  Attrs attrs = window.ToAttrs();
  if (std::any_of(extra.begin(), extra.end(),
                  [](int64_t v) { return v != 0; })) {
    attrs.Set("output_padding", extra);
  }
  if (in.groups != 1) attrs.Set("groups", in.groups);
  INGOT_ASSIGN_OR_RETURN(
      Value y, c.Emit(absl::StrCat("conv_transpose", window.kernel.size(), "d"),
                      {x, w}, std::move(attrs)));
  INGOT_ASSIGN_OR_RETURN(y, Finish(c, in, one_d, y));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

}  // namespace

void AddConvolutionConverters(ConverterTable* t) {
  t->Add("Conv", 1, &Conv);
  t->Add("ConvTranspose", 1, &ConvTranspose);
}

}  // namespace ingot::onnx_frontend
