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

// The norm of the sum of a word's, its place's and its segment's embedding.
absl::Status EmbedLayerNorm(NodeContext& c) {
  Compose k(c);
  const Value ids = k.Input(0);
  Value places = k.Input(3);
  INGOT_RETURN_IF_ERROR(k.status());
  if (RankOf(ids) != 2 || RankOf(places) != 2) {
    return c.Error("word numbers ", relay::ToString(ids.type()),
                   " and embeddings of places ", relay::ToString(places.type()),
                   " must have rank 2");
  }
  Value sum = k.Call("gather", {k.Input(2), ids});
  if (c.has_input(8)) {
    places = k.Call("gather", {places, k.Input(8)});
  } else {
    places = k.Slice(places, 0, tir::MakeInt(0), ShapeOf(ids)[1]);
  }
  sum = k.Add(sum, places);
  if (c.has_input(1)) {
    sum = k.Add(sum, k.Call("gather", {k.Input(4), k.Input(1)}));
  }
  c.SetOutput(0, k.Call("layer_norm", {sum, k.Input(5), k.Input(6)},
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
  t->Add("EmbedLayerNormalization", 1, &EmbedLayerNorm, kMicrosoftDomain);
}

}  // namespace ingot::onnx_frontend
