#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/graph/importer.h"
#include "compiler/frontends/onnx/shape/run_time_axes.h"
#include "compiler/relay/dim.h"
#include "compiler/tir/visitor.h"

namespace ingot::onnx_frontend {
namespace {

using tir::Expr;

absl::StatusOr<int> AxisOf(NodeContext& c, int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    return c.Error("axis ", axis, " is outside of rank ", rank);
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

absl::Status Transpose(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  std::vector<int64_t> perm = c.Ints("perm");
  if (perm.empty()) {
    for (int d = RankOf(x) - 1; d >= 0; --d) perm.push_back(d);
  }
  for (int64_t& d : perm) {
    if (d < 0) d += RankOf(x);
  }
  Attrs attrs;
  attrs.Set("axes", perm);
  return c.Return("transpose", {x}, std::move(attrs));
}

absl::Status Concat(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(std::vector<Value> in, c.Inputs());
  if (in.empty() ||
      std::any_of(in.begin(), in.end(), [](const Value& v) { return !v; })) {
    return c.Error("has an input left out");
  }
  INGOT_ASSIGN_OR_RETURN(
      int axis, AxisOf(c, c.Int("axis", c.opset() < 4 ? 1 : 0), RankOf(in[0])));
  if (in.size() == 1) {
    c.SetOutput(0, in[0]);
    return absl::OkStatus();
  }
  INGOT_ASSIGN_OR_RETURN(ImportedState * state, StateInput(c, 0));
  if (state != nullptr && state->axis == axis && in.size() == 2) {
    INGOT_ASSIGN_OR_RETURN(const Value all, AppendToState(c, in[1], state));
    c.SetOutput(0, all);
    return absl::OkStatus();
  }
  Attrs attrs;
  attrs.Set("axis", int64_t{axis});
  return c.Return("concat", in, std::move(attrs));
}

absl::StatusOr<Value> SliceAxis(NodeContext& c, Value x, int axis, Expr start,
                                Expr end, absl::string_view suffix) {
  Attrs attrs;
  attrs.Set("starts", Shape{start});
  attrs.Set("ends", Shape{end});
  attrs.Set("axes", std::vector<int64_t>{axis});
  return c.Emit("slice", {x}, std::move(attrs), suffix);
}

// Into parts whose sizes are not known. What reaches beyond x is cut off.
absl::Status SymbolicSplit(NodeContext& c, const Value& x, int axis,
                           const std::vector<Expr>& sizes) {
  if (static_cast<int>(sizes.size()) != c.num_outputs()) {
    return c.Error("splits into ", sizes.size(), " parts with ",
                   c.num_outputs(), " outputs");
  }
  Expr at = tir::MakeInt(0);
  for (int k = 0; k < c.num_outputs(); ++k) {
    const Expr end = SimplifyDim(at + sizes[k]);
    INGOT_ASSIGN_OR_RETURN(
        Value part,
        SliceAxis(c, x, axis, Min(at, ShapeOf(x)[axis]),
                  Min(end, ShapeOf(x)[axis]), absl::StrCat("part", k)));
    c.SetOutput(k, part);
    at = end;
  }
  return absl::OkStatus();
}

// The sizes of parts that are an operand: integers since operator set 13, and
// floats in set 1.
absl::StatusOr<std::vector<Expr>> PartsOf(NodeContext& c) {
  if (c.opset() > 1) return c.RunTimeInts(1, "split");
  if (c.IsRunTimeInput(1)) {
    INGOT_ASSIGN_OR_RETURN(Value sizes, c.Input(1));
    INGOT_ASSIGN_OR_RETURN(sizes, c.Cast(sizes, DataType::Int(64)));
    return c.builder().BindDims(sizes, absl::StrCat(c.name(), "_split"));
  }
  INGOT_ASSIGN_OR_RETURN(const std::vector<double> sizes,
                         c.ConstantFloats(1, "split"));
  std::vector<Expr> parts;
  for (const double size : sizes) {
    if (!(size >= 0 && size <= 1e12)) return c.Error("split has ", size);
    parts.push_back(tir::MakeInt(static_cast<int64_t>(size)));
  }
  return parts;
}

absl::Status Split(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(int axis, AxisOf(c, c.Int("axis", 0), RankOf(x)));
  std::vector<int64_t> sizes;
  if ((c.opset() >= 13 || c.opset() == 1) && c.has_input(1)) {
    INGOT_ASSIGN_OR_RETURN(const std::vector<Expr> parts, PartsOf(c));
    const auto known = relay::ConstShape(parts);
    if (!known) return SymbolicSplit(c, x, axis, parts);
    sizes = *known;
  } else if (c.opset() < 13) {
    sizes = c.Ints("split");
  }
  if (sizes.empty()) {
    const int64_t parts = c.Int("num_outputs", c.num_outputs());
    if (parts != c.num_outputs() || parts < 1) {
      return c.Error("num_outputs=", parts, " with ", c.num_outputs(),
                     " outputs");
    }
    int64_t extent;
    if (!tir::AsConstInt(ShapeOf(x)[axis], &extent)) {
      const Expr size =
          SimplifyDim((ShapeOf(x)[axis] + (parts - 1)) / tir::MakeInt(parts));
      return SymbolicSplit(c, x, axis, Shape(parts, size));
    }
    const int64_t size = (extent + parts - 1) / parts;
    int64_t rest = extent;
    for (int64_t k = 0; k < parts; ++k) {
      sizes.push_back(std::min(size, rest));
      rest -= sizes.back();
    }
  }
  if (static_cast<int>(sizes.size()) != c.num_outputs()) {
    return c.Error("splits into ", sizes.size(), " parts with ",
                   c.num_outputs(), " outputs");
  }
  int64_t at = 0, extent;
  const bool known = tir::AsConstInt(ShapeOf(x)[axis], &extent);
  for (int k = 0; k < c.num_outputs(); ++k) {
    if (sizes[k] < 0 || sizes[k] > std::numeric_limits<int64_t>::max() - at ||
        (known && at + sizes[k] > extent)) {
      return c.Error("the parts do not add up to dimension ", axis, " of ",
                     relay::ToString(x.type()));
    }
    if (c.wants_output(k)) {
      INGOT_ASSIGN_OR_RETURN(Value part, SliceAxis(c, x, axis, tir::MakeInt(at),
                                                   tir::MakeInt(at + sizes[k]),
                                                   absl::StrCat("part", k)));
      c.SetOutput(k, part);
    }
    at += sizes[k];
  }
  if (known && at != extent) {
    return c.Error("the parts do not add up to dimension ", axis, " of ",
                   relay::ToString(x.type()));
  }
  return absl::OkStatus();
}

// A position, whose formula may be negative and then counts from the end.
Expr FromBegin(const Expr& at, const Expr& extent) {
  // One that is negative only where there are no elements may stay, too.
  std::map<const tir::Var*, Expr> some;
  if (const auto* var = tir::As<tir::Var>(extent)) some[var] = extent + 1;
  const Expr with_elements = tir::Substitute(at, some);
  if (relay::Decide(Ge(with_elements, tir::MakeInt(0))) == true) return at;
  const Expr zero = tir::MakeInt(0), one = tir::MakeInt(1);
  const Expr is_negative = Min(Max(zero - at, zero), one);
  return at + extent * is_negative;
}

// A position in [low, extent + high_offset], with ONNX's rule that negative
// ones count from the end. The upper end wins: where there are no elements, a
// backward slice starts at -1, so that it reads nothing.
Expr Position(const Expr& raw, const Expr& extent, int64_t low,
              int64_t high_offset) {
  int64_t v, n;
  const bool known = tir::AsConstInt(raw, &v);
  const Expr high = extent + high_offset;
  if (known && tir::AsConstInt(extent, &n)) {
    if (v < 0) v = v < -n ? std::numeric_limits<int64_t>::min() : v + n;
    return tir::MakeInt(std::max(std::min(v, n + high_offset), low));
  }
  Expr at = raw;
  if (known) {
    // Far beyond any extent: the end it is.
    constexpr int64_t kFar = int64_t{1} << 40;
    if (v >= kFar) return high;
    if (v < 0) at = v <= -kFar ? tir::MakeInt(low) : extent + v;
  } else {
    at = FromBegin(at, extent);
  }
  return SimplifyDim(Min(Max(at, tir::MakeInt(low)), high));
}

// Slices whose begins or ends a run computes.
absl::Status RunTimeSlice(NodeContext& c, const Value& x,
                          const std::vector<int64_t>& axes,
                          const std::vector<int64_t>& steps,
                          std::vector<Expr>* starts, std::vector<Expr>* ends) {
  Shape extents;
  for (int64_t axis : axes) extents.push_back(ShapeOf(x)[axis]);
  std::vector<Value> in(3);
  for (int i = 0; i < 2; ++i) {
    INGOT_ASSIGN_OR_RETURN(in[i], c.Input(1 + i));
    INGOT_ASSIGN_OR_RETURN(in[i], c.Cast(in[i], DataType::Int(64)));
  }
  INGOT_ASSIGN_OR_RETURN(
      in[2],
      c.builder().DimsTensor(extents, absl::StrCat(c.name(), "_extents")));
  Attrs attrs;
  attrs.Set("steps", steps);
  INGOT_ASSIGN_OR_RETURN(
      Value resolved, c.Emit("resolve_slice", in, std::move(attrs), "resolve"));
  INGOT_ASSIGN_OR_RETURN(
      Shape bound,
      c.builder().BindDims(resolved, absl::StrCat(c.name(), "_part")));
  const size_t n = axes.size();
  for (size_t k = 0; k < n; ++k) {
    // A backward slice of no elements starts at -1, which no symbol can be.
    (*starts)[k] = steps[k] > 0 ? bound[k] : Min(bound[k], extents[k] - 1);
    (*ends)[k] = (*starts)[k] + bound[n + k] * steps[k];
  }
  return absl::OkStatus();
}

absl::Status Slice(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  if (c.opset() >= 10 && (c.IsRunTimeInput(3) || c.IsRunTimeInput(4))) {
    INGOT_ASSIGN_OR_RETURN(Value part, SliceAtRunTime(c, x));
    c.SetOutput(0, part);
    return absl::OkStatus();
  }
  std::vector<Expr> starts, ends;
  std::vector<int64_t> axes, steps;
  const bool run_time =
      c.opset() >= 10 && (c.IsRunTimeInput(1) || c.IsRunTimeInput(2));
  if (c.opset() < 10) {
    starts = relay::MakeShape(c.Ints("starts"));
    ends = relay::MakeShape(c.Ints("ends"));
    axes = c.Ints("axes");
  } else {
    if (run_time) {
      INGOT_ASSIGN_OR_RETURN(Value v, c.Input(1));
      const auto count = relay::ConstShape(ShapeOf(v));
      if (!count || count->size() != 1 || (*count)[0] > RankOf(x)) {
        return c.NotSupported("starts of ", relay::ToString(v.type()));
      }
      starts.resize((*count)[0]);
      ends.resize((*count)[0]);
    } else {
      INGOT_ASSIGN_OR_RETURN(starts, c.KnownInts(1, "starts"));
      INGOT_ASSIGN_OR_RETURN(ends, c.KnownInts(2, "ends"));
    }
    if (c.has_input(3)) {
      INGOT_ASSIGN_OR_RETURN(axes, c.ConstantInts(3, "axes"));
    }
    if (c.has_input(4)) {
      INGOT_ASSIGN_OR_RETURN(steps, c.ConstantInts(4, "steps"));
    }
  }
  if (axes.empty()) {
    for (size_t d = 0; d < starts.size(); ++d) axes.push_back(d);
  }
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size()) {
    return c.Error("starts, ends, axes and steps differ in length");
  }
  for (size_t k = 0; k < axes.size(); ++k) {
    INGOT_ASSIGN_OR_RETURN(axes[k], AxisOf(c, axes[k], RankOf(x)));
    const Expr& extent = ShapeOf(x)[axes[k]];
    if (steps[k] == 0) return c.Error("a step of 0");
    if (steps[k] == std::numeric_limits<int64_t>::min()) ++steps[k];
    if (run_time) continue;
    if (tir::IsConstInt(extent, 0)) {
      starts[k] = ends[k] = extent;
    } else if (steps[k] > 0) {
      starts[k] = Position(starts[k], extent, 0, 0);
      ends[k] = Position(ends[k], extent, 0, 0);
      // Nothing between them: an empty slice.
      ends[k] = SimplifyDim(Max(ends[k], starts[k]));
    } else {
      starts[k] = Position(starts[k], extent, 0, -1);
      ends[k] = Position(ends[k], extent, -1, -1);
      ends[k] = SimplifyDim(Min(ends[k], starts[k]));
    }
  }
  if (run_time) {
    INGOT_RETURN_IF_ERROR(RunTimeSlice(c, x, axes, steps, &starts, &ends));
  }
  Attrs attrs;
  attrs.Set("starts", starts);
  attrs.Set("ends", ends);
  attrs.Set("axes", axes);
  if (std::any_of(steps.begin(), steps.end(),
                  [](int64_t s) { return s != 1; })) {
    attrs.Set("steps", steps);
  }
  return c.Return("slice", {x}, std::move(attrs));
}

// By numbers that are not known: each dimension gets one in front of it along
// which x repeats, and is joined with it.
absl::Status SymbolicTile(NodeContext& c, const Value& x,
                          const std::vector<Expr>& times) {
  if (static_cast<int>(times.size()) != RankOf(x)) {
    return c.Error(times.size(), " repeats of ", relay::ToString(x.type()));
  }
  Shape apart, repeated, joined;
  for (int d = 0; d < RankOf(x); ++d) {
    const Expr& extent = ShapeOf(x)[d];
    apart.insert(apart.end(), {tir::MakeInt(1), extent});
    repeated.insert(repeated.end(), {times[d], extent});
    joined.push_back(SimplifyDim(times[d] * extent));
  }
  INGOT_ASSIGN_OR_RETURN(Value y, c.Reshape(x, apart, "apart"));
  Attrs attrs;
  attrs.Set("shape", repeated);
  std::vector<Value> operands = {y};
  INGOT_ASSIGN_OR_RETURN(std::vector<Value> sources,
                         c.builder().DimSources(repeated));
  operands.insert(operands.end(), sources.begin(), sources.end());
  INGOT_ASSIGN_OR_RETURN(
      y, c.Emit("expand", operands, std::move(attrs), "repeated"));
  INGOT_ASSIGN_OR_RETURN(y, c.Reshape(y, joined, ""));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

absl::Status Tile(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  std::vector<int64_t> repeats;
  if (c.opset() < 6) {
    INGOT_ASSIGN_OR_RETURN(std::vector<int64_t> tiles,
                           c.ConstantInts(1, "tiles"));
    INGOT_ASSIGN_OR_RETURN(std::vector<int64_t> axis,
                           c.ConstantInts(2, "axis"));
    if (tiles.size() != 1 || axis.size() != 1) {
      return c.Error("tiles and axis must be one number each");
    }
    INGOT_ASSIGN_OR_RETURN(int a, AxisOf(c, axis[0], RankOf(x)));
    repeats.assign(RankOf(x), 1);
    repeats[a] = tiles[0];
  } else {
    INGOT_ASSIGN_OR_RETURN(std::vector<Expr> times,
                           c.RunTimeInts(1, "repeats"));
    if (!relay::ConstShape(times)) return SymbolicTile(c, x, times);
    INGOT_ASSIGN_OR_RETURN(repeats, c.ConstantInts(1, "repeats"));
  }
  Attrs attrs;
  attrs.Set("repeats", repeats);
  return c.Return("tile", {x}, std::move(attrs));
}

absl::Status DepthToSpace(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  Attrs attrs;
  attrs.Set("blocks", std::vector<int64_t>(2, c.Int("blocksize", 0)));
  attrs.Set("mode", c.String("mode", "DCR"));
  return c.Return("depth_to_space", {x}, std::move(attrs));
}

absl::Status SpaceToDepth(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  Attrs attrs;
  attrs.Set("blocksize", c.Int("blocksize", 0));
  return c.Return("space_to_depth", {x}, std::move(attrs));
}

// The part of x on one side of a diagonal that a run tells, or its inputs'
// shapes.
absl::Status RunTimeTrilu(NodeContext& c, const Value& x) {
  Compose k(c);
  const int rank = RankOf(x);
  if (rank < 2) return c.Error("the operand ", relay::ToString(x.type()));
  const Expr &rows = ShapeOf(x)[rank - 2], &columns = ShapeOf(x)[rank - 1];
  const Value diagonal = k.Reshape(k.Cast(k.Input(1), DataType::Int(64)), {});
  const Value place = k.Sub(
      k.CountUp(columns), k.Reshape(k.CountUp(rows), {rows, tir::MakeInt(1)}));
  const bool upper = c.Int("upper", 1) != 0;
  const Value stays =
      k.Call(upper ? "greater_equal" : "less_equal", {place, diagonal});
  c.SetOutput(0, k.Call("where", {stays, x, k.Like(x, 0)}));
  return k.status();
}

absl::Status Trilu(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  if (c.IsRunTimeInput(1)) return RunTimeTrilu(c, x);
  Attrs attrs;
  attrs.Set("upper", c.Int("upper", 1));
  if (c.has_input(1)) {
    INGOT_ASSIGN_OR_RETURN(const std::vector<Expr> k, c.KnownInts(1, "k"));
    if (k.size() != 1) return c.Error("k must be one number");
    int64_t diagonal;
    if (!tir::AsConstInt(k[0], &diagonal)) return RunTimeTrilu(c, x);
    attrs.Set("k", diagonal);
  }
  return c.Return("trilu", {x}, std::move(attrs));
}

absl::Status ReverseSequence(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(std::vector<Value> in, c.Inputs());
  Attrs attrs;
  attrs.Set("batch_axis", c.Int("batch_axis", 1));
  attrs.Set("time_axis", c.Int("time_axis", 0));
  return c.Return("reverse_sequence", in, std::move(attrs));
}

}  // namespace

void AddRearrangeConverters(ConverterTable* t) {
  t->Add("Transpose", 1, &Transpose);
  t->Add("Concat", 1, &Concat);
  t->Add("Split", 1, &Split);
  t->Add("Slice", 1, &Slice);
  t->Add("Tile", 1, &Tile);
  t->Add("DepthToSpace", 1, &DepthToSpace);
  t->Add("SpaceToDepth", 1, &SpaceToDepth);
  t->Add("Trilu", 14, &Trilu);
  t->Add("ReverseSequence", 10, &ReverseSequence);
}

}  // namespace ingot::onnx_frontend
