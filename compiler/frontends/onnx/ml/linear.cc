// Linear models.
#include <utility>
#include <vector>

#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/ml/rows.h"
#include "compiler/frontends/onnx/ml/scores.h"

namespace ingot::onnx_frontend {
namespace {

// The products of rows x[n, features] and the attribute coefficients, `targets`
// rows, plus its intercepts: [n, targets].
absl::StatusOr<Value> Products(Compose& k, Value x, int64_t targets) {
  NodeContext& c = k.context();
  INGOT_RETURN_IF_ERROR(k.status());
  const std::vector<double> coefficients = c.Floats("coefficients");
  const std::vector<double> intercepts = c.Floats("intercepts");
  const int64_t count = static_cast<int64_t>(coefficients.size());
  if (targets < 1 || count == 0 || count % targets != 0) {
    return c.Error("has ", count, " coefficients for ", targets, " results");
  }
  const int64_t features = count / targets;
  x = FixColumns(k, x, features);
  const Value y =
      k.Call("dense", {x, Numbers(k, coefficients, {targets, features})});
  if (intercepts.empty()) return y;
  if (static_cast<int64_t>(intercepts.size()) != targets) {
    return c.Error("has ", intercepts.size(), " intercepts for ", targets,
                   " results");
  }
  return k.Add(y, Numbers(k, intercepts, {targets}));
}

absl::Status LinearRegressor(NodeContext& c) {
  Compose k(c);
  INGOT_ASSIGN_OR_RETURN(const Transform transform, ReadTransform(c));
  INGOT_ASSIGN_OR_RETURN(const Value y,
                         Products(k, Rows(k), c.Int("targets", 1)));
  c.SetOutput(0, TransformScores(k, y, transform));
  return k.status();
}

absl::Status LinearClassifier(NodeContext& c) {
  Compose k(c);
  INGOT_ASSIGN_OR_RETURN(const Transform transform, ReadTransform(c));
  INGOT_ASSIGN_OR_RETURN(const ClassLabels labels,
                         ReadLabels(c, "classlabels_ints"));
  const int64_t intercepts =
      static_cast<int64_t>(c.Floats("intercepts").size());
  const int64_t scores = intercepts > 0 ? intercepts : labels.count();
  const bool is_one_for_two = scores == 1 && labels.count() == 2;
  if (scores != labels.count() && !is_one_for_two) {
    return c.Error("has ", scores, " scores of ", labels.count(), " classes");
  }
  INGOT_ASSIGN_OR_RETURN(const Value z, Products(k, Rows(k), scores));
  c.SetOutput(1, is_one_for_two
                     ? ScoresOfTwo(k, z, /*is_share=*/true, transform)
                     : TransformScores(k, z, transform));
  return SetLabels(k, labels,
                   is_one_for_two ? IsAbove(k, z, 0) : LargestOf(k, z));
}

}  // namespace

void AddLinearConverters(ConverterTable* t) {
  t->Add("LinearClassifier", 1, &LinearClassifier, kMlDomain);
  t->Add("LinearRegressor", 1, &LinearRegressor, kMlDomain);
}

}  // namespace ingot::onnx_frontend
