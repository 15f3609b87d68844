// Pooling over windows and over whole planes, plain and blocked.
#include <algorithm>
#include <cmath>

#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/window.h"
#include "compiler/te/tags.h"

namespace ingot::relay::ops {
namespace {

enum class PoolKind { kMax, kAverage, kLp };

AttrSpec LayoutAttr(int n) {
  return StringAttr(
      "layout",
      n == 2 ? "NCHW, or NCHW8c and the like" : "the only one there is",
      kDataLayouts[n - 1]);
}

absl::Status CheckLayout(const TensorType& x, const Attrs& attrs, int n) {
  INGOT_ASSIGN_OR_RETURN(int64_t block,
                         DataBlock(attrs.Get<std::string>("layout")));
  if (n != 2 && block > 0) return Invalid("only 2-d pools know blocks");
  return ExpectRank(x, n + 2 + (block > 0), "the operand");
}

// The number of elements past the padded input that the last window of
// dimension `d` reaches; an upper bound when the extent is symbolic.
int64_t ExtraRoom(const Window& w, int d, const Dim& in, const Dim& out) {
  if (!w.ceil_mode) return 0;
  const int64_t reach = (w.kernel[d] - 1) * w.dilations[d] + 1;
  int64_t n_in, n_out;
  if (!ConstDim(in, &n_in) || !ConstDim(out, &n_out)) return w.strides[d] - 1;
  return std::max<int64_t>(0, (n_out - 1) * w.strides[d] + reach -
                                  (n_in + w.pads_begin[d] + w.pads_end[d]));
}

// The number of taps of the window at output `o` that fall on
// [-before, extent + after) of the input. Vectors of i32, where all numbers are
// known to fit, are twice as fast as those of i64.
Expr CountTaps(const Window& w, int d, const Expr& o, const Dim& extent,
               int64_t before, int64_t after) {
  // Sums of a few such numbers fit in 31 bits.
  constexpr int64_t kSmall = 1 << 27;
  int64_t known;
  bool fits = ConstDim(extent, &known) && known < kSmall;
  for (const int64_t n : {w.pads_begin[d], w.pads_end[d], w.kernel[d],
                          w.dilations[d], w.strides[d]}) {
    fits = fits && n < kSmall;
  }
  const DataType type = DataType::Int(fits ? 32 : 64);
  const auto narrow = [&](const Expr& e) { return MakeCast(type, e); };
  const Expr start = narrow(o * w.strides[d] - w.pads_begin[d]);
  // Returns how many steps reach beyond `end`.
  const auto steps = [&](const Expr& end) {
    const int64_t dilation = w.dilations[d];
    const Expr distance = end - start;
    return dilation == 1
               ? distance
               : (distance + narrow(I64(dilation - 1))) / narrow(I64(dilation));
  };
  const Expr first = Max(steps(narrow(I64(-before))), narrow(I64(0)));
  const Expr last =
      Min(steps(narrow(extent + after)), narrow(I64(w.kernel[d])));
  return last - first;
}

absl::StatusOr<Window> WindowOf(const Attrs& attrs, int n) {
  const auto& kernel = attrs.Get<std::vector<int64_t>>("kernel");
  if (kernel.size() != static_cast<size_t>(n)) {
    return Invalid("kernel must have ", n, " values");
  }
  INGOT_ASSIGN_OR_RETURN(Window w, ReadWindow(attrs, kernel));
  w.ceil_mode = attrs.Get<int64_t>("ceil_mode") != 0;
  return w;
}

absl::StatusOr<Types> InferPool(const InferContext& c, int n, PoolKind kind) {
  const TensorType& x = c.type(0);
  INGOT_RETURN_IF_ERROR(CheckLayout(x, c.attrs, n));
  INGOT_RETURN_IF_ERROR(ExpectNumber(x, "the operand"));
  if (kind != PoolKind::kMax) {
    INGOT_RETURN_IF_ERROR(ExpectFloat(x, "the operand"));
  }
  INGOT_ASSIGN_OR_RETURN(Window w, WindowOf(c.attrs, n));
  for (int d = 0; d < n; ++d) {
    const int64_t reach = (w.kernel[d] - 1) * w.dilations[d] + 1;
    if (w.pads_begin[d] >= reach || w.pads_end[d] >= reach) {
      return Invalid("padding as wide as the window in dimension ", d);
    }
  }
  TensorType out = x;
  for (int d = 0; d < n; ++d) {
    INGOT_ASSIGN_OR_RETURN(out.shape[2 + d], WindowCount(w, d, x.shape[2 + d]));
  }
  return Types{out};
}

struct PoolArgs {
  Window window;
  te::Tensor padded;
  std::vector<Expr> extents;
};

absl::StatusOr<PoolArgs> PreparePool(const ComputeContext& c, int n,
                                     const Expr& pad_value) {
  PoolArgs args;
  INGOT_ASSIGN_OR_RETURN(args.window, WindowOf(c.attrs, n));
  const Window& w = args.window;
  const te::Tensor x = c.inputs[0];
  std::vector<int64_t> end = w.pads_end;
  for (int d = 0; d < n; ++d) {
    end[d] += ExtraRoom(w, d, x.shape()[2 + d], c.outputs[0].shape[2 + d]);
    args.extents.push_back(I64(w.kernel[d]));
  }
  args.padded = PadSpatial(c, x, 2, w.pads_begin, end, pad_value);
  return args;
}

Expr TapOf(const PoolArgs& args, const Indices& i, const Indices& r) {
  Indices at = i;
  for (size_t d = 0; d < r.size(); ++d) {
    at[2 + d] =
        i[2 + d] * args.window.strides[d] + r[d] * args.window.dilations[d];
  }
  return args.padded(at);
}

Tags PoolTags(int n) {
  return n == 2 ? Tags{{te::kAnchor, te::kPool2d}} : Tags{};
}

absl::StatusOr<Tensors> ComputeMaxPool(const ComputeContext& c, int n) {
  const DataType t = c.inputs[0].dtype();
  INGOT_ASSIGN_OR_RETURN(PoolArgs args, PreparePool(c, n, LowestOf(t)));
  return Tensors{c.graph.Reduce(
      c.name, c.outputs[0].shape, args.extents, te::Reducer::Max(t),
      [&](const Indices& i, const Indices& r) { return TapOf(args, i, r); },
      PoolTags(n))};
}

absl::StatusOr<Tensors> ComputeAveragePool(const ComputeContext& c, int n) {
  const DataType t = c.inputs[0].dtype(), acc = ComputeType(t);
  INGOT_ASSIGN_OR_RETURN(PoolArgs args, PreparePool(c, n, MakeConst(t, 0)));
  const Window& w = args.window;
  const Shape& shape = c.outputs[0].shape;
  const te::Tensor sum = c.graph.Reduce(
      SubName(c, "sum"), shape, args.extents, te::Reducer::Sum(acc),
      [&](const Indices& i, const Indices& r) {
        return MakeCast(acc, TapOf(args, i, r));
      },
      PoolTags(n));
  const bool include_pad = c.attrs.Get<int64_t>("count_include_pad") != 0;
  return Tensors{c.graph.Compute(c.name, shape, [&](const Indices& i) {
    int64_t known = 1;
    Expr divisor;  // null: what is known alone
    for (int d = 0; d < n; ++d) {
      const bool may_leave =
          w.ceil_mode ||
          (!include_pad && (w.pads_begin[d] != 0 || w.pads_end[d] != 0));
      if (!may_leave) {
        known *= w.kernel[d];
        continue;
      }
      const Expr taps = CountTaps(w, d, i[2 + d], c.inputs[0].shape()[2 + d],
                                  include_pad ? w.pads_begin[d] : 0,
                                  include_pad ? w.pads_end[d] : 0);
      // The count along a column is the same for a row's vectors.
      const Expr factor =
          MakeCast(acc, Max(taps, MakeCast(taps->dtype, I64(1))));
      divisor = divisor == nullptr ? factor : divisor * factor;
    }
    const Expr constant = MakeConst(acc, static_cast<double>(known));
    if (divisor == nullptr) {
      divisor = constant;
    } else if (known != 1) {
      divisor = divisor * constant;
    }
    return MakeCast(t, sum(i) / divisor);
  })};
}

Expr PowerOf(const Expr& x, double p) {
  if (p == 1) return x;
  if (p == 2) return x * x;
  return MakeCall(Intrinsic::kPow, {x, MakeConst(x->dtype, p)});
}

Expr RootOf(const Expr& x, double p) {
  if (p == 1) return x;
  if (p == 2) return MakeCall(Intrinsic::kSqrt, {x});
  return MakeCall(Intrinsic::kPow, {x, MakeConst(x->dtype, 1 / p)});
}

Expr AbsOf(const Expr& x) { return MakeCall(Intrinsic::kAbs, {x}); }

absl::StatusOr<Tensors> ComputeLpPool(const ComputeContext& c, int n) {
  const DataType t = c.inputs[0].dtype(), acc = ComputeType(t);
  INGOT_ASSIGN_OR_RETURN(PoolArgs args, PreparePool(c, n, MakeConst(t, 0)));
  const double p = static_cast<double>(c.attrs.Get<int64_t>("p"));
  const te::Tensor sum = c.graph.Reduce(
      SubName(c, "sum"), c.outputs[0].shape, args.extents,
      te::Reducer::Sum(acc),
      [&](const Indices& i, const Indices& r) {
        return PowerOf(AbsOf(MakeCast(acc, TapOf(args, i, r))), p);
      },
      PoolTags(n));
  return Tensors{c.graph.Compute(
      c.name, c.outputs[0].shape,
      [&](const Indices& i) { return MakeCast(t, RootOf(sum(i), p)); })};
}

OpDef Pool(absl::string_view stem, absl::string_view doc, PoolKind kind,
           int n) {
  OpDef def;
  def.name = absl::StrCat(stem, n, "d");
  def.doc = std::string(doc);
  def.fusion = FusionKind::kReduction;
  def.traits = kOperandsInMemory;
  if (n == 2) def.layout_rule = LayoutRule::kLayoutAttribute;
  def.attrs = {IntsAttr("kernel", "extent of the window", kRequired),
               StridesAttr(),
               PadsAttr(),
               DilationsAttr(),
               IntAttr("ceil_mode", "whether a last, partial window counts", 0),
               LayoutAttr(n)};
  if (kind == PoolKind::kAverage) {
    def.attrs.push_back(
        IntAttr("count_include_pad", "whether padding counts", 0));
  }
  if (kind == PoolKind::kLp) {
    def.attrs.push_back(IntAttr("p", "the norm's exponent", 2));
  }
  def.infer = [=](const InferContext& c) { return InferPool(c, n, kind); };
  def.compute = [=](const ComputeContext& c) {
    switch (kind) {
      case PoolKind::kMax:
        return ComputeMaxPool(c, n);
      case PoolKind::kAverage:
        return ComputeAveragePool(c, n);
      case PoolKind::kLp:
        break;
    }
    return ComputeLpPool(c, n);
  };
  return def;
}

// The place in the whole tensor of each window's maximum. Where several are
// equal it is the first one along the rows, also where positions count columns
// first: ONNX leaves that open, and its reference and ONNX Runtime do so.
OpDef MaxPoolIndices(int n) {
  OpDef def = Pool("max_pool_indices",
                   "where max_pool finds its maxima, as "
                   "positions in the whole tensor",
                   PoolKind::kMax, n);
  def.layout_rule = LayoutRule::kPlainOnly;
  def.attrs.push_back(
      IntAttr("storage_order", "1: positions count columns first", 0));
  def.infer = [n](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_ASSIGN_OR_RETURN(Types types, InferPool(c, n, PoolKind::kMax));
    types[0].dtype = DataType::Int(64);
    return types;
  };
  def.compute = [n](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0];
    const DataType t = x.dtype();
    INGOT_ASSIGN_OR_RETURN(PoolArgs args, PreparePool(c, n, LowestOf(t)));
    const te::Tensor best = c.graph.Reduce(
        SubName(c, "max"), c.outputs[0].shape, args.extents,
        te::Reducer::Max(t),
        [&](const Indices& i, const Indices& r) { return TapOf(args, i, r); });
    const Window& w = args.window;
    const bool columns = n >= 2 && c.attrs.Get<int64_t>("storage_order") != 0;
    const te::Tensor first = c.graph.Reduce(
        columns ? SubName(c, "first") : std::string(c.name), c.outputs[0].shape,
        args.extents, te::Reducer::Min(DataType::Int(64)),
        [&](const Indices& i, const Indices& r) {
          Indices at = i;
          const Expr tap = TapOf(args, i, r);
          Expr is_best = Eq(tap, best(i));
          // No NaN equals itself.
          if (t.is_float()) {
            is_best = Or(is_best, And(Ne(tap, tap), Ne(best(i), best(i))));
          }
          std::vector<Expr> hit = {is_best};
          for (int d = 0; d < n; ++d) {
            at[2 + d] = i[2 + d] * w.strides[d] + r[d] * w.dilations[d] -
                        w.pads_begin[d];
            hit.push_back(Ge(at[2 + d], I64(0)));
            hit.push_back(Lt(at[2 + d], x.shape()[2 + d]));
          }
          return MakeSelect(All(hit), Flatten(at, x.shape()),
                            HighestOf(DataType::Int(64)));
        });
    if (!columns) return Tensors{first};
    return Tensors{
        c.graph.Compute(c.name, c.outputs[0].shape, [&](const Indices& i) {
          Indices at = Unflatten(first(i), x.shape());
          Shape order = x.shape();
          std::reverse(order.begin() + 2, order.begin() + 2 + n);
          std::reverse(at.begin() + 2, at.begin() + 2 + n);
          return Flatten(at, order);
        })};
  };
  return def;
}

enum class GlobalKind { kMax, kAverage, kLp };

OpDef GlobalPool(absl::string_view stem, absl::string_view doc, GlobalKind kind,
                 int n) {
  OpDef def;
  def.name = absl::StrCat(stem, n, "d");
  def.doc = std::string(doc);
  def.fusion = FusionKind::kReduction;
  def.traits = kReadsOnce;
  if (n == 2) def.layout_rule = LayoutRule::kLayoutAttribute;
  def.attrs = {LayoutAttr(n)};
  if (kind == GlobalKind::kLp) {
    def.attrs.push_back(IntAttr("p", "the norm's exponent", 2));
  }
  def.infer = [=](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_RETURN_IF_ERROR(CheckLayout(c.type(0), c.attrs, n));
    INGOT_RETURN_IF_ERROR(ExpectNumber(c.type(0), "the operand"));
    if (kind != GlobalKind::kMax) {
      INGOT_RETURN_IF_ERROR(ExpectFloat(c.type(0), "the operand"));
    }
    TensorType out = c.type(0);
    for (int d = 0; d < n; ++d) out.shape[2 + d] = I64(1);
    return Types{out};
  };
  def.compute = [=](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0];
    const DataType t = x.dtype(), acc = ComputeType(t);
    const Shape& shape = c.outputs[0].shape;
    const std::vector<Expr> extents(x.shape().begin() + 2,
                                    x.shape().begin() + 2 + n);
    const double p = kind == GlobalKind::kLp
                         ? static_cast<double>(c.attrs.Get<int64_t>("p"))
                         : 0;
    auto element = [&](const Indices& i, const Indices& r) {
      Indices at = i;
      std::copy(r.begin(), r.end(), at.begin() + 2);
      return x(at);
    };
    const Tags tags = {{te::kAnchor, te::kGlobalPool}};
    if (kind == GlobalKind::kMax) {
      return Tensors{c.graph.Reduce(c.name, shape, extents, te::Reducer::Max(t),
                                    element, tags)};
    }
    const te::Tensor sum = c.graph.Reduce(
        SubName(c, "sum"), shape, extents, te::Reducer::Sum(acc),
        [&](const Indices& i, const Indices& r) {
          const Expr e = MakeCast(acc, element(i, r));
          return kind == GlobalKind::kLp ? PowerOf(AbsOf(e), p) : e;
        },
        tags);
    return Tensors{c.graph.Compute(c.name, shape, [&](const Indices& i) {
      if (kind == GlobalKind::kLp) return MakeCast(t, RootOf(sum(i), p));
      const Dim count = Product(extents, 0, n);
      int64_t known;
      const Expr divisor = ConstDim(count, &known)
                               ? MakeConst(acc, static_cast<double>(known))
                               : MakeCast(acc, count);
      return MakeCast(t, sum(i) / divisor);
    })};
  };
  return def;
}

}  // namespace

absl::Status RegisterPool(OpRegistry* registry) {
  for (int n = 1; n <= 3; ++n) {
    INGOT_RETURN_IF_ERROR(RegisterAllOf(
        registry,
        {Pool("max_pool", "maximum of each window", PoolKind::kMax, n),
         Pool("avg_pool", "mean of each window", PoolKind::kAverage, n),
         Pool("lp_pool", "Lp norm of each window", PoolKind::kLp, n),
         MaxPoolIndices(n),
         GlobalPool("global_max_pool", "maximum of each plane",
                    GlobalKind::kMax, n),
         GlobalPool("global_avg_pool", "mean of each plane",
                    GlobalKind::kAverage, n),
         GlobalPool("global_lp_pool", "Lp norm of each plane", GlobalKind::kLp,
                    n)}));
  }
  return absl::OkStatus();
}

}  // namespace ingot::relay::ops
