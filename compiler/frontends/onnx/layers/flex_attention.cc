// FlexAttention of ai.onnx.preview: attention whose scores and weights go
// through graphs of the model.
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/graph/importer.h"
#include "compiler/frontends/onnx/layers/attention.h"

namespace ingot::onnx_frontend {
namespace {

constexpr char kPreviewDomain[] = "ai.onnx.preview";

// x through the graph that the attribute holds, which must keep its shape; x
// itself where there is none.
absl::StatusOr<Value> Modify(NodeContext& c, absl::string_view attribute,
                             Value x) {
  if (!c.has_attr(attribute)) return x;
  const onnx::GraphProto* graph = c.Graph(attribute);
  INGOT_RETURN_IF_ERROR(c.status());
  Binding operand;
  operand.value = x;
  INGOT_ASSIGN_OR_RETURN(std::vector<Binding> results,
                         c.importer()->Inline(*graph, {std::move(operand)}));
  if (results.size() != 1) {
    return c.Error(attribute, " has ", results.size(), " results");
  }
  INGOT_ASSIGN_OR_RETURN(
      const Value y, c.importer()->Materialize(
                         &results[0], absl::StrCat(c.name(), "_", attribute)));
  if (y.type().dtype != x.type().dtype) {
    return c.Error(attribute, " makes ", relay::ToString(y.type()), " of ",
                   relay::ToString(x.type()));
  }
  return c.FixShape(y, ShapeOf(x), attribute);
}

absl::Status FlexAttention(NodeContext& c) {
  Compose k(c);
  const Value q = k.Input(0);
  Value key = k.Input(1), value = k.Input(2);
  INGOT_RETURN_IF_ERROR(k.status());
  if (RankOf(q) != 4 || RankOf(key) != 4 || RankOf(value) != 4) {
    return c.Error("operands ", relay::ToString(q.type()), ", ",
                   relay::ToString(key.type()), " and ",
                   relay::ToString(value.type()), " must have rank 4");
  }
  INGOT_RETURN_IF_ERROR(CheckHeads(k, q, key, value));
  const DataType dtype = q.type().dtype;
  INGOT_ASSIGN_OR_RETURN(
      const DataType precision,
      SoftmaxType(c, dtype.bits == 16 ? DataType::Float(32) : dtype));
  INGOT_ASSIGN_OR_RETURN(const double scale, ScaleOf(c, q, key));
  if (!c.has_attr("score_mod") && !c.has_attr("prob_mod")) {
    AttentionOptions options;
    options.scale = scale;
    options.precision = precision;
    c.SetOutput(0, Attend(k, q, key, value, options));
    return k.status();
  }
  Value scores = k.Cast(ScoresOf(k, q, key, scale), precision);
  INGOT_RETURN_IF_ERROR(k.status());
  INGOT_ASSIGN_OR_RETURN(scores, Modify(c, "score_mod", scores));
  Value weights = Softmax(k, scores);
  INGOT_RETURN_IF_ERROR(k.status());
  INGOT_ASSIGN_OR_RETURN(weights, Modify(c, "prob_mod", weights));
  c.SetOutput(0, WeightedSum(k, k.Cast(weights, dtype), value));
  return k.status();
}

}  // namespace

void AddFlexAttentionConverters(ConverterTable* t) {
  t->Add("FlexAttention", 1, &FlexAttention, kPreviewDomain);
}

}  // namespace ingot::onnx_frontend
