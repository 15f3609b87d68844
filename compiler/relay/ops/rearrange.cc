// Operators whose every result element is one operand element elsewhere.
#include <algorithm>

#include "compiler/relay/dim.h"
#include "compiler/relay/ops/common.h"
#include "compiler/relay/ops/known.h"
#include "compiler/te/tags.h"
#include "compiler/tir/arith/simplify.h"

namespace ingot::relay::ops {
namespace {

using Ints = std::vector<int64_t>;

// A kInjective operator on one operand, given the operand's index for a point
// of the result.
OpDef Injective(
    absl::string_view name, absl::string_view doc, std::vector<AttrSpec> attrs,
    std::function<absl::StatusOr<Shape>(const InferContext&)> infer,
    std::function<Indices(const Indices&, const Shape& x, const Attrs&)>
        source) {
  OpDef def;
  def.name = std::string(name);
  def.doc = std::string(doc);
  def.fusion = FusionKind::kInjective;
  def.attrs = std::move(attrs);
  def.infer = [infer](const InferContext& c) -> absl::StatusOr<Types> {
    INGOT_ASSIGN_OR_RETURN(Shape shape, infer(c));
    return Types{{c.type(0).dtype, shape}};
  };
  def.compute = [source](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0];
    return Tensors{c.graph.Compute(
        c.name, c.outputs[0].shape,
        [&](const Indices& i) { return x(source(i, x.shape(), c.attrs)); })};
  };
  return def;
}

OpDef Transpose() {
  OpDef def = Injective(
      "transpose", "dimensions in another order",
      {IntsAttr("axes", "the operand's dimension for each of the result's",
                kRequired)},
      [](const InferContext& c) -> absl::StatusOr<Shape> {
        const TensorType& x = c.type(0);
        const Ints& axes = c.attrs.Get<Ints>("axes");
        const int rank = static_cast<int>(x.shape.size());
        INGOT_ASSIGN_OR_RETURN(std::vector<int> sorted,
                               NormalizeAxes(axes, rank));
        if (static_cast<int>(sorted.size()) != rank) {
          return Invalid("axes must name each of the ", rank, " dimensions");
        }
        Shape shape;
        for (int64_t a : axes) {
          if (a < 0) return Invalid("axes must not be negative");
          shape.push_back(x.shape[a]);
        }
        return shape;
      },
      [](const Indices& i, const Shape&, const Attrs& attrs) {
        const Ints& axes = attrs.Get<Ints>("axes");
        Indices at(i.size());
        for (size_t d = 0; d < axes.size(); ++d) at[axes[d]] = i[d];
        return at;
      });
  def.traits = kPermutes | kNeverGrows;
  def.compute_known = &CopyTransposed;
  def.layout_rule = LayoutRule::kTurns;
  return def;
}

// The part that position `at` lies in, found in as many steps as the number of
// parts has bits: concatenations of thousands must not nest as deep.
Expr SelectPart(absl::Span<const size_t> parts, const Expr& at,
                const std::vector<Expr>& starts,
                const std::function<Expr(size_t)>& part) {
  if (parts.size() == 1) return part(parts[0]);
  const size_t half = parts.size() / 2;
  return MakeSelect(Lt(at, starts[parts[half]]),
                    SelectPart(parts.subspan(0, half), at, starts, part),
                    SelectPart(parts.subspan(half), at, starts, part));
}

OpDef Concat() {
  OpDef def;
  def.name = "concat";
  def.doc = "operands one after the other along an axis";
  def.max_inputs = -1;
  def.fusion = FusionKind::kInjective;
  def.traits = kOperandsInMemory | kJoins;
  def.layout_rule = LayoutRule::kConcatenates;
  def.compute_known = &CopyConcatenated;
  def.attrs = {IntAttr("axis", "not negative", kRequired)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    TensorType out = c.type(0);
    const int rank = static_cast<int>(out.shape.size());
    INGOT_ASSIGN_OR_RETURN(int axis,
                           NormalizeAxis(c.attrs.Get<int64_t>("axis"), rank));
    for (size_t k = 1; k < c.inputs.size(); ++k) {
      if (!c.has(k)) return Invalid("operand ", k, " is missing");
      const TensorType& x = c.type(k);
      INGOT_RETURN_IF_ERROR(ExpectSameType(out, x));
      bool fits = static_cast<int>(x.shape.size()) == rank;
      for (int d = 0; fits && d < rank; ++d) {
        fits = d == axis || MayBeEqual(x.shape[d], out.shape[d], c.assumed);
      }
      if (!fits) {
        return Invalid("operands ", ToString(c.type(0)), " and ", ToString(x),
                       " differ in more than dimension ", axis);
      }
      for (int d = 0; d < rank; ++d) {
        int64_t known;
        // A constant says more than a symbol that must equal it.
        if (d != axis && ConstDim(x.shape[d], &known)) {
          out.shape[d] = x.shape[d];
        }
      }
      // Simplified as it grows, since most of many operands share symbols.
      out.shape[axis] = SimplifyDim(out.shape[axis] + x.shape[axis]);
      INGOT_RETURN_IF_ERROR(CheckDimSize(out.shape[axis]));
    }
    return Types{out};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    INGOT_ASSIGN_OR_RETURN(
        const int axis,
        NormalizeAxis(c.attrs.Get<int64_t>("axis"), c.inputs[0].rank()));
    return Tensors{
        c.graph.Compute(c.name, c.outputs[0].shape, [&](const Indices& i) {
          // Simplified: of many parts most have the same symbols.
          std::vector<Expr> starts = {I64(0)};
          for (const te::Tensor& x : c.inputs) {
            starts.push_back(SimplifyDim(starts.back() + x.shape()[axis]));
          }
          std::vector<size_t> parts;
          for (size_t k = 0; k < c.inputs.size(); ++k) {
            if (!tir::IsConstInt(c.inputs[k].shape()[axis], 0)) {
              parts.push_back(k);
            }
          }
          if (parts.empty()) return MakeConst(c.outputs[0].dtype, 0);
          return SelectPart(parts, i[axis], starts, [&](size_t k) {
            Indices at = i;
            at[axis] = i[axis] - starts[k];
            return c.inputs[k](at);
          });
        })};
  };
  return def;
}

// Whether a position of a padded dimension is one of the operand's. True where
// nothing is added.
Expr InsidePads(const Expr& i, int64_t before, int64_t after,
                const Dim& extent) {
  std::vector<Expr> inside;
  if (before > 0) inside.push_back(Ge(i, I64(before)));
  if (after > 0) inside.push_back(Lt(i, extent + before));
  return inside.empty() ? tir::MakeBool(true) : All(inside);
}

// The operand's position for a position in the operand's terms, which may be
// outside of it, for every mode but "constant".
Expr PadSource(const Expr& pos, const Dim& extent, const std::string& mode) {
  if (mode == "edge") return Max(Min(pos, extent - 1), I64(0));
  if (mode == "wrap") return pos % Max(extent, I64(1));
  // reflect: forth and back without repeating the ends.
  const Expr period = Max((extent - 1) * 2, I64(1));
  const Expr turn = pos % period;
  return Min(MakeSelect(Lt(turn, extent), turn, period - turn), extent - 1);
}

OpDef Pad() {
  OpDef def;
  def.name = "pad";
  def.doc = "x with elements added around it, or cut off where negative";
  def.fusion = FusionKind::kInjective;
  def.layout_rule = LayoutRule::kPads;
  def.compute_known = &CopyPadded;
  def.attrs = {
      IntsAttr("pads", "all begins, then all ends", kRequired),
      StringAttr("mode", "constant, edge, reflect or wrap", "constant"),
      FloatAttr("value", "of mode constant", 0)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    const Ints& pads = c.attrs.Get<Ints>("pads");
    TensorType out = c.type(0);
    const size_t rank = out.shape.size();
    if (pads.size() != 2 * rank) {
      return Invalid("pads must have ", 2 * rank, " values for ", ToString(out),
                     ", not ", pads.size());
    }
    const std::string mode = c.attrs.Get<std::string>("mode");
    if (mode != "constant" && mode != "edge" && mode != "reflect" &&
        mode != "wrap") {
      return Invalid("there is no mode '", mode, "'");
    }
    constexpr int64_t kMost = int64_t{1} << 40;
    for (size_t d = 0; d < rank; ++d) {
      if (pads[d] > kMost || pads[d] < -kMost || pads[d + rank] > kMost ||
          pads[d + rank] < -kMost) {
        return Invalid("pads of ", pads[d], " and ", pads[d + rank]);
      }
      // numpy refuses this too: an axis without elements has none to repeat.
      if (mode != "constant" && pads[d] + pads[d + rank] > 0 &&
          !MayBeEqual(HasElements(out.shape[d]), I64(1), c.assumed)) {
        return Invalid("mode ", mode, " has nothing to repeat in ",
                       ToString(out));
      }
      out.shape[d] = out.shape[d] + (pads[d] + pads[d + rank]);
    }
    return Types{out};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0];
    const Ints& pads = c.attrs.Get<Ints>("pads");
    const std::string mode = c.attrs.Get<std::string>("mode");
    const int rank = x.rank();
    std::map<std::string, std::string> tags;
    if (mode == "constant") tags[te::kPad] = "1";
    return Tensors{c.graph.Compute(
        c.name, c.outputs[0].shape,
        [&](const Indices& i) {
          Indices at = i;
          std::vector<Expr> inside;
          for (int d = 0; d < rank; ++d) {
            const int64_t before = pads[d], after = pads[rank + d];
            if (before == 0 && after == 0) continue;
            at[d] = i[d] - before;
            const Expr within = InsidePads(i[d], before, after, x.shape()[d]);
            if (mode == "constant") {
              inside.push_back(within);
            } else {
              // Loops are cut where this changes, and the largest part copies.
              at[d] = MakeSelect(within, at[d],
                                 PadSource(at[d], x.shape()[d], mode));
            }
          }
          if (mode != "constant") return x(at);
          return MakeSelect(All(inside), x(at),
                            MakeConst(x.dtype(), c.attrs.Get<double>("value")));
        },
        tags)};
  };
  return def;
}

