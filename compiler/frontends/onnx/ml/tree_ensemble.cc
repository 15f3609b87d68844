// Decision trees.
#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontends/onnx/graph/compose.h"
#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/ml/rows.h"
#include "compiler/frontends/onnx/ml/scores.h"
#include "compiler/frontends/onnx/ml/tree_tables.h"
#include "compiler/frontends/onnx/ml/tree_walk.h"

namespace ingot::onnx_frontend {
namespace {

// The leaves that the rows of operand 0, which are of the splits' type, reach.
absl::StatusOr<Value> Leaves(Compose& k, const TreeTables& trees) {
  const Value x = Rows(k, trees.dtype);
  INGOT_RETURN_IF_ERROR(k.status());
  int64_t columns;
  if (tir::AsConstInt(ShapeOf(x)[1], &columns)) {
    for (int64_t feature : trees.features) {
      if (feature < columns) continue;
      return k.context().Error("there is no feature ", feature, " in ",
                               relay::ToString(x.type()));
    }
  }
  return FindLeaves(k, trees, x);
}

absl::Status TreeEnsemble(NodeContext& c) {
  Compose k(c);
  INGOT_ASSIGN_OR_RETURN(const TreeTables trees, ReadTrees(c));
  INGOT_ASSIGN_OR_RETURN(const Value x, c.Input(0));
  if (RankOf(x) != 2 || x.type().dtype != trees.dtype) {
    return c.Error("the operand is ", relay::ToString(x.type()),
                   " and the splits are ", trees.dtype.ToString());
  }
  const int64_t aggregate =
      c.Int("aggregate_function", static_cast<int64_t>(Aggregate::kSum));
  const int64_t transform =
      c.Int("post_transform", static_cast<int64_t>(Transform::kNone));
  if (aggregate < 0 || aggregate > static_cast<int64_t>(Aggregate::kMax) ||
      transform < 0 || transform > static_cast<int64_t>(Transform::kProbit)) {
    return c.Error("aggregate_function=", aggregate,
                   ", post_transform=", transform);
  }
  INGOT_ASSIGN_OR_RETURN(const Value leaf, Leaves(k, trees));
  const Value y = JoinVotes(k, trees, leaf, static_cast<Aggregate>(aggregate));
  c.SetOutput(0, TransformScores(k, y, static_cast<Transform>(transform)));
  return k.status();
}

absl::StatusOr<Aggregate> ReadAggregate(NodeContext& c) {
  static const auto* const kNames = new std::map<std::string, Aggregate>{
      {"AVERAGE", Aggregate::kAverage},
      {"SUM", Aggregate::kSum},
      {"MIN", Aggregate::kMin},
      {"MAX", Aggregate::kMax},
  };
  const std::string name = c.String("aggregate_function", "SUM");
  const auto it = kNames->find(name);
  if (it == kNames->end()) {
    return c.Error("there is no aggregate_function '", name, "'");
  }
  return it->second;
}

// The scores [rows, n] plus the attribute base_values, in the type of results.
absl::StatusOr<Value> WithBase(Compose& k, Value scores, int64_t n) {
  NodeContext& c = k.context();
  INGOT_RETURN_IF_ERROR(k.status());
  DataType dtype = scores.type().dtype;
  INGOT_ASSIGN_OR_RETURN(const std::vector<double> base,
                         ReadFloats(c, "base_values", &dtype));
  if (!base.empty() && static_cast<int64_t>(base.size()) != n) {
    return c.Error("has ", base.size(), " base_values for ", n, " scores");
  }
  if (!base.empty()) {
    scores = k.Add(k.Cast(scores, dtype), Numbers(k, base, {n}, dtype));
  }
  return k.Cast(scores, DataType::Float(32));
}

absl::Status TreeEnsembleRegressor(NodeContext& c) {
  Compose k(c);
  INGOT_ASSIGN_OR_RETURN(const Transform transform, ReadTransform(c));
  INGOT_ASSIGN_OR_RETURN(const Aggregate aggregate, ReadAggregate(c));
  INGOT_ASSIGN_OR_RETURN(const Value x, c.Input(0));
  const int64_t targets = c.Int("n_targets", 1);
  INGOT_ASSIGN_OR_RETURN(
      const TreeTables trees,
      ReadNodes(c, "target", targets, aggregate, x.type().dtype));
  INGOT_ASSIGN_OR_RETURN(const Value leaf, Leaves(k, trees));
  INGOT_ASSIGN_OR_RETURN(
      const Value y,
      WithBase(k, JoinVotes(k, trees, leaf, aggregate), targets));
  c.SetOutput(0, TransformScores(k, y, transform));
  return k.status();
}

// Whether the votes of a single class, of two, add up to its share; else their
// sign decides.
bool AreShares(const TreeTables& trees) {
  return std::all_of(trees.votes.begin(), trees.votes.end(),
                     [](double v) { return v >= 0; });
}

// The places of the labels that scores z [rows, classes] are for.
Value Winners(Compose& k, const TreeTables& trees, Value z, Value leaf,
              bool has_base) {
  if (!k.ok()) return Value{};
  if (trees.num_targets == 2 && !has_base && !HasVotesFor(trees, 0)) {
    return IsAbove(k, k.Slice(z, 1, tir::MakeInt(1), tir::MakeInt(2)),
                   AreShares(trees) ? 0.5 : 0);
  }
  if (has_base || AlwaysHasVotes(trees)) return LargestOf(k, z);
  // A class without any vote is no candidate, even where all votes are
  // negative.
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return LargestOf(
      k, k.Call("where", {HasVotes(k, trees, leaf), z, k.Like(z, -kInfinity)}));
}

absl::Status TreeEnsembleClassifier(NodeContext& c) {
  Compose k(c);
  INGOT_ASSIGN_OR_RETURN(const Transform transform, ReadTransform(c));
  INGOT_ASSIGN_OR_RETURN(const ClassLabels labels,
                         ReadLabels(c, "classlabels_int64s"));
  INGOT_ASSIGN_OR_RETURN(const Value x, c.Input(0));
  const std::vector<int64_t> ids = c.Ints("class_ids");
  DataType dtype = DataType::Float(32);
  INGOT_ASSIGN_OR_RETURN(const std::vector<double> base,
                         ReadFloats(c, "base_values", &dtype));
  const bool one_score =
      labels.count() == 2 && base.size() < 2 &&
      std::all_of(ids.begin(), ids.end(), [](int64_t id) { return id == 0; });
  const int64_t scores = one_score ? 1 : labels.count();
  INGOT_ASSIGN_OR_RETURN(
      const TreeTables trees,
      ReadNodes(c, "class", scores, Aggregate::kSum, x.type().dtype));
  INGOT_ASSIGN_OR_RETURN(const Value leaf, Leaves(k, trees));
  INGOT_ASSIGN_OR_RETURN(
      const Value z,
      WithBase(k, JoinVotes(k, trees, leaf, Aggregate::kSum), scores));
  if (one_score) {
    const bool is_share = AreShares(trees);
    c.SetOutput(1, ScoresOfTwo(k, z, is_share, transform));
    return SetLabels(k, labels, IsAbove(k, z, is_share ? 0.5 : 0));
  }
  c.SetOutput(1, TransformScores(k, z, transform));
  return SetLabels(k, labels, Winners(k, trees, z, leaf, !base.empty()));
}

}  // namespace

void AddTreeEnsembleConverters(ConverterTable* t) {
  t->Add("TreeEnsemble", 5, &TreeEnsemble, kMlDomain);
  t->Add("TreeEnsembleClassifier", 1, &TreeEnsembleClassifier, kMlDomain);
  t->Add("TreeEnsembleRegressor", 1, &TreeEnsembleRegressor, kMlDomain);
}

}  // namespace ingot::onnx_frontend
