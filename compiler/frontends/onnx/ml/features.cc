// Thresholds and choices of features.
#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/frontends/onnx/graph/compose.h"
#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/text/text_moves.h"

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

// The columns of x as rows [n, columns] of f32, a vector as one row: cut off or
// filled up with zeros to `columns`, where that is not -1.
Value Columns(Compose& k, Value x, int64_t columns) {
  const bool is_row = RankOf(x) == 1;
  tir::Expr width = is_row ? ShapeOf(x)[0] : tir::MakeInt(1);
  for (int d = 1; d < RankOf(x); ++d) width = width * ShapeOf(x)[d];
  width = SimplifyDim(width);
  const Value rows =
      k.Reshape(k.Cast(x, DataType::Float(32)),
                {is_row ? tir::MakeInt(1) : ShapeOf(x)[0], width});
  if (columns < 0 || tir::IsConstInt(width, columns)) return rows;
  int64_t own = 0;
  const bool is_known = tir::AsConstInt(width, &own);
  Attrs attrs;
  attrs.Set("pads", std::vector<int64_t>{0, 0, 0, columns - own});
  const Value filled = k.Call("pad", {rows}, std::move(attrs));
  // With `columns` zeros more there are enough, whatever the width.
  return is_known ? filled
                  : k.Slice(filled, 1, tir::MakeInt(0), tir::MakeInt(columns));
}

absl::Status FeatureVectorizer(NodeContext& c) {
  INGOT_ASSIGN_OR_RETURN(const std::vector<Value> inputs, c.Inputs());
  const std::vector<int64_t> columns = c.Ints("inputdimensions");
  if (inputs.empty() ||
      (c.has_attr("inputdimensions") && columns.size() != inputs.size())) {
    return c.Error("has ", columns.size(), " inputdimensions for ",
                   inputs.size(), " inputs");
  }
  Compose k(c);
  std::vector<Value> parts;
  constexpr int64_t kMostColumns = int64_t{1} << 30;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (RankOf(inputs[i]) == 0) return c.Error("operand ", i, " is a scalar");
    if (!columns.empty() && (columns[i] < 0 || columns[i] > kMostColumns)) {
      return c.Error("inputdimensions has ", columns[i]);
    }
    parts.push_back(Columns(k, inputs[i], columns.empty() ? -1 : columns[i]));
  }
  c.SetOutput(0, k.Concat(std::move(parts), 1));
  return k.status();
}

}  // namespace

void AddFeaturesConverters(ConverterTable* t) {
  t->Add("Binarizer", 1, &Binarizer, kMlDomain);
  t->Add("ArrayFeatureExtractor", 1, WithTextSupport(&ArrayFeatureExtractor),
         kMlDomain);
  t->Add("FeatureVectorizer", 1, &FeatureVectorizer, kMlDomain);
}

}  // namespace ingot::onnx_frontend
