// Thresholds and choices of features.
#include <utility>

#include "compiler/frontends/onnx/graph/compose.h"
#include "compiler/frontends/onnx/graph/converters.h"

namespace ingot::onnx_frontend {
namespace {

absl::Status Binarizer(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(const Value x, c.Input(0));
  Compose k(c);
  const Value above =
      k.Call("greater", {x, k.Like(x, c.Float("threshold", 0))});
  c.SetOutput(0, k.Cast(above, x.type().dtype));
  return k.status();
}

// The columns of x that are named; x as a row where it is a vector.
absl::Status ArrayFeatureExtractor(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
  INGOT_ASSIGN_OR_RETURN(Value columns, c.Input(1));
  Compose k(c);
  if (RankOf(x) == 1) x = k.Reshape(x, {tir::MakeInt(1), ShapeOf(x)[0]});
  INGOT_RETURN_IF_ERROR(k.status());
  const int rank = RankOf(x);
  if (rank < 2 || RankOf(columns) < 1) {
    return c.Error("operands ", relay::ToString(x.type()), " and ",
                   relay::ToString(columns.type()));
  }
  tir::Expr count = tir::MakeInt(1);
  for (const tir::Expr& d : ShapeOf(columns)) count = count * d;
  columns = k.Reshape(columns, {SimplifyDim(count)});
  Attrs attrs;
  attrs.Set("axis", int64_t{rank - 1});
  c.SetOutput(0, k.Call("gather", {x, columns}, std::move(attrs)));
  return k.status();
}

}  // namespace

void AddFeaturesConverters(ConverterTable* t) {
  t->Add("Binarizer", 1, &Binarizer, kMlDomain);
  t->Add("ArrayFeatureExtractor", 1, &ArrayFeatureExtractor, kMlDomain);
}

}  // namespace ingot::onnx_frontend
