// Operators of the domain com.microsoft that exporters and optimizers write:
// products, convolutions and activations joined with their neighbours.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/frontends/onnx/graph/compose.h"
#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/graph/importer.h"
#include "compiler/frontends/onnx/layers/matmul.h"

namespace ingot::onnx_frontend {
namespace {

// Converts the node as ONNX's own `op`, and gives what that computes.
absl::StatusOr<Value> ConvertAs(NodeContext& c, absl::string_view op) {
  INGOT_RETURN_IF_ERROR((*c.importer()->converters().Find("", op))(c));
  return c.outputs()[0].value;
}

// The activation that a fused node names. `params`: what it takes, in order.
Value Activate(Compose& k, const std::string& name,
               const std::vector<double>& params, Value x) {
  auto param = [&](size_t i, double otherwise) {
    return i < params.size() ? params[i] : otherwise;
  };
  Attrs attrs;
  if (name.empty()) return x;
  if (name == "Relu") return k.Call("relu", {x});
  if (name == "Tanh") return k.Call("tanh", {x});
  if (name == "Sigmoid") return k.Call("sigmoid", {x});
  if (name == "LeakyRelu") {
    attrs.Set("alpha", param(0, 0.01));
    return k.Call("leaky_relu", {x}, std::move(attrs));
  }
  if (name == "Clip") {
    if (!params.empty()) attrs.Set("min", params[0]);
    if (params.size() > 1) attrs.Set("max", params[1]);
    return k.Call("clip", {x}, std::move(attrs));
  }
  if (name == "HardSigmoid") {
    attrs.Set("alpha", param(0, 0.2));
    attrs.Set("beta", param(1, 0.5));
    return k.Call("hard_sigmoid", {x}, std::move(attrs));
  }
  k.Check(absl::UnimplementedError(absl::StrCat("activation '", name, "'")));
  return Value{};
}

// activation(conv(x, w) + b + z)
absl::Status FusedConv(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value y, ConvertAs(c, "Conv"));
  Compose k(c);
  if (c.has_input(3)) y = k.Add(y, k.Input(3));
  c.SetOutput(0, Activate(k, c.String("activation", ""),
                          c.Floats("activation_params"), y));
  return k.status();
}

absl::Status FusedGemm(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value y, ConvertAs(c, "Gemm"));
  std::vector<double> params;
  for (const char* name : {"activation_alpha", "activation_beta"}) {
    if (c.has_attr(name)) params.push_back(c.Float(name, 0));
  }
  Compose k(c);
  c.SetOutput(0, Activate(k, c.String("activation", ""), params, y));
  return k.status();
}

// An operand of a FusedMatMul as matmul wants it. `trans` swaps the last two
// dimensions; `trans_batch` says that the rows come before the batch.
Value MatrixOperand(Compose& k, Value x, bool trans, bool trans_batch) {
  const int rank = RankOf(x);
  if (rank < 2) return x;
  std::vector<int64_t> axes;
  for (int d = 0; d < rank; ++d) axes.push_back(d);
  if (trans_batch) {
    axes.erase(axes.begin());
    axes.insert(axes.end() - 1, 0);
  }
  if (trans) std::swap(axes[rank - 1], axes[rank - 2]);
  return k.Transpose(x, axes);
}

absl::Status FusedMatMul(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value a, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(Value b, c.Input(1));
  Compose k(c);
  a = MatrixOperand(k, a, c.Int("transA", 0) != 0,
                    c.Int("transBatchA", 0) != 0);
  b = MatrixOperand(k, b, c.Int("transB", 0) != 0,
                    c.Int("transBatchB", 0) != 0);
  INGOT_RETURN_IF_ERROR(k.status());
  INGOT_ASSIGN_OR_RETURN(Value y, MatmulAnyRank(c, a, b, {}));
  c.SetOutput(0, k.Mul(y, c.Float("alpha", 1)));
  return k.status();
}

// gelu(x + bias), by the error function or by tanh.
Converter Gelu(bool tanh) {
  return [tanh](NodeContext& c) -> absl::Status {
    Compose k(c);
    Value x = k.Input(0);
    if (c.has_input(1)) x = k.Add(x, k.Input(1));
    Attrs attrs;
    if (tanh) attrs.Set("approximate", std::string("tanh"));
    c.SetOutput(0, k.Call("gelu", {x}, std::move(attrs)));
    return k.status();
  };
}

