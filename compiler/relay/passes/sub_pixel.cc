// sub_pixel: transposed convolutions as ordinary ones, whose results
// interleave.
//
//   conv_transpose2d(x, w) {strides=[2, 2]}
//     -> depth_to_space(conv2d(x, four kernels made of w)) {blocks=[2, 2]}
//
// Of a transposed convolution with stride s, the results at positions of one
// phase, the remainder by s, receive only every s-th tap of the kernel, and
// each tap from neighbours in x: that is an ordinary convolution. One
// convolution computes all phases side by side, as channels; where the kernel
// is not a multiple of the stride some phases have fewer taps and the others
// are zeros for them. If these were too many, each phase is a convolution of
// its own. A slice cuts off what padding does. Where a dilation sets the taps
// of a stride apart, zeros between them make a kernel without a dilation.
#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/passes.h"
#include "compiler/relay/passes/rewrite.h"
#include "compiler/tir/arith/interval.h"

namespace ingot::relay {
namespace {

using Ints = std::vector<int64_t>;

// More convolutions than that cost more than multiplying by zeros.
constexpr int64_t kMostConvolutions = 9;
// Of a stride that is so many times as large as the kernel nearly all phases
// are zeros.
constexpr int64_t kMostStride = 4;
// A convolution's multiplications, by zeros too, cost so many times less than
// those of a transposed one that stays, which looks for the taps of each
// result.
constexpr double kMostSpread = 8;

// One spatial dimension. Result position `offset` + o is in phase p at step q
// with offset + o = q * stride + p, where q counts from the convolution's first
// result. Its tap t, of kernel element t * stride + p, reads x at
// q + skipped - t * dilation.
struct Axis {
  int64_t kernel, stride, dilation;
  int64_t spread;   // the distance of the node's taps in `kernel`
  int64_t taps;     // of the phases that have most
  int64_t skipped;  // results of the whole convolution before the first
  int64_t offset;   // of the transposed convolution's first result
  int64_t pad_end;  // of each convolution

  // The number of taps of phase `phase`.
  int64_t TapsOf(int64_t phase) const {
    return tir::CeilDivInt(std::max<int64_t>(kernel - phase, 0), stride);
  }
  // The padding before x of a convolution with so many taps.
  int64_t PadBegin(int64_t its_taps) const {
    return (its_taps - 1) * dilation - skipped;
  }
};

// A transposed convolution, decoded.
struct Problem {
  std::vector<Axis> axes;
  int64_t groups, in_per_group, out_per_group;
  int64_t phases = 1;
  // Output channels that each phase computes, at least as many as there are.
  int64_t channels;
  bool separate = false;  // a convolution for each phase