OpDef Tile() {
  return Injective(
      "tile", "x repeated along each dimension",
      {IntsAttr("repeats", "one number a dimension", kRequired)},
      [](const InferContext& c) -> absl::StatusOr<Shape> {
        const Ints& repeats = c.attrs.Get<Ints>("repeats");
        Shape shape = c.type(0).shape;
        if (repeats.size() != shape.size()) {
          return Invalid("repeats must have ", shape.size(), " values");
        }
        for (size_t d = 0; d < shape.size(); ++d) {
          if (repeats[d] < 0 || repeats[d] > (int64_t{1} << 40)) {
            return Invalid("cannot repeat ", repeats[d], " times");
          }
          int64_t extent;
          if (ConstDim(shape[d], &extent) && extent > 0 &&
              repeats[d] > (int64_t{1} << 48) / extent) {
            return Invalid("repeats of ", repeats[d], " are too many");
          }
          shape[d] = shape[d] * repeats[d];
        }
        return shape;
      },
      [](const Indices& i, const Shape& x, const Attrs& attrs) {
        const Ints& repeats = attrs.Get<Ints>("repeats");
        Indices at = i;
        for (size_t d = 0; d < i.size(); ++d) {
          if (tir::IsConstInt(x[d], 1)) {
            at[d] = I64(0);
          } else if (repeats[d] != 1) {
            at[d] = i[d] % x[d];
          }
        }
        return at;
      });
}

