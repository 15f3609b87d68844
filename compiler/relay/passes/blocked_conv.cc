// Convolutions in blocks of channels: as they are defined, of bytes in words of
// four, for tiles and of bf16 parts.
#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/relay/bf16_parts.h"
#include "compiler/relay/dim.h"
#include "compiler/relay/layout.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/blocked.h"
#include "compiler/relay/passes/rewrite.h"
#include "compiler/relay/word_kernels.h"
#include "compiler/tir/arith/interval.h"

namespace ingot::relay {
namespace {

using Ints = std::vector<int64_t>;

// The channels in each block of `data`, NCHW16c or the like.
int64_t BlockOf(const Value& data) {
  return ConstShape({data.type().shape.back()})->front();
}

// The attributes of a convolution whose kernels are packed for it, on data in
// blocks of so many channels.
Attrs PackedConvAttrs(const Node& conv, int64_t block) {
  const auto kernel = *ConstShape(conv.inputs[1].type().shape);
  Attrs attrs = {{"kernel", Ints{kernel[2], kernel[3]}},
                 {"strides", conv.attrs.GetEach("strides", 2)},
                 {"pads", conv.attrs.GetEach("pads", 4)},
                 {"dilations", conv.attrs.GetEach("dilations", 2)}};
  if (kernel[1] % block != 0) attrs.Set("channels", kernel[1]);
  return attrs;
}

// Whether each element of the result depends on one place of the data alone.
bool IsOfPlaces(const Node& conv) {
  const Shape& kernel = conv.inputs[1].type().shape;
  return tir::IsConstInt(kernel[2], 1) && tir::IsConstInt(kernel[3], 1) &&
         conv.attrs.Get<int64_t>("groups") == 1 &&
         conv.attrs.GetEach("pads", 4) == Ints{0, 0, 0, 0};
}

// Whether that is its own place.
bool IsOfPoints(const Node& conv) {
  return IsOfPlaces(conv) && conv.attrs.GetEach("strides", 2) == Ints{1, 1};
}

// Whether a convolution of single places takes so few of the data, for so many
// blocks of results, that it had better read a copy of them.
bool SkipsPlaces(const Node& conv, int64_t blocks) {
  constexpr int64_t kManyBlocks = 8;
  const Shape& data = conv.inputs[0].type().shape;
  return IsOfPlaces(conv) && !IsOfPoints(conv) && blocks >= kManyBlocks &&
         ConstShape({data[2], data[3]}).has_value();
}

}  // namespace

int64_t ReadAtOnce(int64_t channels, int64_t word, int64_t block) {
  return std::gcd(tir::CeilDivInt(channels, word) * word, block);
}

bool BlockedValues::FillingUpCosts(const Node& conv, int64_t block) const {
  const int64_t in = ChannelsOf(conv.inputs[0].type());
  if (in < block) return true;
  return !IsOfPlaces(conv) && PartsOf(conv, block) == 0 &&
         WinogradOf(conv) == nullptr && FillingUpIsMuch(in, block);
}

bool BlockedValues::ColumnsCostLess(const Node& conv, int64_t lanes) const {
  const Value& x = conv.inputs[0];
  const auto kernel = *ConstShape(conv.inputs[1].type().shape);
  const auto filled = [&](int64_t count) {
    return static_cast<double>(count) /
           static_cast<double>(tir::CeilDivInt(count, lanes) * lanes);
  };
  const Shape& shape = conv.outputs[0].shape;
  if (tir::IsConstInt(shape[2], 1)) return false;  // maybe a signal, reshaped
  // About how many vectors are multiplied for each place and input channel, or
  // take as long as the transform to plain data. Rows that only a run knows may
  // be short, which matters where blocks have loops as good.
  constexpr double kTransform = 1, kOpenRows = 0.4;
  const auto columns = ConstShape({shape[3]});
  const double filled_by_columns = columns        ? filled(columns->front())
                                   : IsBlocked(x) ? kOpenRows
                                                  : 1;
  const double of_blocks = static_cast<double>(kernel[2] * kernel[3]);
  const double of_columns = of_blocks * filled(kernel[0]) / filled_by_columns +
                            (IsBlocked(x) ? kTransform : 0);
  return 2 * of_columns <= of_blocks;
}

BlockedValues::MaybeBlocked BlockedValues::Conv(const Node& node) {
  const Value x = node.inputs[0], w = node.inputs[1];
  const int64_t word = ElementsOfWord(node, *layouts_);
  const bool floats = x.type().dtype.is_float() && !node.attrs.Has("out_dtype");
  if (!(word > 0 || floats) || ConstantOf(w) == nullptr ||
      node.attrs.Get<std::string>("data_layout") != "NCHW" ||
      node.attrs.Get<std::string>("kernel_layout") != "OIHW" ||
      ChannelsOf(x.type()) == 0) {
    return std::nullopt;
  }
  const int64_t unit = layouts_->channel_block(node);
  if (unit == 0) return std::nullopt;
  const int64_t groups = node.attrs.Get<int64_t>("groups");
  const auto kernel = *ConstShape(w.type().shape);
  const int64_t out = kernel[0], in = ChannelsOf(x.type());
  const bool depthwise =
      groups == in && out == in && (groups > 1 || IsBlocked(x));
  const bool dense = groups == 1 && !depthwise;
  const bool one_block = layouts_->one_block;
  if (one_block ? out % unit != 0 || std::max(in, out) > kMaxBlock ||
                      (groups > 1 && !depthwise)
                : (groups > 1 && !depthwise &&
                   (kernel[1] % unit != 0 || out / groups % unit != 0)) ||
                      (word == 0 && (dense || !IsBlocked(x)) &&
                       ColumnsCostLess(node, unit))) {
    return std::nullopt;
  }
  const int64_t block = one_block ? out : unit;
  Attrs attrs = node.attrs;
  std::string kernel_layout;
  Value data;
  if (word == 0 && dense &&
      (one_block ? in % unit != 0
                 : !IsBlocked(x) && FillingUpCosts(node, block))) {
    INGOT_ASSIGN_OR_RETURN(data, Plain(x));
    kernel_layout = absl::StrCat("OIHW", block, "o");
  } else {
    // Elements of a word are multiplied at once.
    const int64_t in_block =
        one_block ? in
        : word > 0 && !depthwise && !IsBlocked(x)
            ? std::min(block, tir::CeilDivInt(in, word) * word)
            : block;
    kernel_layout = absl::StrCat("OIHW", ReadAtOnce(in, /*word=*/1, in_block),
                                 "i", block, "o");
    INGOT_ASSIGN_OR_RETURN(Blocked blocked, InBlocks(x, in_block));
    data = blocked.value;
    attrs.Set("data_layout", DataLayout(in_block));
    if (dense) {
      INGOT_ASSIGN_OR_RETURN(const std::optional<Blocked> by_tiles,
                             ConvByTiles(node, data, in_block, block));
      if (by_tiles) return by_tiles;
    }
    if (word > 0 && !depthwise) {
      return ConvInWords(node, data, in_block, block, std::move(attrs));
    }
    if (one_block && IsOfPoints(node)) return ConvOfPoints(node, data);
    if (!one_block && floats && SkipsPlaces(node, out / block)) {
      INGOT_ASSIGN_OR_RETURN(data, PlacesOf(node, data));
      attrs.Set("strides", Ints{1, 1});
    }
  }
  Value plain = w;
  if (depthwise) {
    kernel_layout = absl::StrCat("OIHW", block, "o");
    attrs.Set("groups", tir::CeilDivInt(in, block) * block);
    if (TapsAreWords(node)) {
      INGOT_ASSIGN_OR_RETURN(Tensor words, PackTapWords(*ConstantOf(w)));
      plain = Value{function_->AddConstant(w.node->name, std::move(words))};
      plain.node->sources.Add(w.node->sources);
      attrs.Set("words", kernel[3]);
    }
  }
  attrs.Set("kernel_layout", kernel_layout);
  INGOT_ASSIGN_OR_RETURN(
      Value weights,
      Transformed(plain, "OIHW", kernel_layout, w.node->name, target_));
  preferred_names_.emplace_back(weights.node, w.node->name);
  INGOT_ASSIGN_OR_RETURN(Value result, Add(node, {data, weights}, attrs));
  return Blocked{result, block, out, false};
}

BlockedValues::MaybeBlocked BlockedValues::ConvByTiles(const Node& node,
                                                       const Value& data,
                                                       int64_t in_block,
                                                       int64_t block) {
  if (ElementsOfWord(node, *layouts_) > 0 && block == WordKernels::kColumns &&
      layouts_->byte_depth != nullptr &&
      layouts_->byte_depth(node) == WordKernels::kRow) {
    return ConvInTiles(node, data);
  }
  if (const int64_t parts = PartsOf(node, block); parts > 0) {
    return ConvOfParts(node, data, parts);
  }
  if (const Winograd* const winograd = WinogradOf(node)) {
    return ConvByWinograd(node, data, in_block, block, *winograd);
  }
  return std::nullopt;
}

bool BlockedValues::TapsAreWords(const Node& conv) const {
  const auto taps = ConstShape(conv.inputs[1].type().shape)->back();
  return layouts_->tap_words && IsByteProduct(conv) && taps > 1 &&
         TapWordsOf(taps) && conv.attrs.GetEach("dilations", 2)[1] == 1;
}

absl::StatusOr<Value> BlockedValues::PlacesOf(const Node& conv,
                                              const Value& data) {
  const Shape& shape = data.type().shape;
  INGOT_ASSIGN_OR_RETURN(
      Node * places,
      function_->AddOp("slice", conv.inputs[0].node->name, {data},
                       {{"starts", Shape(2, tir::MakeInt(0))},
                        {"ends", Shape{shape[2], shape[3]}},
                        {"axes", Ints{2, 3}},
                        {"steps", conv.attrs.GetEach("strides", 2)}}));
  places->sources.Add(conv.sources);
  return Value{places};
}

BlockedValues::MaybeBlocked BlockedValues::ConvOfPoints(const Node& node,
                                                        const Value& data) {
  const Value& w = node.inputs[1];
  const Shape& kernel = w.type().shape;
  INGOT_ASSIGN_OR_RETURN(
      const Value rows,
      Reshaped(w, {kernel[0], kernel[1]}, absl::StrCat(w.node->name, "_rows")));
  INGOT_ASSIGN_OR_RETURN(const Value matrix,
                         AddFolded(function_, "transpose", w.node->name, {rows},
                                   {{"axes", Ints{1, 0}}}));
  preferred_names_.emplace_back(matrix.node, w.node->name);
  Attrs attrs;
  if (!target_.empty()) attrs.Set("target", target_);
  INGOT_ASSIGN_OR_RETURN(
      Node * product,
      function_->AddOp("matmul", node.name, {data, matrix}, std::move(attrs)));
  product->sources.Add(node.sources);
  preferred_names_.emplace_back(product, node.name);
  const int64_t out = ChannelsOf(node.outputs[0]);
  return Blocked{Value{product}, out, out, false};
}

int64_t BlockedValues::PartsOf(const Node& node, int64_t block) const {
  return layouts_->product_parts != nullptr && block == Bf16Panels::kColumns &&
                 node.inputs[0].type().dtype == DataType::Float(32)
             ? layouts_->product_parts(node)
             : 0;
}

Value BlockedValues::PackedKernels(const Node& conv, Tensor packed) {
  const Value& w = conv.inputs[1];
  Node* const kernels = function_->AddConstant(w.node->name, std::move(packed));
  kernels->sources.Add(w.node->sources);
  preferred_names_.emplace_back(kernels, w.node->name);
  return Value{kernels};
}

Blocked BlockedValues::PackedConv(const Node& conv, Node* made) {
  made->sources.Add(conv.sources);
  preferred_names_.emplace_back(made, conv.name);
  const int64_t out = ChannelsOf(conv.outputs[0]);
  return Blocked{Value{made}, Bf16Panels::kColumns, out, false};
}

BlockedValues::MaybeBlocked BlockedValues::ConvOfParts(const Node& node,
                                                       const Value& data,
                                                       int64_t parts) {
  INGOT_ASSIGN_OR_RETURN(Tensor packed,
                         PackBf16Kernels(*ConstantOf(node.inputs[1]), parts));
  const Value kernels = PackedKernels(node, std::move(packed));
  INGOT_ASSIGN_OR_RETURN(
      Node * made, function_->AddOp("conv2d_parts", node.name, {data, kernels},
                                    PackedConvAttrs(node, BlockOf(data))));
  return PackedConv(node, made);
}

BlockedValues::MaybeBlocked BlockedValues::ConvInTiles(const Node& node,
                                                       const Value& data) {
  INGOT_ASSIGN_OR_RETURN(Tensor packed,
                         PackWordKernels(*ConstantOf(node.inputs[1])));
  const Value kernels = PackedKernels(node, std::move(packed));
  Attrs attrs = PackedConvAttrs(node, BlockOf(data));
  attrs.Set("pad_value", node.attrs.Get<int64_t>("pad_value"));
  INGOT_ASSIGN_OR_RETURN(
      Node * made, function_->AddOp("conv2d_words", node.name, {data, kernels},
                                    std::move(attrs)));
  return PackedConv(node, made);
}

BlockedValues::MaybeBlocked BlockedValues::ConvInWords(const Node& node,
                                                       const Value& data,
                                                       int64_t in_block,
                                                       int64_t block,
                                                       Attrs attrs) {
  const Value& w = node.inputs[1];
  const std::string& name = w.node->name;
  const int64_t word = ElementsOfWord(node, *layouts_);
  const int64_t step = ReadAtOnce(ChannelsOf(w.type()), word, in_block);
  const std::string words_layout =
      absl::StrCat("OIHW", step / word, "i", block, "o");
  INGOT_ASSIGN_OR_RETURN(
      const Value parts,
      Transformed(w, "OIHW", absl::StrCat("OIHW", block, "o", step, "i"), name,
                  target_));
  INGOT_ASSIGN_OR_RETURN(Tensor words, WordsOf(*ConstantOf(parts)));
  Node* const constant = function_->AddConstant(name, std::move(words));
  constant->sources.Add(w.node->sources);
  INGOT_ASSIGN_OR_RETURN(
      const Value kernel,
      Transformed(Value{constant},
                  absl::StrCat("OIHW", block, "o", step / word, "i"),
                  words_layout, name, target_));
  preferred_names_.emplace_back(kernel.node, name);
  attrs.Set("kernel_layout", words_layout);
  attrs.Set("words", int64_t{1});
  INGOT_ASSIGN_OR_RETURN(Value result, Add(node, {data, kernel}, attrs));
  return Blocked{result, block, ChannelsOf(node.outputs[0]), false};
}

}  // namespace ingot::relay