  int rank() const { return static_cast<int>(axes.size()); }
};

// Whether each phase becomes a convolution of its own: that needs taps in each,
// and pays where one convolution of all would multiply by zero more than every
// fourth time, or where its groups would keep phases apart.
bool PrefersSeparate(const Problem& problem) {
  if (problem.phases == 1 || problem.phases > kMostConvolutions) return false;
  double useful = 1;
  for (const Axis& axis : problem.axes) {
    if (axis.kernel < axis.stride) return false;
    useful *= static_cast<double>(axis.kernel) /
              static_cast<double>(axis.stride * axis.taps);
  }
  return useful < 0.75 || problem.groups > 1;
}

// The `dequantize` that weights are the result of, where zeros among the bytes
// are zeros and scales, if many, are of the output channels; null for anything
// else.
const Node* QuantizedWeights(const Node& node, const Problem& problem) {
  const Node& w = *node.inputs[1].node;
  if (w.kind != NodeKind::kOp || !w.op->Has(kDequantizes) ||
      ConstantOf(w.inputs[0]) == nullptr ||
      ConstantOf(w.inputs[1]) == nullptr ||
      (w.inputs.size() > 2 && w.inputs[2].node != nullptr &&
       SplatOf(w.inputs[2]) != 0.0)) {
    return nullptr;
  }
  constexpr int64_t kOutputChannels = 1;
  if (!IsOneElement(w.inputs[1]) &&
      (problem.groups != 1 ||
       w.attrs.Get<int64_t>("axis") != kOutputChannels)) {
    return nullptr;
  }
  return &w;
}

// The problem, or nothing for what stays as it is.
std::optional<Problem> Read(const Node& node,
                            const LayoutPreferences& layouts) {
  // The kernels of weights that only a run knows are arranged by each run,
  // which is little work beside the convolution.
  const std::optional<Ints> known = ConstShape(node.inputs[1].type().shape);
  if (!known || std::count(known->begin(), known->end(), 0) > 0) {
    return std::nullopt;
  }
  const Ints& shape = *known;
  const size_t n = shape.size() - 2;
  for (size_t d = 0; d < n; ++d) {
    int64_t extent;  // without elements there is nothing to convolve
    if (tir::AsConstInt(node.outputs[0].shape[2 + d], &extent) && extent < 1) {
      return std::nullopt;
    }
  }
  Problem problem;
  problem.groups = node.attrs.Get<int64_t>("groups");
  problem.in_per_group = shape[0] / problem.groups;
  problem.out_per_group = shape[1];
  const Ints strides = node.attrs.GetEach("strides", n);
  const Ints dilations = node.attrs.GetEach("dilations", n);
  const Ints pads = node.attrs.GetEach("pads", 2 * n);
  const Ints extra = node.attrs.GetEach("output_padding", n);
  double spread = 1;  // how many times as many taps as a result needs
  for (size_t d = 0; d < n; ++d) {
    Axis axis;
    axis.stride = strides[d];
    axis.spread = strides[d] > 1 ? dilations[d] : 1;
    axis.dilation = strides[d] > 1 ? 1 : dilations[d];
    axis.kernel = (shape[2 + d] - 1) * axis.spread + 1;
    if (axis.stride > kMostStride * shape[2 + d]) return std::nullopt;
    axis.taps = axis.TapsOf(0);
    if (axis.spread > 1)
      spread *= static_cast<double>(axis.taps) / shape[2 + d];
    problem.phases *= axis.stride;
    problem.axes.push_back(axis);
  }
  if (spread > kMostSpread) return std::nullopt;
  problem.separate = PrefersSeparate(problem);
  for (size_t d = 0; d < n; ++d) {
    Axis& axis = problem.axes[d];
    const int64_t fewest =
        problem.separate ? axis.TapsOf(axis.stride - 1) : axis.taps;
    axis.skipped =
        std::min(pads[d] / axis.stride, (fewest - 1) * axis.dilation);
    axis.offset = pads[d] - axis.skipped * axis.stride;
    const int64_t reach = (axis.kernel - 1) * axis.dilation + 1;
    axis.pad_end = std::max<int64_t>(
        tir::CeilDivInt(reach + extra[d] - pads[n + d], axis.stride) - 1, 0);
  }
  // Phases that fill whole blocks of channels interleave in blocks. That may
  // take up to as much work again.
  problem.channels = problem.out_per_group;
  if (problem.groups == 1 && problem.phases > 1 && n <= 2 &&
      layouts.channel_block != nullptr) {
    const int64_t block = layouts.channel_block(node);
    const int64_t filled =
        block == 0 ? 0 : tir::CeilDivInt(problem.channels, block) * block;
    if (filled <= 2 * problem.channels) {
      problem.channels = std::max(problem.channels, filled);
    }
  }
  return problem;
}

class Rewriter {
 public:
  Rewriter(Function* function, const Node& node, const Problem& problem)
      : function_(function),
        node_(node),
        problem_(problem),
        quantized_(QuantizedWeights(node, problem)),
        weights_(quantized_ == nullptr ? node.inputs[1]
                                       : quantized_->inputs[0]) {}

  // Returns a value that equals the node's result.
  absl::StatusOr<Value> Run() {
    INGOT_ASSIGN_OR_RETURN(const Value kernels, ArrangeKernels());
    Value result;
    if (problem_.separate) {
      INGOT_ASSIGN_OR_RETURN(result, ConvolvePhases(kernels));
    } else {
      INGOT_ASSIGN_OR_RETURN(result, ConvolveAtOnce(kernels));
    }
    INGOT_ASSIGN_OR_RETURN(result, Interleave(result));
    return Cut(result);
  }

