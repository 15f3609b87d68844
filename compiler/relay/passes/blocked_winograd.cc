// Convolutions in blocks of channels by Winograd's algorithm, dilated ones grid
// by grid.
#include <algorithm>
#include <optional>

#include "base/status_macros.h"
#include "compiler/relay/dim.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/blocked.h"
#include "compiler/relay/passes/rewrite.h"
#include "compiler/tir/arith/interval.h"

namespace ingot::relay {
namespace {

using Ints = std::vector<int64_t>;

bool IsDilated(const Node& conv) {
  return conv.attrs.GetEach("dilations", 2) != Ints{1, 1};
}

// Adds calls that move the elements of a convolution's operand or result.
struct Moves {
  Function* function;
  const Node& conv;

  absl::StatusOr<Value> Add(absl::string_view op, const Value& value,
                            Attrs attrs) const {
    INGOT_ASSIGN_OR_RETURN(
        Node * made, function->AddOp(op, conv.name, {value}, std::move(attrs)));
    made->sources.Add(conv.sources);
    return Value{made};
  }
};

// The numbers of 16 bits that `value` may hold, if it is made of bytes or is a
// constant.
std::optional<tir::Interval> BytesIn(const Value& value) {
  if (const auto all = SplatOf(value)) {
    return tir::Interval::Point(static_cast<int64_t>(*all));
  }
  if (!value.node->Is("cast")) return std::nullopt;
  const DataType from = value.node->inputs[0].type().dtype;
  if (from == DataType::UInt(8)) return tir::Interval{0, UINT8_MAX};
  if (from == DataType::Int(8)) return tir::Interval{INT8_MIN, INT8_MAX};
  return std::nullopt;
}

// The numbers that such data of a convolution, or less a zero point, as
// byte_products makes them, and the padding around it may be.
std::optional<tir::Interval> NumbersIn(const Node& conv) {
  const Value& data = conv.inputs[0];
  if (data.type().dtype == DataType::UInt(8)) {
    return tir::Interval{0, UINT8_MAX};
  }
  const bool has_zero = data.node->Is("sub");
  const auto bytes = BytesIn(has_zero ? data.node->inputs[0] : data);
  const auto zero = has_zero ? BytesIn(data.node->inputs[1])
                             : std::make_optional(tir::Interval::Point(0));
  if (!bytes || !zero) return std::nullopt;
  return tir::Interval{std::min<int64_t>(0, bytes->min - zero->max),
                       std::max<int64_t>(0, bytes->max - zero->min)};
}

}  // namespace

const Winograd* BlockedValues::WinogradOf(const Node& node) const {
  const bool every = node.attrs.GetEach("strides", 2) == Ints{1, 1} &&
                     node.attrs.Get<int64_t>("groups") == 1;
  const Shape& kernel = node.inputs[1].type().shape;
  if (layouts_->winograd_tile == nullptr || !every ||
      !tir::IsConstInt(kernel[2], 3) || !tir::IsConstInt(kernel[3], 3)) {
    return nullptr;
  }
  const bool known =
      ConstShape({node.outputs[0].shape[2], node.outputs[0].shape[3]})
          .has_value();
  if (IsDilated(node) && !known) return nullptr;
  if (node.inputs[0].type().dtype == DataType::Float(32)) {
    return FindWinograd(layouts_->winograd_tile(node));
  }
  const auto numbers = NumbersIn(node);
  if (ElementsOfWord(node, *layouts_) == 0 || !numbers || IsDilated(node)) {
    return nullptr;
  }
  const Winograd* const whole =
      FindWholeWinograd(layouts_->winograd_tile(node));
  const bool fits =
      whole != nullptr &&
      FitsWholeWinograd(*ConstantOf(node.inputs[1]), *numbers, *whole);
  return fits ? whole : nullptr;
}

BlockedValues::MaybeBlocked BlockedValues::ConvByWinograd(
    const Node& node, const Value& data, int64_t in_block, int64_t block,
    const Winograd& winograd) {
  const Tensor& weights = *ConstantOf(node.inputs[1]);
  const bool floats = weights.dtype().is_float();
  const int64_t step =
      ReadAtOnce(weights.shape()[1], /*word=*/floats ? 1 : 2, in_block);
  INGOT_ASSIGN_OR_RETURN(
      Tensor transformed,
      floats ? WinogradKernels(weights, winograd, step, block)
             : WholeWinogradKernels(weights, winograd, step, block));
  const Value kernels = PackedKernels(node, std::move(transformed));
  Value result;
  if (IsDilated(node)) {
    INGOT_ASSIGN_OR_RETURN(result, ConvOfGrids(node, data, kernels, winograd));
  } else {
    INGOT_ASSIGN_OR_RETURN(result, WinogradConv(node, data, kernels, winograd,
                                                node.attrs.GetEach("pads", 4)));
  }
  return Blocked{result, block, ChannelsOf(node.outputs[0]), false};
}

absl::StatusOr<Value> BlockedValues::WinogradConv(const Node& conv,
                                                  const Value& data,
                                                  const Value& kernels,
                                                  const Winograd& winograd,
                                                  const Ints& pads) {
  Attrs attrs = {{"tile", winograd.tile}, {"pads", pads}};
  if (const int64_t around = conv.attrs.Get<int64_t>("pad_value")) {
    attrs.Set("pad_value", around);
  }
  INGOT_ASSIGN_OR_RETURN(Node * made,
                         function_->AddOp("winograd_conv2d", conv.name,
                                          {data, kernels}, std::move(attrs)));
  made->sources.Add(conv.sources);
  preferred_names_.emplace_back(made, conv.name);
  return Value{made};
}

absl::StatusOr<Value> BlockedValues::ConvOfGrids(const Node& conv,
                                                 const Value& data,
                                                 const Value& kernels,
                                                 const Winograd& winograd) {
  const Moves moves{function_, conv};
  const Ints pads = conv.attrs.GetEach("pads", 4);
  const Ints grids = conv.attrs.GetEach("dilations", 2);
  const Shape& in = data.type().shape;
  const Shape& out = conv.outputs[0].shape;
  Ints each(2), ends(2);  // extents of a grid's results, and all of theirs
  Ints around(2 * in.size(), 0);
  for (int d = 0; d < 2; ++d) {
    int64_t given, made;
    if (!tir::AsConstInt(in[2 + d], &given) ||
        !tir::AsConstInt(out[2 + d], &made)) {
      return absl::InternalError("a dilated convolution of unknown extents");
    }
    each[d] = tir::CeilDivInt(made, grids[d]);
    ends[d] = made;
    around[2 + d] = pads[d];
    around[in.size() + 2 + d] = grids[d] * (each[d] + 2) - given - pads[d];
  }
  const auto of = [](int64_t extent) { return tir::MakeInt(extent); };
  const Dim images = SimplifyDim(in[0] * of(grids[0] * grids[1]));
  INGOT_ASSIGN_OR_RETURN(
      Value value,
      moves.Add("pad", data,
                {{"pads", around},
                 {"value",
                  static_cast<double>(conv.attrs.Get<int64_t>("pad_value"))}}));
  INGOT_ASSIGN_OR_RETURN(
      value,
      moves.Add("reshape", value,
                {{"shape", Shape{in[0], in[1], of(each[0] + 2), of(grids[0]),
                                 of(each[1] + 2), of(grids[1]), in[4]}}}));
  INGOT_ASSIGN_OR_RETURN(
      value,
      moves.Add("transpose", value, {{"axes", Ints{0, 3, 5, 1, 2, 4, 6}}}));
  INGOT_ASSIGN_OR_RETURN(
      value, moves.Add("reshape", value,
                       {{"shape", Shape{images, in[1], of(each[0] + 2),
                                        of(each[1] + 2), in[4]}}}));
  INGOT_ASSIGN_OR_RETURN(
      value, WinogradConv(conv, value, kernels, winograd, {0, 0, 0, 0}));
  const Shape made = value.type().shape;
  INGOT_ASSIGN_OR_RETURN(
      value, moves.Add("reshape", value,
                       {{"shape", Shape{in[0], of(grids[0]), of(grids[1]),
                                        made[1], made[2], made[3], made[4]}}}));
  INGOT_ASSIGN_OR_RETURN(
      value,
      moves.Add("transpose", value, {{"axes", Ints{0, 3, 4, 1, 5, 2, 6}}}));
  INGOT_ASSIGN_OR_RETURN(
      value, moves.Add("reshape", value,
                       {{"shape", Shape{in[0], made[1], of(grids[0] * each[0]),
                                        of(grids[1] * each[1]), made[4]}}}));
  if (grids[0] * each[0] == ends[0] && grids[1] * each[1] == ends[1]) {
    return value;
  }
  return moves.Add("slice", value,
                   {{"axes", Ints{2, 3}},
                    {"starts", MakeShape({0, 0})},
                    {"ends", MakeShape(ends)}});
}

}  // namespace ingot::relay
