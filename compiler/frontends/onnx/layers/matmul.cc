#include "compiler/frontends/onnx/layers/matmul.h"

#include <utility>

#include "compiler/frontends/onnx/graph/converters.h"

namespace ingot::onnx_frontend {

absl::StatusOr<Value> MatmulAnyRank(NodeContext& c, Value a, Value b,
                                    Attrs attrs) {
  const bool row = RankOf(a) == 1, column = RankOf(b) == 1;
  if (RankOf(a) == 0 || RankOf(b) == 0) {
    return c.Error("a scalar operand");
  }
  if (row) {
    INGOT_ASSIGN_OR_RETURN(
        a, c.Reshape(a, {tir::MakeInt(1), ShapeOf(a)[0]}, "row"));
  }
  if (column) {
    INGOT_ASSIGN_OR_RETURN(
        b, c.Reshape(b, {ShapeOf(b)[0], tir::MakeInt(1)}, "column"));
  }
  INGOT_ASSIGN_OR_RETURN(Value y, c.Emit("matmul", {a, b}, std::move(attrs)));
  Shape shape = ShapeOf(y);
  if (column) shape.pop_back();
  if (row) shape.erase(shape.end() - (column ? 1 : 2));
  return c.Reshape(y, shape);
}

namespace {

absl::Status MatMul(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value a, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(Value b, c.Input(1));
  INGOT_ASSIGN_OR_RETURN(Value y, MatmulAnyRank(c, a, b, {}));
  c.SetOutput(0, y);
  return absl::OkStatus();
}

absl::StatusOr<Value> Scale(NodeContext& c, Value x, double factor,
                            absl::string_view suffix) {
  if (factor == 1) return x;
  INGOT_ASSIGN_OR_RETURN(Value f, c.Scalar(x.type().dtype, factor));
  return c.Emit("mul", {x, f}, {}, suffix);
}

absl::Status Gemm(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value a, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(Value b, c.Input(1));
  if (RankOf(a) != 2 || RankOf(b) != 2) {
    return c.Error("operands ", relay::ToString(a.type()), " and ",
                   relay::ToString(b.type()), " must be matrices");
  }
  if (c.Int("transA", 0) != 0) {
    INGOT_ASSIGN_OR_RETURN(a, c.Transpose(a, {1, 0}, "a"));
  }
  const bool trans_b = c.Int("transB", 0) != 0;
  const double alpha = c.Float("alpha", 1);
  const DataType t = a.type().dtype;
  if (alpha != 1) {
    // A product may fit into halves only with alpha.
    INGOT_ASSIGN_OR_RETURN(a, c.Widen(a));
    INGOT_ASSIGN_OR_RETURN(b, c.Widen(b));
  }
  INGOT_ASSIGN_OR_RETURN(Value y, c.Emit(trans_b ? "dense" : "matmul", {a, b}));
  INGOT_ASSIGN_OR_RETURN(y, Scale(c, y, alpha, "alpha"));
  INGOT_ASSIGN_OR_RETURN(y, c.Cast(y, t));
  const double beta = c.Float("beta", 1);
  if (c.has_input(2) && beta != 0) {
    INGOT_ASSIGN_OR_RETURN(Value bias, c.Input(2));
    INGOT_ASSIGN_OR_RETURN(bias, Scale(c, bias, beta, "beta"));
    INGOT_ASSIGN_OR_RETURN(Value sum, c.Emit("add", {y, bias}, {}, "add"));
    // C must not make the product larger.
    absl::StatusOr<Value> fixed = c.FixShape(sum, ShapeOf(y));
    if (!fixed.ok()) {
      return c.Error("C ", relay::ToString(bias.type()),
                     " does not broadcast to ", relay::ToString(y.type()));
    }
    y = *fixed;
  }
  c.SetOutput(0, y);
  return absl::OkStatus();
}

absl::Status Einsum(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(std::vector<Value> in, c.Inputs());
  Attrs attrs;
  attrs.Set("equation", c.String("equation", ""));
  return c.Return("einsum", in, std::move(attrs));
}

absl::Status Det(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  return c.Return("det", {x});
}

}  // namespace

void AddMatmulConverters(ConverterTable* t) {
  t->Add("Det", 11, &Det);
  t->Add("MatMul", 1, &MatMul);
  t->Add("Gemm", 1, &Gemm);
  t->Add("Einsum", 12, &Einsum);
}

}  // namespace ingot::onnx_frontend