 private:
  absl::StatusOr<Value> Add(absl::string_view op, std::vector<Value> inputs,
                            Attrs attrs) {
    INGOT_ASSIGN_OR_RETURN(
        Node * made,
        function_->AddOp(op, node_.name, std::move(inputs), std::move(attrs)));
    made->sources.Add(node_.sources);
    return Value{made};
  }

  // A call that makes something of the kernels, now if they are constant.
  absl::StatusOr<Value> Arrange(absl::string_view op, const Value& kernels,
                                Attrs attrs) {
    INGOT_ASSIGN_OR_RETURN(const Value made,
                           AddFolded(function_, op, weights_.node->name,
                                     {kernels}, std::move(attrs)));
    if (made.node->kind == NodeKind::kOp) made.node->sources.Add(node_.sources);
    return made;
  }

  // The node's kernel with zeros between its taps, as far as they are spread.
  absl::StatusOr<Value> SpreadKernel() {
    const Value& w = weights_;
    const Ints extents = *ConstShape(w.type().shape);
    Shape apart = MakeShape({extents[0], extents[1]}), together = apart;
    const int n = problem_.rank();
    Ints zeros(2 * (2 + 2 * n), 0), axes;
    Shape starts, ends;
    for (int d = 0; d < n; ++d) {
      const Axis& axis = problem_.axes[d];
      apart.push_back(tir::MakeInt(extents[2 + d]));
      apart.push_back(tir::MakeInt(1));
      together.push_back(tir::MakeInt(extents[2 + d] * axis.spread));
      zeros[2 + 2 * n + 2 + 2 * d + 1] = axis.spread - 1;
      if (axis.spread == 1) continue;
      axes.push_back(2 + d);
      starts.push_back(tir::MakeInt(0));
      ends.push_back(tir::MakeInt(axis.kernel));
    }
    if (axes.empty()) return w;
    INGOT_ASSIGN_OR_RETURN(Value spread,
                           Arrange("reshape", w, {{"shape", apart}}));
    INGOT_ASSIGN_OR_RETURN(spread, Arrange("pad", spread, {{"pads", zeros}}));
    INGOT_ASSIGN_OR_RETURN(spread,
                           Arrange("reshape", spread, {{"shape", together}}));
    return Arrange("slice", spread,
                   {{"axes", axes}, {"starts", starts}, {"ends", ends}});
  }

  // The kernels of all phases, zeros where one has fewer taps than others:
  // [phase of each dimension..., groups, out, in, taps...], the groups in front
  // if their convolution is one for all phases.
  absl::StatusOr<Value> ArrangeKernels() {
    const int n = problem_.rank();
    Ints pads(2 * (n + 2), 0);
    Shape split = MakeShape(
        {problem_.groups, problem_.in_per_group, problem_.out_per_group});
    Ints flipped, order, taps;
    Shape from, to;
    for (int d = 0; d < n; ++d) {
      const Axis& axis = problem_.axes[d];
      pads[n + 2 + 2 + d] = axis.taps * axis.stride - axis.kernel;
      split.push_back(tir::MakeInt(axis.taps));
      split.push_back(tir::MakeInt(axis.stride));
      from.push_back(tir::MakeInt(axis.taps - 1));
      to.push_back(tir::MakeInt(-1));
      flipped.push_back(3 + 2 * d);
      order.push_back(4 + 2 * d);
      taps.push_back(3 + 2 * d);
    }
    order.insert(problem_.separate ? order.end() : order.begin(), 0);
    order.insert(order.end(), {2, 1});
    order.insert(order.end(), taps.begin(), taps.end());
    INGOT_ASSIGN_OR_RETURN(Value w, SpreadKernel());
    INGOT_ASSIGN_OR_RETURN(w, Arrange("pad", w, {{"pads", pads}}));
    INGOT_ASSIGN_OR_RETURN(w, Arrange("reshape", w, {{"shape", split}}));
    INGOT_ASSIGN_OR_RETURN(w, Arrange("slice", w,
                                      {{"axes", flipped},
                                       {"starts", from},
                                       {"ends", to},
                                       {"steps", Ints(n, -1)}}));
    INGOT_ASSIGN_OR_RETURN(w, Arrange("transpose", w, {{"axes", order}}));
    Ints filling(2 * order.size(), 0);
    filling[order.size() + n + 1] = problem_.channels - problem_.out_per_group;
    return Arrange("pad", w, {{"pads", filling}});
  }

