#include <algorithm>
#include <utility>

#include "compiler/frontends/onnx/graph/compose.h"
#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/graph/importer.h"
#include "compiler/frontends/onnx/model/tensor_proto.h"
#include "compiler/tir/arith/simplify.h"

namespace ingot::onnx_frontend {
namespace {

Converter Gather(const char* op) {
  return [op](NodeContext& c) -> absl::Status {
    INGOT_ASSIGN_OR_RETURN(std::vector<Value> in, c.Inputs());
    Attrs attrs;
    attrs.Set("axis", c.Int("axis", 0));
    return c.Return(op, in, std::move(attrs));
  };
}

absl::Status GatherNd(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(std::vector<Value> in, c.Inputs());
  Attrs attrs;
  attrs.Set("batch_dims", c.Int("batch_dims", 0));
  return c.Return("gather_nd", in, std::move(attrs));
}

Converter Scatter(const char* op, bool has_axis) {
  return [op, has_axis](NodeContext& c) -> absl::Status {
    INGOT_ASSIGN_OR_RETURN(std::vector<Value> in, c.Inputs());
    Attrs attrs;
    if (has_axis) attrs.Set("axis", c.Int("axis", 0));
    const std::string reduction = c.String("reduction", "none");
    if (reduction != "none") attrs.Set("reduction", reduction);
    return c.Return(op, in, std::move(attrs));
  };
}

// It may be a float.
absl::StatusOr<tir::Expr> OneHotDepth(NodeContext& c) {
  if (c.IsRunTimeInput(1)) {
    INGOT_ASSIGN_OR_RETURN(Value value, c.Input(1));
    INGOT_ASSIGN_OR_RETURN(value, c.Cast(value, DataType::Int(64)));
    INGOT_ASSIGN_OR_RETURN(
        const Shape told,
        c.builder().BindDims(value, absl::StrCat(c.name(), "_depth")));
    if (told.size() != 1) return c.Error("depth must be one number");
    return told[0];
  }
  if (const Known* k = c.known(1); k != nullptr && k->AllIntegers()) {
    INGOT_ASSIGN_OR_RETURN(Shape known, c.KnownInts(1, "depth"));
    if (known.size() != 1) return c.Error("depth must be one number");
    return known[0];
  }
  INGOT_ASSIGN_OR_RETURN(const std::vector<double> depth,
                         c.ConstantFloats(1, "depth"));
  if (depth.size() != 1 || !(depth[0] >= 0) || depth[0] > 1e12) {
    return c.Error("depth must be one number");
  }
  return tir::MakeInt(static_cast<int64_t>(depth[0]));
}

absl::Status OneHot(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value indices, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(Value values, c.Input(2));
  INGOT_ASSIGN_OR_RETURN(const tir::Expr depth, OneHotDepth(c));
  Attrs attrs;
  attrs.Set("depth", Shape{depth});
  attrs.Set("axis", c.Int("axis", -1));
  return c.Return("one_hot", {indices, values}, std::move(attrs));
}

absl::Status TopK(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  Shape k = {tir::MakeInt(c.Int("k", 0))};
  if (c.opset() >= 10) {
    INGOT_ASSIGN_OR_RETURN(k, c.RunTimeInts(1, "K"));
    if (k.size() != 1) return c.Error("K must be one number");
  }
  Attrs attrs;
  attrs.Set("k", k);
  attrs.Set("axis", c.Int("axis", -1));
  attrs.Set("largest", c.Int("largest", 1));
  INGOT_ASSIGN_OR_RETURN(relay::Node * node,
                         c.EmitNode("top_k", {x}, std::move(attrs)));
  c.SetOutput(0, Value{node, 0});
  c.SetOutput(1, Value{node, 1});
  return absl::OkStatus();
}

Converter Cumulative(const char* op) {
  return [op](NodeContext& c) -> absl::Status {
    INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
    Attrs attrs;
    attrs.Set("exclusive", c.Int("exclusive", 0));
    attrs.Set("reverse", c.Int("reverse", 0));
    if (c.IsRunTimeInput(1)) {
      INGOT_ASSIGN_OR_RETURN(Value axis, c.Input(1));
      INGOT_ASSIGN_OR_RETURN(axis, c.Reshape(axis, {}, "axis"));
      return c.Return(op, {x, axis}, std::move(attrs));
    }
    INGOT_ASSIGN_OR_RETURN(std::vector<int64_t> axis,
                           c.ConstantInts(1, "axis"));
    if (axis.size() != 1) return c.Error("axis must be one number");
    attrs.Set("axis", axis[0]);
    return c.Return(op, {x}, std::move(attrs));
  };
}

// The number of true elements of a bool tensor, as a symbol.
absl::StatusOr<Shape> CountOf(NodeContext& c, const Value& chosen) {
  INGOT_ASSIGN_OR_RETURN(Value ones, c.Cast(chosen, DataType::Int(64)));
  Attrs attrs;
  std::vector<int64_t> axes;
  for (int d = 0; d < RankOf(chosen); ++d) axes.push_back(d);
  attrs.Set("axes", axes);
  attrs.Set("keepdims", int64_t{0});
  if (!axes.empty()) {
    INGOT_ASSIGN_OR_RETURN(
        ones, c.Emit("reduce_sum", {ones}, std::move(attrs), "number"));
  }
  return c.builder().BindDims(ones, absl::StrCat(c.name(), "_count"));
}

// The places of true elements, one a column.
absl::StatusOr<Value> TruePlaces(NodeContext& c, Value x) {
  INGOT_ASSIGN_OR_RETURN(x, c.Cast(x, DataType::Bool()));
  INGOT_ASSIGN_OR_RETURN(Shape count, CountOf(c, x));
  Attrs attrs;
  attrs.Set("count", count);
  return c.Emit("nonzero", {x}, std::move(attrs), "places");
}

// With a constant condition the chosen places are known.
absl::Status Compress(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  int64_t axis = c.Int("axis", 0);
  if (!c.has_attr("axis")) {
    tir::Expr count = tir::MakeInt(1);
    for (const tir::Expr& dim : ShapeOf(x)) count = count * dim;
    INGOT_ASSIGN_OR_RETURN(x, c.Reshape(x, {SimplifyDim(count)}));
  }
  if (axis < 0) axis += RankOf(x);
  int64_t extent;
  if (axis < 0 || axis >= RankOf(x)) return c.Error("axis ", axis);
  if (c.IsRunTimeInput(1)) {
    INGOT_ASSIGN_OR_RETURN(Value chosen, c.Input(1));
    // Elements beyond the end of the operand are ignored in a longer condition.
    if (RankOf(chosen) == 1 &&
        !tir::ProveEqual(ShapeOf(chosen)[0], ShapeOf(x)[axis])) {
      Compose k(c);
      chosen = k.Slice(chosen, 0, tir::MakeInt(0),
                       tir::Min(ShapeOf(chosen)[0], ShapeOf(x)[axis]));
      INGOT_RETURN_IF_ERROR(k.status());
    }
    INGOT_ASSIGN_OR_RETURN(Value places, TruePlaces(c, chosen));
    const Shape count = {ShapeOf(places)[1]};
    INGOT_ASSIGN_OR_RETURN(places, c.Reshape(places, count, "places"));
    Attrs attrs;
    attrs.Set("axis", axis);
    return c.Return("gather", {x, places}, std::move(attrs));
  }
  INGOT_ASSIGN_OR_RETURN(const Tensor condition,
                         c.ConstantInput(1, "condition"));
  if (condition.dtype() != DataType::Bool() || condition.shape().size() != 1) {
    return c.Error("condition must be a vector of bools, not ",
                   condition.TypeString());
  }
  int64_t count = condition.NumElements();
  if (tir::AsConstInt(ShapeOf(x)[axis], &extent)) {
    count = std::min(count, extent);
  }
  std::vector<int64_t> places;
  for (int64_t i = 0; i < count; ++i) {
    if (condition.data<bool>()[i]) places.push_back(i);
  }
  INGOT_ASSIGN_OR_RETURN(
      Tensor tensor,
      MakeTensor<int64_t>(DataType::Int(64),
                          {static_cast<int64_t>(places.size())}, places));
  INGOT_ASSIGN_OR_RETURN(Value indices,
                         c.Constant(std::move(tensor), "places"));
  Attrs attrs;
  attrs.Set("axis", axis);
  return c.Return("gather", {x, indices}, std::move(attrs));
}

absl::Status NonZero(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(Value places, TruePlaces(c, x));
  c.SetOutput(0, places);
  return absl::OkStatus();
}

// A symbol for how many of the selected things there are.
absl::StatusOr<tir::Expr> BindNumber(NodeContext& c, const Value& number) {
  INGOT_ASSIGN_OR_RETURN(
      Shape count,
      c.builder().BindDims(number, absl::StrCat(c.name(), "_count")));
  return count[0];
}

absl::StatusOr<Value> FirstOf(NodeContext& c, const Value& x,
                              const tir::Expr& count,
                              absl::string_view suffix) {
  Attrs attrs;
  attrs.Set("starts", relay::MakeShape({0}));
  attrs.Set("ends", Shape{count});
  attrs.Set("axes", std::vector<int64_t>{0});
  return c.Emit("slice", {x}, std::move(attrs), suffix);
}

absl::Status Unique(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  const bool flat = !c.has_attr("axis");
  tir::Expr count = tir::MakeInt(1);
  for (const tir::Expr& dim : ShapeOf(x)) count = count * dim;
  count = SimplifyDim(count);
  if (flat) {
    INGOT_ASSIGN_OR_RETURN(x, c.Reshape(x, {count}, "flat"));
  }
  const int rank = RankOf(x);
  int64_t axis = c.Int("axis", 0);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return c.Error("axis ", axis);
  // Slices along the axis as the rows of a matrix.
  std::vector<int64_t> order;
  tir::Expr columns = tir::MakeInt(1);
  for (int d = 0; d < rank; ++d) {
    if (d == axis) continue;
    order.push_back(d);
    columns = columns * ShapeOf(x)[d];
  }
  order.insert(order.begin(), axis);
  INGOT_ASSIGN_OR_RETURN(Value rows, c.Transpose(x, order));
  INGOT_ASSIGN_OR_RETURN(
      rows, c.Reshape(rows, {ShapeOf(x)[axis], SimplifyDim(columns)}, "rows"));
  Attrs attrs;
  attrs.Set("sorted", c.Int("sorted", 1));
  INGOT_ASSIGN_OR_RETURN(
      relay::Node * node,
      c.EmitNode("unique_rows", {rows}, std::move(attrs), "rows"));
  INGOT_ASSIGN_OR_RETURN(tir::Expr number, BindNumber(c, Value{node, 3}));
  INGOT_ASSIGN_OR_RETURN(Value first,
                         FirstOf(c, Value{node, 0}, number, "first"));
  Attrs gather;
  gather.Set("axis", axis);
  INGOT_ASSIGN_OR_RETURN(Value y,
                         c.Emit("gather", {x, first}, std::move(gather)));
  INGOT_ASSIGN_OR_RETURN(Value counts,
                         FirstOf(c, Value{node, 2}, number, "counts"));
  c.SetOutput(0, y);
  c.SetOutput(1, first);
  c.SetOutput(2, Value{node, 1});
  c.SetOutput(3, counts);
  return absl::OkStatus();
}

// One number of type `dtype`, `otherwise` where the operand is left out.
absl::StatusOr<Value> OneNumber(NodeContext& c, int i, DataType dtype,
                                double otherwise) {
  if (!c.has_input(i)) return c.Scalar(dtype, otherwise);
  INGOT_ASSIGN_OR_RETURN(Value v, c.Input(i));
  INGOT_ASSIGN_OR_RETURN(v, c.Cast(v, dtype));
  return c.Reshape(v, {}, absl::StrCat("operand", i));
}

absl::Status NonMaxSuppression(NodeContext& c) {
  std::vector<Value> in(5);
  INGOT_ASSIGN_OR_RETURN(in[0], c.Input(0));
  INGOT_ASSIGN_OR_RETURN(in[1], c.Input(1));
  INGOT_ASSIGN_OR_RETURN(in[2], OneNumber(c, 2, DataType::Int(64), 0));
  INGOT_ASSIGN_OR_RETURN(in[3], OneNumber(c, 3, DataType::Float(32), 0));
  INGOT_ASSIGN_OR_RETURN(in[4], OneNumber(c, 4, DataType::Float(32), 0));
  if (RankOf(in[0]) != 3) {
    return c.Error("boxes are ", relay::ToString(in[0].type()));
  }
  // As many as there are boxes, or fewer where that is known.
  tir::Expr most = ShapeOf(in[0])[1];
  if (c.has_input(2) && !c.IsRunTimeInput(2)) {
    INGOT_ASSIGN_OR_RETURN(std::vector<int64_t> given,
                           c.ConstantInts(2, "max_output_boxes_per_class"));
    if (given.size() != 1) return c.Error("the most boxes must be one number");
    most = SimplifyDim(Min(most, tir::MakeInt(std::max<int64_t>(given[0], 0))));
  }
  Attrs attrs;
  attrs.Set("most", Shape{most});
  attrs.Set("center", c.Int("center_point_box", 0));
  attrs.Set("all_scores", int64_t{!c.has_input(4)});
  INGOT_ASSIGN_OR_RETURN(
      relay::Node * node,
      c.EmitNode("non_max_suppression", in, std::move(attrs), "room"));
  INGOT_ASSIGN_OR_RETURN(tir::Expr number, BindNumber(c, Value{node, 1}));
  INGOT_ASSIGN_OR_RETURN(Value selected,
                         FirstOf(c, Value{node, 0}, number, ""));
  c.SetOutput(0, selected);
  return absl::OkStatus();
}

}  // namespace

void AddIndexingConverters(ConverterTable* t) {
  t->Add("Gather", 1, Gather("gather"));
  t->Add("GatherElements", 11, Gather("gather_elements"));
  t->Add("GatherND", 11, &GatherNd);
  t->Add("Scatter", 9, Scatter("scatter_elements", true));
  t->Add("ScatterElements", 11, Scatter("scatter_elements", true));
  t->Add("ScatterND", 11, Scatter("scatter_nd", false));
  t->Add("OneHot", 9, &OneHot);
  t->Add("TopK", 1, &TopK);
  t->Add("CumSum", 11, Cumulative("cumsum"));
  t->Add("CumProd", 26, Cumulative("cumprod"));
  t->Add("Compress", 9, &Compress);
  t->Add("NonZero", 9, &NonZero);
  t->Add("Unique", 11, &Unique);
  t->Add("NonMaxSuppression", 10, &NonMaxSuppression);
}

}  // namespace ingot::onnx_frontend
