// Convolutions and their transposes, in plain and in blocked layouts.
#include "compiler/relay/dim.h"
#include "compiler/relay/layout.h"
#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/window.h"
#include "compiler/relay/word_kernels.h"
#include "compiler/te/tags.h"

namespace ingot::relay::ops {
namespace {

constexpr absl::string_view kKernelLayouts[] = {"OIW", "OIHW", "OIDHW"};

// A convolution's operands, decoded. With blocks the last dimension of data is
// `in_block` channels and that of the result `out_block` ones.
struct ConvInfo {
  Window window;
  int64_t groups = 1;
  int64_t in_block = 0;      // 0: plain NCHW data
  int64_t kernel_block = 0;  // of input channels; divides in_block
  int64_t out_block = 0;     // 0: plain result
  bool depthwise_blocked = false;
  int64_t words = 1;             // of so many elements, in which weights are
  std::optional<TapWords> taps;  // of a row of a depthwise kernel
  // Channels, in blocks too; numbers where either side has blocks.
  Dim out_channels, out_per_group, in_per_group;
  DataType acc;  // what sums are made in
};

// "OIHW8i8o" -> 8, 8; "OIHW8o" -> 0, 8; "OIHW" -> 0, 0.
absl::Status KernelBlocks(absl::string_view layout, int n, int64_t* in,
                          int64_t* out) {
  *in = *out = 0;
  if (layout == kKernelLayouts[n - 1]) return absl::OkStatus();
  if (const auto parsed = ParseLayout(layout); n == 2 && parsed.ok()) {
    const std::string axes = parsed->Axes();
    *in = parsed->Block('I');
    *out = parsed->Block('O');
    if (axes == "OIHWio" || axes == "OIHWo") return absl::OkStatus();
  }
  return Invalid("'", layout,
                 "' is not a kernel layout such as OIHW, OIHW8i8o or OIHW8o");
}

// The extents of the window that kernel `w` slides, the `n` dimensions from
// `first` on.
absl::StatusOr<std::vector<int64_t>> KernelExtents(const TensorType& w, int n) {
  const auto extents =
      ConstShape(Shape(w.shape.begin() + 2, w.shape.begin() + 2 + n));
  if (!extents) {
    return Invalid("the window of the kernel ", ToString(w), " must be static");
  }
  return *extents;
}

// `channels` / groups.
absl::StatusOr<Dim> PerGroup(const Dim& channels, int64_t groups,
                             std::vector<DimAssumption>* assumed) {
  if (groups < 1) return Invalid("groups=", groups);
  if (groups == 1) return channels;
  const Dim each = SimplifyDim(FloorDiv(channels, groups));
  if (!MayBeEqual(channels, SimplifyDim(each * groups), assumed)) {
    return Invalid("groups=", groups, " does not divide the kernel's channels");
  }
  return each;
}

// Checks that weights and groups suit blocks of channels.
absl::Status CheckBlocks(const TensorType& w, const ConvInfo& info) {
  if (info.in_block == 0 && info.out_block == 0) return absl::OkStatus();
  if (!ConstShape(w.shape)) {
    return Invalid("the blocked kernel ", ToString(w), " must be static");
  }
  if (info.in_block > 0 && info.out_block == 0) {
    return Invalid("blocked data needs a blocked kernel layout");
  }
  int64_t in_per_group = 0, out_per_group = 0;
  ConstDim(info.in_per_group, &in_per_group);
  ConstDim(info.out_per_group, &out_per_group);
  if (info.depthwise_blocked) {
    if (in_per_group != 1 || out_per_group != 1 ||
        info.in_block != info.out_block) {
      return Invalid("kernel layout OIHW", info.out_block,
                     "o on blocked data is for depthwise convolutions with one "
                     "block size");
    }
  } else if (info.in_block > 0) {
    if (info.in_block % info.kernel_block != 0) {
      return Invalid("data in blocks of ", info.in_block,
                     " and a kernel in blocks of ", info.kernel_block);
    }
    if (info.groups > 1 && out_per_group % info.out_block != 0) {
      return Invalid("a block of ", info.out_block,
                     " output channels spans several groups");
    }
  } else if (info.groups != 1 || info.kernel_block > 0) {
    return Invalid(
        "plain data with a blocked kernel needs groups=1 and the "
        "kernel layout OIHW<b>o");
  }
  return absl::OkStatus();
}

absl::StatusOr<ConvInfo> ReadConv(
    const TensorType& x, const TensorType& w, const Attrs& attrs, int n,
    std::vector<DimAssumption>* assumed = nullptr) {
  ConvInfo info;
  INGOT_ASSIGN_OR_RETURN(info.in_block,
                         DataBlock(attrs.Get<std::string>("data_layout")));
  int64_t kernel_in;
  INGOT_RETURN_IF_ERROR(KernelBlocks(attrs.Get<std::string>("kernel_layout"), n,
                                     &kernel_in, &info.out_block));
  INGOT_RETURN_IF_ERROR(ExpectRank(x, n + 2 + (info.in_block > 0), "the data"));
  INGOT_RETURN_IF_ERROR(ExpectRank(
      w, n + 2 + (kernel_in > 0) + (info.out_block > 0), "the kernel"));
  INGOT_ASSIGN_OR_RETURN(std::vector<int64_t> kernel, KernelExtents(w, n));
  info.groups = attrs.Get<int64_t>("groups");
  info.out_channels =
      SimplifyDim(w.shape[0] * std::max<int64_t>(info.out_block, 1));
  INGOT_ASSIGN_OR_RETURN(info.out_per_group,
                         PerGroup(info.out_channels, info.groups, assumed));
  info.in_per_group = SimplifyDim(w.shape[1] * std::max<int64_t>(kernel_in, 1));
  info.depthwise_blocked = info.in_block > 0 && kernel_in == 0;
  const int64_t in_words = attrs.Get<int64_t>("words");
  if (in_words != 0 && info.depthwise_blocked && x.dtype.bits == 8) {
    info.taps = TapWordsOf(std::max<int64_t>(in_words, 1));
    if (!info.taps || info.taps->count != kernel.back()) {
      return Invalid("a row of ", in_words, " taps is not ", kernel.back(),
                     " words");
    }
    kernel.back() = in_words;
  } else if (in_words != 0) {
    if (kernel_in == 0) return Invalid("words need a kernel layout OIHW4i16o");
    info.words = ElementsOfWord(x.dtype);
    info.in_per_group = SimplifyDim(info.in_per_group * info.words);
  }
  info.kernel_block = kernel_in * info.words;
  const Dim has = SimplifyDim(x.shape[1] * std::max<int64_t>(info.in_block, 1));
  Dim takes = SimplifyDim(info.in_per_group * info.groups);
  if (info.kernel_block > 0 && info.in_block > 0 && info.groups == 1) {
    // It leaves out channels that fill up the last block.
    takes = SimplifyDim(CeilDiv(takes, info.in_block) * info.in_block);
  }
  if (!MayBeEqual(has, takes, assumed)) {
    int64_t has_now = 0, takes_now = 0;  // both are known: they differ
    ConstDim(has, &has_now);
    ConstDim(takes, &takes_now);
    return Invalid("the data ", ToString(x), " has ", has_now,
                   " channels, the kernel ", ToString(w),
                   " with groups=", info.groups, " takes ", takes_now);
  }
  INGOT_RETURN_IF_ERROR(CheckBlocks(w, info));
  INGOT_ASSIGN_OR_RETURN(info.window, ReadWindow(attrs, kernel));
  const DataType* const out = attrs.Find<DataType>("out_dtype");
  info.acc = ComputeType(out == nullptr ? x.dtype : *out);
  return info;
}

absl::StatusOr<Types> InferConv(const InferContext& c, int n) {
  const TensorType& x = c.type(0);
  INGOT_RETURN_IF_ERROR(ExpectNumber(x, "the data"));
  INGOT_RETURN_IF_ERROR(ExpectNumber(c.type(1), "the kernel"));
  const DataType* const own = c.attrs.Find<DataType>("out_dtype");
  if (own == nullptr) {
    INGOT_RETURN_IF_ERROR(ExpectSameType(x, c.type(1)));
  } else if (!own->is_float() && !own->is_integer()) {
    return Invalid("out_dtype=", own->ToString());
  }
  TensorType out{own == nullptr ? x.dtype : *own, {}};
  if (c.attrs.Get<int64_t>("words") != 0) {
    INGOT_RETURN_IF_ERROR(CheckWords(x, c.type(1), out.dtype));
  }
  INGOT_ASSIGN_OR_RETURN(ConvInfo info,
                         ReadConv(x, c.type(1), c.attrs, n, c.assumed));
  const int64_t block = std::max<int64_t>(info.out_block, 1);
  out.shape = {x.shape[0], c.type(1).shape[0]};
  for (int d = 0; d < n; ++d) {
    INGOT_ASSIGN_OR_RETURN(Dim dim,
                           WindowCount(info.window, d, x.shape[2 + d]));
    out.shape.push_back(dim);
  }
  if (info.out_block > 0) out.shape.push_back(I64(block));
  return Types{out};
}

const char* ConvTag(const ConvInfo& info) {
  if (info.depthwise_blocked) return te::kDepthwiseNchwc;
  return info.out_block > 0 ? te::kConv2dNchwc : te::kConv2dNchw;
}

absl::StatusOr<Tensors> ComputeConv(const ComputeContext& c, int n) {
  const te::Tensor w = c.inputs[1];
  INGOT_ASSIGN_OR_RETURN(const ConvInfo info,
                         ReadConv({c.inputs[0].dtype(), c.inputs[0].shape()},
                                  {w.dtype(), w.shape()}, c.attrs, n));
  const Window& win = info.window;
  const te::Tensor x = PadSpatial(
      c, c.inputs[0], 2, win.pads_begin, win.pads_end,
      MakeConst(c.inputs[0].dtype(), c.attrs.Get<int64_t>("pad_value")));
  // Reduce axes: input channels (or their blocks), the taps, then the channels
  // of a block; a depthwise kernel has only the taps.
  std::vector<Expr> extents;
  const int first_tap = info.depthwise_blocked ? 0 : 1;
  if (!info.depthwise_blocked) {
    extents.push_back(SimplifyDim(
        FloorDiv(info.in_per_group, std::max<int64_t>(info.kernel_block, 1))));
  }
  for (int64_t k : win.kernel) extents.push_back(I64(k));
  if (info.taps) extents.back() = I64(info.taps->count);
  const bool by_blocks = info.kernel_block > 0;
  if (by_blocks) extents.push_back(I64(info.kernel_block / info.words));
  const int64_t parts = by_blocks ? info.in_block / info.kernel_block : 1;
  const int64_t out_block = std::max<int64_t>(info.out_block, 1);
  auto term = [&](const Indices& i, const Indices& r) {
    Indices xi = {i[0]}, wi = {i[1]};
    Expr first;  // of a block's channels, null for 0
    if (info.depthwise_blocked) {
      xi.push_back(i[1]);
      wi.push_back(I64(0));
    } else {
      Expr channel = r[0];
      if (info.groups > 1) {
        const Expr group =
            i[1] / SimplifyDim(FloorDiv(info.out_per_group, out_block));
        channel = group * extents[0] + channel;
      }
      xi.push_back(parts > 1 ? channel / I64(parts) : channel);
      wi.push_back(r[0]);
      if (parts > 1) first = channel % I64(parts) * info.kernel_block;
    }
    for (int d = 0; d < n; ++d) {
      const Expr& tap = r[first_tap + d];
      xi.push_back(i[2 + d] * win.strides[d] + tap * win.dilations[d]);
      wi.push_back(tap);
    }
    if (info.depthwise_blocked) xi.push_back(i.back());
    if (by_blocks) {
      const Expr own = info.words > 1 ? r.back() * info.words : r.back();
      xi.push_back(first == nullptr ? own : first + own);
      wi.push_back(r.back());
    }
    if (info.out_block > 0) wi.push_back(i.back());
    if (info.taps) {
      const Expr first = i[1 + n] * win.strides.back();
      return Dot(
          x,
          [&](int64_t part) {
            Indices at = xi;
            const Expr tap = r[n - 1] * info.taps->step +
                             std::min(part, win.kernel.back() - 1);
            at[1 + n] = first + tap * win.dilations.back();
            return at;
          },
          w(wi));
    }
    if (info.words > 1) return Dot(x, xi, w(wi));
    return MakeCast(info.acc, x(xi)) * MakeCast(info.acc, w(wi));
  };
  std::map<std::string, std::string> tags;
  if (n == 2) tags[te::kAnchor] = ConvTag(info);
  if (const auto each = ConstShape({info.out_per_group});
      info.groups > 1 && each.has_value()) {
    tags[te::kGroupChannels] = absl::StrCat(each->front());
  }
  const TensorType& out = c.outputs[0];
  if (out.dtype == info.acc) {
    return Tensors{c.graph.Reduce(c.name, out.shape, extents,
                                  te::Reducer::Sum(info.acc), term, tags)};
  }
  const te::Tensor sum = c.graph.Reduce(SubName(c, "sum"), out.shape, extents,
                                        te::Reducer::Sum(info.acc), term, tags);
  return Tensors{c.graph.Compute(c.name, out.shape, [&](const Indices& i) {
    return MakeCast(out.dtype, sum(i));
  })};
}

OpDef Conv(int n) {
  OpDef def;
  def.name = absl::StrCat("conv", n, "d");
  def.doc = absl::StrCat("convolution of x ", kDataLayouts[n - 1], " with w ",
                         kKernelLayouts[n - 1], "; no bias");
  def.min_inputs = def.max_inputs = 2;
  def.fusion = FusionKind::kAnchor;
  def.traits = kOperandsInMemory;
  if (n == 2) def.layout_rule = LayoutRule::kChooses;
  def.attrs = {
      StridesAttr(),
      PadsAttr(),
      DilationsAttr(),
      IntAttr("groups", "of channels", 1),
      IntAttr("pad_value", "of the elements around x", 0),
      TypeAttr("out_dtype", "of sums and result; x's type when left out",
               kOptional),
      WordsAttr(),
      StringAttr(
          "data_layout",
          n == 2 ? "NCHW, or NCHW8c and the like" : "the only one there is",
          kDataLayouts[n - 1]),
      StringAttr("kernel_layout",
                 n == 2 ? "OIHW; OIHW8i8o on blocked data, whose blocks are "
                          "as large or a multiple; OIHW8o on plain data, or "
                          "depthwise"
                        : "the only one there is",
                 kKernelLayouts[n - 1])};
  def.infer = [n](const InferContext& c) { return InferConv(c, n); };
  def.compute = [n](const ComputeContext& c) { return ComputeConv(c, n); };
  return def;
}

// ------------------------------------------------------------------ transposed

struct TransposeInfo {
  Window window;
  int64_t groups;
  std::vector<int64_t> output_padding;
  Dim in_per_group, out_per_group;
};

absl::StatusOr<TransposeInfo> ReadTranspose(
    const TensorType& x, const TensorType& w, const Attrs& attrs, int n,
    std::vector<DimAssumption>* assumed = nullptr) {
  INGOT_RETURN_IF_ERROR(ExpectRank(x, n + 2, "the data"));
  INGOT_RETURN_IF_ERROR(ExpectRank(w, n + 2, "the kernel"));
  INGOT_ASSIGN_OR_RETURN(const std::vector<int64_t> kernel,
                         KernelExtents(w, n));
  TransposeInfo info;
  info.groups = attrs.Get<int64_t>("groups");
  INGOT_ASSIGN_OR_RETURN(info.in_per_group,
                         PerGroup(w.shape[0], info.groups, assumed));
  if (!MayBeEqual(x.shape[1], w.shape[0], assumed)) {
    return Invalid("the data ", ToString(x), " and the kernel ", ToString(w),
                   " differ in channels");
  }
  info.out_per_group = w.shape[1];
  INGOT_ASSIGN_OR_RETURN(info.window, ReadWindow(attrs, kernel));
  info.output_padding = attrs.GetEach("output_padding", n);
  if (info.output_padding.size() != static_cast<size_t>(n)) {
    return Invalid("output_padding must have ", n, " values");
  }
  return info;
}

absl::StatusOr<Types> InferTranspose(const InferContext& c, int n) {
  INGOT_RETURN_IF_ERROR(ExpectSameType(c.type(0), c.type(1)));
  const TensorType& x = c.type(0);
  INGOT_RETURN_IF_ERROR(ExpectNumber(x, "the data"));
  INGOT_ASSIGN_OR_RETURN(TransposeInfo info,
                         ReadTranspose(x, c.type(1), c.attrs, n, c.assumed));
  TensorType out{x.dtype, {x.shape[0], info.out_per_group * info.groups}};
  const Window& w = info.window;
  for (int d = 0; d < n; ++d) {
    const int64_t reach = (w.kernel[d] - 1) * w.dilations[d] + 1;
    out.shape.push_back(
        (x.shape[2 + d] - 1) * w.strides[d] +
        (reach + info.output_padding[d] - w.pads_begin[d] - w.pads_end[d]));
  }
  return Types{out};
}

// Gathers what each output element receives: the taps whose distance from it
// is a multiple of the stride.
absl::StatusOr<Tensors> ComputeTranspose(const ComputeContext& c, int n) {
  const te::Tensor x = c.inputs[0], w = c.inputs[1];
  INGOT_ASSIGN_OR_RETURN(const TransposeInfo info,
                         ReadTranspose({x.dtype(), x.shape()},
                                       {w.dtype(), w.shape()}, c.attrs, n));
  const Window& win = info.window;
  const DataType acc = ComputeType(x.dtype());
  std::vector<Expr> extents = {info.in_per_group};
  for (int64_t k : win.kernel) extents.push_back(I64(k));
  auto term = [&](const Indices& i, const Indices& r) {
    Expr in_channel = r[0], out_channel = i[1];
    if (info.groups > 1) {
      const Expr group = i[1] / info.out_per_group;
      in_channel = group * info.in_per_group + r[0];
      out_channel = i[1] % info.out_per_group;
    }
    Indices xi = {i[0], in_channel}, wi = {in_channel, out_channel};
    std::vector<Expr> inside;
    for (int d = 0; d < n; ++d) {
      const Expr pos =
          i[2 + d] + win.pads_begin[d] - r[1 + d] * win.dilations[d];
      const Expr stride = I64(win.strides[d]);
      const Expr source = pos / stride;
      if (win.strides[d] > 1) inside.push_back(Eq(pos % stride, I64(0)));
      inside.push_back(Ge(source, I64(0)));
      inside.push_back(Lt(source, x.shape()[2 + d]));
      xi.push_back(source);
      wi.push_back(r[1 + d]);
    }
    return MakeSelect(All(inside), MakeCast(acc, x(xi)), MakeConst(acc, 0)) *
           MakeCast(acc, w(wi));
  };
  const TensorType& out = c.outputs[0];
  if (out.dtype == acc) {
    return Tensors{c.graph.Reduce(c.name, out.shape, extents,
                                  te::Reducer::Sum(acc), term)};
  }
  const te::Tensor sum = c.graph.Reduce(SubName(c, "sum"), out.shape, extents,
                                        te::Reducer::Sum(acc), term);
  return Tensors{c.graph.Compute(c.name, out.shape, [&](const Indices& i) {
    return MakeCast(out.dtype, sum(i));
  })};
}

OpDef ConvTranspose(int n) {
  OpDef def;
  def.name = absl::StrCat("conv_transpose", n, "d");
  def.doc = absl::StrCat("transposed convolution of x ", kDataLayouts[n - 1],
                         " with w [C, M/groups, k...]; no bias");
  def.min_inputs = def.max_inputs = 2;
  def.fusion = FusionKind::kAnchor;
  def.traits = kOperandsInMemory;
  def.attrs = {StridesAttr(), PadsAttr(), DilationsAttr(),
               IntAttr("groups", "of channels", 1),
               EachAttr("output_padding", "added to the end", 0)};
  def.infer = [n](const InferContext& c) { return InferTranspose(c, n); };
  def.compute = [n](const ComputeContext& c) { return ComputeTranspose(c, n); };
  return def;
}

}  // namespace

absl::Status RegisterConvolution(OpRegistry* registry) {
  return RegisterAllOf(registry, {Conv(1), Conv(2), Conv(3), ConvTranspose(1),
                                  ConvTranspose(2), ConvTranspose(3)});
}

}  // namespace ingot::relay::ops
