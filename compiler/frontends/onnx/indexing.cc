#include <utility>

#include "compiler/frontends/onnx/converters.h"
#include "compiler/frontends/onnx/tensor_proto.h"

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

absl::Status OneHot(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value indices, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(std::vector<double> depth,
                         c.ConstantFloats(1, "depth"));
  INGOT_ASSIGN_OR_RETURN(Value values, c.Input(2));
  if (depth.size() != 1 || !(depth[0] >= 0) || depth[0] > 1e12) {
    return c.Error("depth must be one number");
  }
  Attrs attrs;
  attrs.Set("depth", static_cast<int64_t>(depth[0]));
  attrs.Set("axis", c.Int("axis", -1));
  return c.Return("one_hot", {indices, values}, std::move(attrs));
}

absl::Status TopK(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  int64_t k = c.Int("k", 0);
  if (c.opset() >= 10) {
    INGOT_ASSIGN_OR_RETURN(std::vector<int64_t> input, c.ConstantInts(1, "K"));
    if (input.size() != 1) return c.Error("K must be one number");
    k = input[0];
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

absl::Status CumSum(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(std::vector<int64_t> axis, c.ConstantInts(1, "axis"));
  if (axis.size() != 1) return c.Error("axis must be one number");
  Attrs attrs;
  attrs.Set("axis", axis[0]);
  attrs.Set("exclusive", c.Int("exclusive", 0));
  attrs.Set("reverse", c.Int("reverse", 0));
  return c.Return("cumsum", {x}, std::move(attrs));
}

// With a constant condition the chosen places are known.
absl::Status Compress(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(std::vector<int64_t> condition,
                         c.ConstantInts(1, "condition"));
  int64_t axis = c.Int("axis", 0);
  if (!c.has_attr("axis")) {
    const auto dims = relay::ConstShape(ShapeOf(x));
    if (!dims) return c.NotSupported("needs the operand's shape");
    INGOT_ASSIGN_OR_RETURN(int64_t count, CountElements(*dims));
    INGOT_ASSIGN_OR_RETURN(x, c.Reshape(x, relay::MakeShape({count})));
  }
  if (axis < 0) axis += RankOf(x);
  int64_t extent;
  if (axis < 0 || axis >= RankOf(x)) return c.Error("axis ", axis);
  if (tir::AsConstInt(ShapeOf(x)[axis], &extent) &&
      static_cast<int64_t>(condition.size()) > extent) {
    condition.resize(extent);
  }
  std::vector<int64_t> places;
  for (size_t i = 0; i < condition.size(); ++i) {
    if (condition[i] != 0) places.push_back(static_cast<int64_t>(i));
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

// Shapes that depend on the elements of a tensor cannot be planned for.
absl::Status DataDependent(NodeContext& c) {
  return c.NotSupported(
      "the shape of its result depends on the elements of its input");
}

}  // namespace

void AddIndexingConverters(ConverterTable* t) {
  t->Add("Gather", Gather("gather"));
  t->Add("GatherElements", Gather("gather_elements"));
  t->Add("GatherND", &GatherNd);
  t->Add("Scatter", Scatter("scatter_elements", true));
  t->Add("ScatterElements", Scatter("scatter_elements", true));
  t->Add("ScatterND", Scatter("scatter_nd", false));
  t->Add("OneHot", &OneHot);
  t->Add("TopK", &TopK);
  t->Add("CumSum", &CumSum);
  t->Add("Compress", &Compress);
  t->Add("NonZero", &DataDependent);
}

}  // namespace ingot::onnx_frontend
