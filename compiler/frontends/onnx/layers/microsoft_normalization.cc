// Normalizations of the domain com.microsoft, with what is added before them.
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontends/onnx/graph/compose.h"
#include "compiler/frontends/onnx/graph/converters.h"

namespace ingot::onnx_frontend {
namespace {

absl::Status NoStatistics(NodeContext& c) {
  for (int i = 1; i <= 2; ++i) {
    if (c.wants_output(i)) {
      return c.NotSupported("the statistics as outputs, which training wants");
    }
  }
  return absl::OkStatus();
}

Attrs RowAttrs(NodeContext& c, double epsilon) {
  Attrs attrs;
  attrs.Set("axis", c.Int("axis", -1));
  attrs.Set("epsilon", c.Float("epsilon", epsilon));
  return attrs;
}

// x / sqrt(mean(x²) + epsilon) * scale. Written in ONNX's own domain too.
absl::Status SimplifiedLayerNorm(NodeContext& c) {
  INGOT_RETURN_IF_ERROR(NoStatistics(c));
  Compose k(c);
  c.SetOutput(0,
              k.Call("rms_norm", {k.Input(0), k.Input(1)}, RowAttrs(c, 1e-5)));
  return k.status();
}

// The norm of input + skip + bias; output 3 is that sum. `simplified`: no mean
// is taken off, and no beta added.
Converter SkipLayerNorm(bool simplified) {
  return [simplified](NodeContext& c) -> absl::Status {
    INGOT_RETURN_IF_ERROR(NoStatistics(c));
    Compose k(c);
    Value sum = k.Add(k.Input(0), k.Input(1));
    const int bias = simplified ? 3 : 4;
    if (c.has_input(bias)) sum = k.Add(sum, k.Input(bias));
    std::vector<Value> in = {sum, k.Input(2)};
    if (!simplified && c.has_input(3)) in.push_back(k.Input(3));
    c.SetOutput(0, k.Call(simplified ? "rms_norm" : "layer_norm", in,
                          RowAttrs(c, 1e-12)));
    if (c.wants_output(3)) c.SetOutput(3, sum);
    return k.status();
  };
}

// x / sqrt(mean(x²) + epsilon) * scale * swish(gate) of each group of as many
// neighbours as there are scales, in f32.
absl::Status GatedRmsNorm(NodeContext& c) {
  Compose k(c);
  const DataType f32 = DataType::Float(32);
  const Value x = k.Input(0), scale = k.Cast(k.Input(1), f32);
  INGOT_RETURN_IF_ERROR(k.status());
  int64_t width, group;
  if (RankOf(x) < 1 || RankOf(scale) != 1 ||
      !tir::AsConstInt(ShapeOf(x).back(), &width) ||
      !tir::AsConstInt(ShapeOf(scale)[0], &group) || group < 1 ||
      width % group != 0) {
    return c.Error("scales ", relay::ToString(scale.type()), " do not divide ",
                   relay::ToString(x.type()));
  }
  Shape groups = ShapeOf(x);
  groups.back() = I(width / group);
  groups.push_back(I(group));
  const Value rows = k.Reshape(k.Cast(x, f32), groups);
  const Value norm = k.Reshape(
      k.Call("rms_norm", {rows, scale}, RowAttrs(c, 1e-5)), ShapeOf(x));
  const Value gate = k.Call("swish", {k.Cast(k.Input(2), f32)});
  c.SetOutput(0, k.Cast(k.Mul(norm, gate), x.type().dtype));
  return k.status();
}

// How the two kinds of EmbedLayerNormalization differ in their operands.
struct EmbedOperands {
  int positions;   // -1 where there are none
  bool quantised;  // scales and zero points of the weights follow the mask
};

// Operand `at`, one of the weights, from 2 to 6, or those of its rows that
// `ids` says.
Value Embedded(Compose& k, const EmbedOperands& operands, int at,
               const Value* ids = nullptr) {
  Value w = k.Input(at);
  if (ids != nullptr) w = k.Call("gather", {w, *ids});
  if (!operands.quantised) return w;
  return k.Call("dequantize", {w, k.Input(at + 6), k.Input(at + 11)});
}

// The norm of the sum of a word's, its place's and its segment's embedding.
absl::Status EmbedLayerNorm(NodeContext& c, const EmbedOperands& operands) {
  Compose k(c);
  const Value ids = k.Input(0);
  Value places = k.Input(3);
  INGOT_RETURN_IF_ERROR(k.status());
  if (RankOf(ids) != 2 || RankOf(places) != 2) {
    return c.Error("word numbers ", relay::ToString(ids.type()),
                   " and embeddings of places ", relay::ToString(places.type()),
                   " must have rank 2");
  }
  Value sum = Embedded(k, operands, 2, &ids);
  if (operands.positions >= 0 && c.has_input(operands.positions)) {
    const Value at = k.Input(operands.positions);
    places = Embedded(k, operands, 3, &at);
  } else {
    places =
        k.Slice(Embedded(k, operands, 3), 0, tir::MakeInt(0), ShapeOf(ids)[1]);
  }
  sum = k.Add(sum, places);
  if (c.has_input(1)) {
    const Value segments = k.Input(1);
    sum = k.Add(sum, Embedded(k, operands, 4, &segments));
  }
  c.SetOutput(0,
              k.Call("layer_norm",
                     {sum, Embedded(k, operands, 5), Embedded(k, operands, 6)},
                     RowAttrs(c, 1e-12)));
  INGOT_RETURN_IF_ERROR(k.status());
  if (c.wants_output(1)) {
    // The number of words of each row that count.
    const DataType i32 = DataType::Int(32);
    if (c.has_input(7)) {
      c.SetOutput(1, k.Reduce("reduce_sum", k.Cast(k.Input(7), i32), {1},
                              /*keepdims=*/false));
    } else {
      const Shape batch = {ShapeOf(ids)[0]};
      Attrs zeros;
      zeros.Set("shape", batch);
      zeros.Set("dtype", i32);
      INGOT_ASSIGN_OR_RETURN(std::vector<Value> sources,
                             c.builder().DimSources(batch));
      c.SetOutput(1, k.Call("full", sources, std::move(zeros)));
    }
  }
  if (c.wants_output(2)) c.SetOutput(2, sum);
  return k.status();
}

}  // namespace

void AddMicrosoftNormalizationConverters(ConverterTable* t) {
  t->Add("SimplifiedLayerNormalization", 1, &SimplifiedLayerNorm);
  t->Add("SimplifiedLayerNormalization", 1, &SimplifiedLayerNorm,
         kMicrosoftDomain);
  t->Add("SkipLayerNormalization", 1, SkipLayerNorm(/*simplified=*/false),
         kMicrosoftDomain);
  t->Add("SkipSimplifiedLayerNormalization", 1,
         SkipLayerNorm(/*simplified=*/true), kMicrosoftDomain);
  t->Add("GatedRMSNorm", 1, &GatedRmsNorm, kMicrosoftDomain);
  t->Add(
      "EmbedLayerNormalization", 1,
      [](NodeContext& c) {
        return EmbedLayerNorm(c, {8, false});
      },
      kMicrosoftDomain);
  t->Add(
      "QEmbedLayerNormalization", 1,
      [](NodeContext& c) {
        return EmbedLayerNorm(c, {-1, true});
      },
      kMicrosoftDomain);
}

}  // namespace ingot::onnx_frontend