absl::Status QuickGelu(NodeContext& c) {
  Compose k(c);
  Attrs attrs;
  attrs.Set("alpha", c.Float("alpha", 1.702));
  c.SetOutput(0, k.Call("swish", {k.Input(0)}, std::move(attrs)));
  return k.status();
}

// softmax(x + bias) over the dimensions from `axis` on, taken as one.
absl::Status BiasSoftmax(NodeContext& c) {
  Compose k(c);
  const Value x = k.Input(0);
  Value bias = k.Input(1);
  INGOT_RETURN_IF_ERROR(k.status());
  const int rank = RankOf(x);
  int64_t axis = c.Int("axis", 1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return c.Error("axis ", c.Int("axis", 1));
  if (c.Int("is_inner_broadcast", 1) == 0 && RankOf(bias) != rank) {
    // Without it the bias runs along the first dimensions.
    Shape shape = ShapeOf(bias);
    shape.resize(rank, tir::MakeInt(1));
    bias = k.Reshape(bias, shape);
  }
  const Value sum = k.Add(x, bias);
  INGOT_RETURN_IF_ERROR(k.status());
  Shape flat = {tir::MakeInt(1), tir::MakeInt(1)};
  for (int d = 0; d < rank; ++d) {
    tir::Expr& e = flat[d < axis ? 0 : 1];
    e = SimplifyDim(e * ShapeOf(x)[d]);
  }
  Attrs attrs;
  attrs.Set("axis", int64_t{1});
  const Value y = k.Call("softmax", {k.Reshape(sum, flat)}, std::move(attrs));
  c.SetOutput(0, k.Reshape(y, ShapeOf(x)));
  return k.status();
}

absl::Status ExpandDims(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(std::vector<int64_t> axis, c.ConstantInts(1, "axis"));
  if (axis.size() != 1) return c.Error("axis must be one number");
  Attrs attrs;
  attrs.Set("axes", axis);
  return c.Return("unsqueeze", {x}, std::move(attrs));
}

// The distance of each row of one matrix from each row of another, from the
// differences: sums of squares less a product would lose what rows share.
absl::Status RowDistances(NodeContext& c) {
  Compose k(c);
  const Value a = k.Input(0), b = k.Input(1);
  INGOT_RETURN_IF_ERROR(k.status());
  if (RankOf(a) != 2 || RankOf(b) != 2) {
    return c.Error("operands ", relay::ToString(a.type()), " and ",
                   relay::ToString(b.type()), " must have rank 2");
  }
  const std::string metric = c.String("metric", "sqeuclidean");
  if (metric != "sqeuclidean" && metric != "euclidean") {
    return c.Error("there is no metric '", metric, "'");
  }
  const Value difference =
      k.Sub(k.Reshape(a, {ShapeOf(a)[0], I(1), ShapeOf(a)[1]}),
            k.Reshape(b, {I(1), ShapeOf(b)[0], ShapeOf(b)[1]}));
  Value y = k.Reduce("reduce_sum", k.Mul(difference, difference), {2},
                     /*keepdims=*/false);
  if (metric == "euclidean") y = k.Call("sqrt", {y});
  c.SetOutput(0, y);
  return k.status();
}

// x + y * gate
absl::Status GatedAdd(NodeContext& c) {
  Compose k(c);
  c.SetOutput(0, k.Add(k.Input(0), k.Mul(k.Input(1), k.Input(2))));
  return k.status();
}

// An operator that ONNX has too, of the same meaning.
Converter Same(const char* op) {
  return [op](NodeContext& c) {
    return (*c.importer()->converters().Find("", op))(c);
  };
}

}  // namespace

void AddMicrosoftConverters(ConverterTable* t) {
  const auto add = [t](absl::string_view op, Converter converter) {
    t->Add(op, 1, std::move(converter), kMicrosoftDomain);
  };
  add("FusedConv", &FusedConv);
  add("FusedGemm", &FusedGemm);
  add("FusedMatMul", &FusedMatMul);
  add("TransposeMatMul", &FusedMatMul);
  add("Gelu", Gelu(/*tanh=*/false));
  add("BiasGelu", Gelu(/*tanh=*/false));
  add("FastGelu", Gelu(/*tanh=*/true));
  add("QuickGelu", &QuickGelu);
  add("BiasSoftmax", &BiasSoftmax);
  add("ExpandDims", &ExpandDims);
  add("CDist", &RowDistances);
  add("GatedAdd", &GatedAdd);
  add("Trilu", Same("Trilu"));
  add("GridSample", Same("GridSample"));
}

}  // namespace ingot::onnx_frontend