constexpr int64_t kLargestBlock = 65536;  // along one dimension

absl::Status CheckBlock(const TensorType& x, const Attrs& attrs) {
  INGOT_RETURN_IF_ERROR(ExpectRank(x, 4, "x"));
  const int64_t b = attrs.Get<int64_t>("blocksize");
  if (b < 1 || b > kLargestBlock) return Invalid("blocksize=", b);
  return absl::OkStatus();
}

absl::Status ExpectMultiple(const InferContext& c, int d, int64_t factor) {
  const TensorType& x = c.type(0);
  const Dim rest = SimplifyDim(x.shape[d] % I64(factor));
  if (!MayBeEqual(rest, I64(0), c.assumed)) {
    return Invalid("dimension ", d, " of ", ToString(x),
                   " is not a multiple of ", factor);
  }
  return absl::OkStatus();
}

// Elements of a block of the plane; the attribute's values are checked.
int64_t ElementsOf(const Ints& blocks) {
  int64_t count = 1;
  for (int64_t block : blocks) count *= block;
  return count;
}

absl::StatusOr<Shape> InferDepthToSpace(const InferContext& c) {
  const TensorType& x = c.type(0);
  const Ints& blocks = c.attrs.Get<Ints>("blocks");
  if (blocks.empty()) return Invalid("blocks has no values");
  INGOT_RETURN_IF_ERROR(
      ExpectRank(x, static_cast<int>(blocks.size()) + 2, "x"));
  int64_t count = 1;
  for (int64_t block : blocks) {
    if (block < 1 || block > kLargestBlock ||
        count > kLargestBlock * kLargestBlock / block) {
      return Invalid("blocks holds ", block, ", which is out of range");
    }
    count *= block;
  }
  INGOT_RETURN_IF_ERROR(ExpectMultiple(c, 1, count));
  Shape shape = {x.shape[0], FloorDiv(x.shape[1], count)};
  for (size_t d = 0; d < blocks.size(); ++d) {
    shape.push_back(x.shape[2 + d] * blocks[d]);
  }
  return shape;
}