  // The convolution of x with `kernels`, once they are [out, in, taps...].
  absl::StatusOr<Value> Convolve(const Value& kernels, const Ints& taps) {
    int64_t elements = 1, of_one = problem_.in_per_group;
    const Ints extents = *ConstShape(kernels.type().shape);
    for (const int64_t extent : extents) elements *= extent;
    Ints pads, ends, dilations;
    for (int d = 0; d < problem_.rank(); ++d) {
      of_one *= taps[d];
      pads.push_back(problem_.axes[d].PadBegin(taps[d]));
      ends.push_back(problem_.axes[d].pad_end);
      dilations.push_back(problem_.axes[d].dilation);
    }
    Ints shape = {elements / of_one, problem_.in_per_group};
    shape.insert(shape.end(), taps.begin(), taps.end());
    pads.insert(pads.end(), ends.begin(), ends.end());
    INGOT_ASSIGN_OR_RETURN(
        Value w, Arrange("reshape", kernels, {{"shape", MakeShape(shape)}}));
    if (quantized_ != nullptr) {
      INGOT_ASSIGN_OR_RETURN(w, Dequantize(w, shape[0]));
    }
    Attrs attrs = {{"pads", pads}};
    if (problem_.groups > 1) attrs.Set("groups", problem_.groups);
    if (dilations != Ints(dilations.size(), 1)) {
      attrs.Set("dilations", dilations);
    }
    return Add(absl::StrCat("conv", problem_.rank(), "d"), {node_.inputs[0], w},
               std::move(attrs));
  }

  // The numbers that arranged bytes stand for, `channels` of the output.
  absl::StatusOr<Value> Dequantize(const Value& bytes, int64_t channels) {
    Value scale = quantized_->inputs[1];
    if (!IsOneElement(scale)) {
      const Tensor& scales = *ConstantOf(scale);
      INGOT_ASSIGN_OR_RETURN(Tensor of_all,
                             Tensor::Empty(scales.dtype(), {channels}));
      const size_t size = scales.dtype().bytes();
      const auto* from = static_cast<const char*>(scales.raw_data());
      auto* to = static_cast<char*>(of_all.mutable_raw_data());
      for (int64_t i = 0; i < channels; ++i) {
        // Weights that fill channels up are 0 in any scale.
        const int64_t channel =
            std::min(i % problem_.channels, problem_.out_per_group - 1);
        std::copy_n(from + channel * size, size, to + i * size);
      }
      scale =
          Value{function_->AddConstant(scale.node->name, std::move(of_all))};
      scale.node->sources.Add(quantized_->inputs[1].node->sources);
    }
    INGOT_ASSIGN_OR_RETURN(
        Node * made, function_->AddOp(quantized_->op->name, quantized_->name,
                                      {bytes, scale}, {{"axis", int64_t{0}}}));
    made->sources.Add(quantized_->sources);
    return Value{made};
  }

  absl::StatusOr<Value> ConvolveAtOnce(const Value& kernels) {
    Ints taps;
    for (const Axis& axis : problem_.axes) taps.push_back(axis.taps);
    return Convolve(kernels, taps);
  }

