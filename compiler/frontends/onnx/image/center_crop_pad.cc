#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/frontends/onnx/graph/compose.h"
#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/shape/pad.h"

namespace ingot::onnx_frontend {
namespace {

using tir::Expr;

constexpr int64_t kLargest = int64_t{1} << 31;

// Cuts or adds zeros on both sides; the odd one at the end.
absl::Status CenterCropPad(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(const Shape sizes,
                         c.RunTimeExtents(1, "shape", kLargest));
  const int rank = RankOf(x);
  std::vector<int64_t> axes = c.Ints("axes");
  if (axes.empty()) {
    for (int d = 0; d < rank; ++d) axes.push_back(d);
  }
  if (sizes.size() != axes.size()) {
    return c.Error("shape has ", sizes.size(), " values for ", axes.size(),
                   " axes");
  }
  Compose k(c);
  const Expr zero = tir::MakeInt(0), two = tir::MakeInt(2);
  Shape pads(2 * rank, zero), result = ShapeOf(x);
  std::vector<bool> is_done(rank, false);
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    if (axis < 0 || axis >= rank || is_done[axis]) {
      return c.Error("axis ", axes[i]);
    }
    is_done[axis] = true;
    const Expr extent = result[axis], size = sizes[i];
    const Expr start = SimplifyDim(Max(extent - size, zero) / two);
    const Expr kept = SimplifyDim(Min(extent, size));
    if (!relay::SameShape({kept}, {extent})) {
      x = k.Slice(x, static_cast<int>(axis), start, SimplifyDim(start + kept));
    }
    const Expr more = SimplifyDim(Max(size - extent, zero));
    pads[axis] = SimplifyDim(more / two);
    pads[axis + rank] = SimplifyDim(more - pads[axis]);
    result[axis] = size;
  }
  INGOT_RETURN_IF_ERROR(k.status());
  if (const auto numbers = relay::ConstShape(pads)) {
    if (std::any_of(numbers->begin(), numbers->end(),
                    [](int64_t pad) { return pad != 0; })) {
      Attrs attrs;
      attrs.Set("pads", *numbers);
      x = k.Call("pad", {x}, std::move(attrs));
    }
  } else {
    x = PadBySymbols(k, x, pads, "constant", 0);
  }
  INGOT_RETURN_IF_ERROR(k.status());
  INGOT_ASSIGN_OR_RETURN(x, c.FixShape(x, result));
  c.SetOutput(0, x);
  return absl::OkStatus();
}

}  // namespace

void AddCenterCropPadConverters(ConverterTable* t) {
  t->Add("CenterCropPad", 18, &CenterCropPad);
}

}  // namespace ingot::onnx_frontend