OpDef DepthToSpace() {
  OpDef def = Injective(
      "depth_to_space", "channels moved into blocks of the plane",
      {IntsAttr("blocks", "extents of a block, after the channels", kRequired),
       StringAttr("mode", "DCR or CRD: the order in a channel", "DCR")},
      &InferDepthToSpace,
      [](const Indices& i, const Shape& x, const Attrs& attrs) {
        const Ints& blocks = attrs.Get<Ints>("blocks");
        Expr place = I64(0);  // in the block
        Indices at = {i[0], nullptr};
        for (size_t d = 0; d < blocks.size(); ++d) {
          place = place * blocks[d] + i[2 + d] % I64(blocks[d]);
          at.push_back(FloorDiv(i[2 + d], blocks[d]));
        }
        const int64_t count = ElementsOf(blocks);
        at[1] = attrs.Get<std::string>("mode") == "CRD"
                    ? i[1] * count + place
                    : place * FloorDiv(x[1], count) + i[1];
        return at;
      });
  def.layout_rule = LayoutRule::kMovesChannels;
  return def;
}

OpDef SpaceToDepth() {
  return Injective(
      "space_to_depth", "blocks of the plane moved into channels",
      {IntAttr("blocksize", "extent of a block", kRequired)},
      [](const InferContext& c) -> absl::StatusOr<Shape> {
        const TensorType& x = c.type(0);
        INGOT_RETURN_IF_ERROR(CheckBlock(x, c.attrs));
        const int64_t b = c.attrs.Get<int64_t>("blocksize");
        INGOT_RETURN_IF_ERROR(ExpectMultiple(c, 2, b));
        INGOT_RETURN_IF_ERROR(ExpectMultiple(c, 3, b));
        return Shape{x.shape[0], x.shape[1] * (b * b), FloorDiv(x.shape[2], b),
                     FloorDiv(x.shape[3], b)};
      },
      [](const Indices& i, const Shape& x, const Attrs& attrs) {
        const int64_t b = attrs.Get<int64_t>("blocksize");
        const Expr block = i[1] / x[1];
        return Indices{i[0], i[1] % x[1], i[2] * b + FloorDiv(block, b),
                       i[3] * b + block % I64(b)};
      });
}