  // One convolution a phase, their results side by side.
  absl::StatusOr<Value> ConvolvePhases(const Value& kernels) {
    const int n = problem_.rank();
    std::vector<Value> parts;
    for (int64_t i = 0; i < problem_.phases; ++i) {
      Ints axes, starts, ends, taps(n);
      int64_t rest = i;
      for (int d = n; d-- > 0;) {
        const Axis& axis = problem_.axes[d];
        const int64_t phase = rest % axis.stride;
        rest /= axis.stride;
        taps[d] = axis.TapsOf(phase);
        // The last taps come first, and with them those that it lacks.
        axes.insert(axes.end(), {d, n + 3 + d});
        starts.insert(starts.end(), {phase, axis.taps - taps[d]});
        ends.insert(ends.end(), {phase + 1, axis.taps});
      }
      INGOT_ASSIGN_OR_RETURN(Value w, Arrange("slice", kernels,
                                              {{"axes", axes},
                                               {"starts", MakeShape(starts)},
                                               {"ends", MakeShape(ends)}}));
      INGOT_ASSIGN_OR_RETURN(Value part, Convolve(w, taps));
      parts.push_back(part);
    }
    return Add("concat", parts, {{"axis", int64_t{1}}});
  }

  // Phases, which are channels, become positions.
  absl::StatusOr<Value> Interleave(Value value) {
    if (problem_.phases == 1) return value;
    Ints blocks;
    for (const Axis& axis : problem_.axes) blocks.push_back(axis.stride);
    // The groups of one convolution for all phases are like images.
    const bool grouped = problem_.groups > 1 && !problem_.separate;
    Shape shape = value.type().shape;
    const Dim images = shape[0];
    if (grouped) {
      shape[0] = images * problem_.groups;
      shape[1] = tir::MakeInt(problem_.phases * problem_.channels);
      INGOT_ASSIGN_OR_RETURN(value,
                             Add("reshape", {value}, {{"shape", shape}}));
    }
    INGOT_ASSIGN_OR_RETURN(
        value, Add("depth_to_space", {value}, {{"blocks", blocks}}));
    if (grouped) {
      shape = value.type().shape;
      shape[0] = images;
      shape[1] = tir::MakeInt(problem_.groups * problem_.channels);
      INGOT_ASSIGN_OR_RETURN(value,
                             Add("reshape", {value}, {{"shape", shape}}));
    }
    return value;
  }

  // Without the channels and positions that the node does not have.
  absl::StatusOr<Value> Cut(const Value& value) {
    const Shape& from = value.type().shape;
    const Shape& to = node_.outputs[0].shape;
    Ints axes;
    Shape starts, ends;
    for (size_t d = 1; d < to.size(); ++d) {
      const int64_t offset = d == 1 ? 0 : problem_.axes[d - 2].offset;
      if (offset == 0 && SameShape({from[d]}, {to[d]})) continue;
      axes.push_back(static_cast<int64_t>(d));
      starts.push_back(tir::MakeInt(offset));
      ends.push_back(to[d] + offset);
    }
    if (axes.empty()) return value;
    return Add("slice", {value},
               {{"axes", axes}, {"starts", starts}, {"ends", ends}});
  }

  Function* function_;
  const Node& node_;
  const Problem& problem_;
  const Node* const quantized_;  // or null
  const Value weights_;          // as the kernels are arranged of them
};

absl::StatusOr<bool> RewriteFunction(Function* function,
                                     const LayoutPreferences& layouts) {
  std::vector<Node*> nodes;
  for (const auto& node : function->nodes()) {
    // A node that is pinned to a target stays as it is.
    if (IsConvTranspose(*node) && !node->attrs.Has("target")) {
      nodes.push_back(node.get());
    }
  }
  bool changed = false;
  for (Node* node : nodes) {
    const std::optional<Problem> problem = Read(*node, layouts);
    if (!problem) continue;
    INGOT_ASSIGN_OR_RETURN(const Value result,
                           Rewriter(function, *node, *problem).Run());
    std::swap(result.node->name, node->name);
    function->ReplaceUses(Value{node}, result);
    changed = true;
  }
  if (!changed) return false;
  function->RemoveDead();
  INGOT_RETURN_IF_ERROR(function->Sort());
  return true;
}

}  // namespace

absl::StatusOr<bool> SubPixel(Module* module, PassContext* context) {
  bool changed = false;
  for (const auto& function : module->functions()) {
    if (IsFinished(*function)) continue;
    INGOT_ASSIGN_OR_RETURN(bool now,
                           RewriteFunction(function.get(), context->layouts));
    changed = changed || now;
  }
  return changed;
}

}  // namespace ingot::relay
