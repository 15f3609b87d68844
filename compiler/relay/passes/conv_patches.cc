#include "compiler/relay/passes/conv_patches.h"

#include <algorithm>
#include <vector>

#include "base/status_macros.h"
#include "compiler/relay/dim.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/rewrite.h"

namespace ingot::relay {
namespace {

using Ints = std::vector<int64_t>;

// Whether every element of an image of few channels is in one window, and
// windows have so many that products pay for the copy.
bool CutsIntoPatches(const Node& node) {
  const auto kernel = ConstShape(node.inputs[1].type().shape);
  const Shape& data = node.inputs[0].type().shape;
  const auto plane = ConstShape({data[2], data[3]});
  if (!kernel || !plane || ConstantOf(node.inputs[1]) == nullptr ||
      !node.inputs[0].type().dtype.is_float() || node.attrs.Has("out_dtype") ||
      node.attrs.Get<int64_t>("groups") != 1 ||
      node.attrs.Get<std::string>("data_layout") != "NCHW" ||
      node.attrs.Get<std::string>("kernel_layout") != "OIHW") {
    return false;
  }
  constexpr int64_t kFewChannels = 4, kManyTerms = 256;
  const Ints window = {(*kernel)[2], (*kernel)[3]};
  return (*kernel)[1] <= kFewChannels &&
         (*kernel)[1] * window[0] * window[1] >= kManyTerms &&
         node.attrs.GetEach("strides", 2) == window &&
         node.attrs.GetEach("dilations", 2) == Ints{1, 1} &&
         node.attrs.GetEach("pads", 4) == Ints{0, 0, 0, 0} &&
         (*plane)[0] % window[0] == 0 && (*plane)[1] % window[1] == 0;
}

}  // namespace

absl::StatusOr<Value> AsProductOfPatches(RuleContext& c, const Node& node) {
  if (!CutsIntoPatches(node)) return Value();
  const Shape& y = node.outputs[0].shape;  // [n, o, h, w]
  const Shape& kernel = node.inputs[1].type().shape;
  const Dim terms = SimplifyDim(kernel[1] * kernel[2] * kernel[3]);
  INGOT_ASSIGN_OR_RETURN(
      Value x, c.Add("reshape", {node.inputs[0]},
                     {{"shape", Shape{y[0], kernel[1], y[2], kernel[2], y[3],
                                      kernel[3]}}}));
  INGOT_ASSIGN_OR_RETURN(
      x, c.Add("transpose", {x}, {{"axes", Ints{0, 2, 4, 1, 3, 5}}}));
  INGOT_ASSIGN_OR_RETURN(
      x, c.Add("reshape", {x}, {{"shape", Shape{y[0], y[2], y[3], terms}}}));
  INGOT_ASSIGN_OR_RETURN(Value w, c.Add("reshape", {node.inputs[1]},
                                        {{"shape", Shape{kernel[0], terms}}}));
  INGOT_ASSIGN_OR_RETURN(w, c.Add("transpose", {w}, {{"axes", Ints{1, 0}}}));
  INGOT_ASSIGN_OR_RETURN(const Value product, c.Add("matmul", {x, w}));
  return c.Add("transpose", {product}, {{"axes", Ints{0, 3, 1, 2}}});
}

}  // namespace ingot::relay
