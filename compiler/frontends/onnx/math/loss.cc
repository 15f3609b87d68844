// Losses, which inference models seldom have, from simpler operators.
#include <utility>

#include "compiler/frontends/onnx/graph/converters.h"

namespace ingot::onnx_frontend {
namespace {

// -log_prob of the target class at each point, times its weight, reduced.
absl::Status NegativeLogLikelihood(NodeContext& c, Value log_prob, Value target,
                                   int weight_input) {
  const DataType t = log_prob.type().dtype;
  const DataType i64 = DataType::Int(64);
  const std::string reduction = c.String("reduction", "mean");
  if (RankOf(target) + 1 != RankOf(log_prob) || RankOf(target) < 1) {
    return c.Error("targets ", relay::ToString(target.type()),
                   " do not fit scores ", relay::ToString(log_prob.type()));
  }
  INGOT_ASSIGN_OR_RETURN(target, c.Cast(target, i64));
  Shape column = ShapeOf(target);
  column.insert(column.begin() + 1, tir::MakeInt(1));
  Value ignored;  // true where the target does not count
  if (c.has_attr("ignore_index")) {
    INGOT_ASSIGN_OR_RETURN(
        Value index,
        c.Scalar(i64, static_cast<double>(c.Int("ignore_index", 0))));
    INGOT_ASSIGN_OR_RETURN(ignored,
                           c.Emit("equal", {target, index}, {}, "ignored"));
    INGOT_ASSIGN_OR_RETURN(Value zero, c.Scalar(i64, 0));
    INGOT_ASSIGN_OR_RETURN(
        target, c.Emit("where", {ignored, zero, target}, {}, "target"));
  }
  INGOT_ASSIGN_OR_RETURN(Value index, c.Reshape(target, column, "column"));
  Attrs gather;
  gather.Set("axis", int64_t{1});
  INGOT_ASSIGN_OR_RETURN(Value loss,
                         c.Emit("gather_elements", {log_prob, index},
                                std::move(gather), "picked"));
  INGOT_ASSIGN_OR_RETURN(loss, c.Reshape(loss, ShapeOf(target), "points"));
  INGOT_ASSIGN_OR_RETURN(loss, c.Emit("neg", {loss}, {}, "neg"));
  if (ignored) {
    // A weight of 0 would leave a NaN of an infinite loss.
    INGOT_ASSIGN_OR_RETURN(Value zero, c.Scalar(t, 0));
    INGOT_ASSIGN_OR_RETURN(
        loss, c.Emit("where", {ignored, zero, loss}, {}, "counted"));
  }
  Value weights;
  if (c.has_input(weight_input)) {
    INGOT_ASSIGN_OR_RETURN(Value table, c.Input(weight_input));
    INGOT_ASSIGN_OR_RETURN(weights,
                           c.Emit("gather", {table, target}, {}, "weights"));
  } else if (ignored) {
    Attrs ones;
    ones.Set("shape", ShapeOf(target));
    ones.Set("dtype", t);
    ones.Set("value", 1.0);
    INGOT_ASSIGN_OR_RETURN(std::vector<Value> sources,
                           c.builder().DimSources(ShapeOf(target)));
    INGOT_ASSIGN_OR_RETURN(weights,
                           c.Emit("full", sources, std::move(ones), "ones"));
  }
  if (ignored) {
    INGOT_ASSIGN_OR_RETURN(Value zero, c.Scalar(t, 0));
    INGOT_ASSIGN_OR_RETURN(
        weights, c.Emit("where", {ignored, zero, weights}, {}, "masked"));
  }
  if (weights) {
    INGOT_ASSIGN_OR_RETURN(loss,
                           c.Emit("mul", {loss, weights}, {}, "weighted"));
  }
  if (reduction == "none") {
    c.SetOutput(0, loss);
    return absl::OkStatus();
  }
  Attrs all;
  all.Set("keepdims", int64_t{0});
  if (reduction == "sum") return c.Return("reduce_sum", {loss}, std::move(all));
  if (reduction != "mean") return c.Error("reduction='", reduction, "'");
  if (!weights) return c.Return("reduce_mean", {loss}, std::move(all));
  // The mean of halves fits where the sums do not.
  INGOT_ASSIGN_OR_RETURN(loss, c.Widen(loss));
  INGOT_ASSIGN_OR_RETURN(weights, c.Widen(weights));
  INGOT_ASSIGN_OR_RETURN(Value sum, c.Emit("reduce_sum", {loss}, all, "sum"));
  INGOT_ASSIGN_OR_RETURN(Value total,
                         c.Emit("reduce_sum", {weights}, all, "total"));
  INGOT_ASSIGN_OR_RETURN(Value mean, c.Emit("div", {sum, total}));
  INGOT_ASSIGN_OR_RETURN(mean, c.Cast(mean, t));
  c.SetOutput(0, mean);
  return absl::OkStatus();
}

absl::Status NllLoss(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value log_prob, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(Value target, c.Input(1));
  return NegativeLogLikelihood(c, log_prob, target, 2);
}

absl::Status SoftmaxCrossEntropy(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value scores, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(Value target, c.Input(1));
  Attrs attrs;
  attrs.Set("axis", int64_t{1});
  INGOT_ASSIGN_OR_RETURN(Value log_prob, c.Emit("log_softmax", {scores},
                                                std::move(attrs), "log_prob"));
  INGOT_RETURN_IF_ERROR(NegativeLogLikelihood(c, log_prob, target, 2));
  c.SetOutput(1, log_prob);
  return absl::OkStatus();
}

}  // namespace

void AddLossConverters(ConverterTable* t) {
  t->Add("NegativeLogLikelihoodLoss", 12, &NllLoss);
  t->Add("SoftmaxCrossEntropyLoss", 12, &SoftmaxCrossEntropy);
}

}  // namespace ingot::onnx_frontend