OpDef Trilu() {
  OpDef def;
  def.name = "trilu";
  def.doc = "the upper or lower triangle of each matrix, 0 elsewhere";
  // Not elementwise: an element's place decides whether it stays.
  def.fusion = FusionKind::kInjective;
  def.attrs = {
      IntAttr("upper", "whether the upper triangle stays, not the lower", 1),
      IntAttr("k", "diagonals to the right of the main one", 0)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    if (c.type(0).shape.size() < 2) return Invalid("x is not a matrix");
    return Types{c.type(0)};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0];
    const bool upper = c.attrs.Get<int64_t>("upper") != 0;
    const Expr k = I64(c.attrs.Get<int64_t>("k"));
    return Tensors{c.graph.Compute(c.name, x.shape(), [&](const Indices& i) {
      const Expr diagonal = i[i.size() - 1] - i[i.size() - 2];
      return MakeSelect(upper ? Ge(diagonal, k) : Le(diagonal, k), x(i),
                        MakeConst(x.dtype(), 0));
    })};
  };
  return def;
}

OpDef ReverseSequence() {
  OpDef def;
  def.name = "reverse_sequence";
  def.doc = "the first lengths[b] steps of each sequence, backwards";
  def.min_inputs = def.max_inputs = 2;
  def.fusion = FusionKind::kInjective;
  def.attrs = {IntAttr("batch_axis", "0 or 1", 1),
               IntAttr("time_axis", "the other one", 0)};
  def.infer = [](const InferContext& c) -> absl::StatusOr<Types> {
    const int64_t batch = c.attrs.Get<int64_t>("batch_axis");
    const int64_t time = c.attrs.Get<int64_t>("time_axis");
    if (batch + time != 1 || batch * time != 0 || c.type(0).shape.size() < 2) {
      return Invalid("batch_axis and time_axis must be 0 and 1 or 1 and 0");
    }
    INGOT_RETURN_IF_ERROR(ExpectRank(c.type(1), 1, "lengths"));
    INGOT_RETURN_IF_ERROR(ExpectInteger(c.type(1), "lengths"));
    if (!MayBeEqual(c.type(1).shape[0], c.type(0).shape[batch], c.assumed)) {
      return Invalid("lengths must have one element a sequence");
    }
    return Types{c.type(0)};
  };
  def.compute = [](const ComputeContext& c) -> absl::StatusOr<Tensors> {
    const te::Tensor x = c.inputs[0], lengths = c.inputs[1];
    const int64_t batch = c.attrs.Get<int64_t>("batch_axis");
    const int64_t time = 1 - batch;
    return Tensors{c.graph.Compute(c.name, x.shape(), [&](const Indices& i) {
      // The caller's lengths must not lead outside of the sequence.
      const Expr length =
          Min(tir::MakeCast(DataType::Int(64), lengths({i[batch]})),
              x.shape()[time]);
      Indices at = i;
      at[time] = MakeSelect(Lt(i[time], length), length - 1 - i[time], i[time]);
      return x(at);
    })};
  };
  return def;
}

}  // namespace

absl::Status RegisterRearrange(OpRegistry* registry) {
  return RegisterAllOf(registry,
                       {Transpose(), Concat(), Pad(), Tile(), DepthToSpace(),
                        SpaceToDepth(), Trilu(), ReverseSequence()});
}

}  // namespace ingot::relay::ops
