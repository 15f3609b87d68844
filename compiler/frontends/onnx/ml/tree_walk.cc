#include "compiler/frontends/onnx/ml/tree_walk.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "compiler/frontends/onnx/ml/rows.h"
#include "compiler/frontends/onnx/model/tensor_proto.h"

namespace ingot::onnx_frontend {
namespace {

// The type of places in tables.
const DataType kPlace = DataType::Int(32);

int64_t Count(const std::vector<int64_t>& v) {
  return static_cast<int64_t>(v.size());
}

Value Places(Compose& k, const std::vector<int64_t>& values) {
  return k.Cast(k.Constant(MakeTensor<int64_t>(DataType::Int(64),
                                               {Count(values)}, values)),
                kPlace);
}

Value At(Compose& k, Value table, Value places) {
  return k.Call("gather", {table, places});
}

// x[..., 1] for x[...].
Value WithOneMore(Compose& k, Value x) {
  if (!k.ok()) return Value{};
  Shape shape = ShapeOf(x);
  shape.push_back(tir::MakeInt(1));
  return k.Reshape(x, shape);
}

Value Or(Compose& k, Value a, Value b) { return k.Call("logical_or", {a, b}); }
Value And(Compose& k, Value a, Value b) {
  return k.Call("logical_and", {a, b});
}

Value IsMember(Compose& k, const TreeTables& trees, Value node, Value x) {
  std::vector<double> flat;
  for (const std::vector<double>& set : trees.members) {
    flat.insert(flat.end(), set.begin(), set.end());
  }
  const int64_t nodes = static_cast<int64_t>(trees.members.size());
  const int64_t length = static_cast<int64_t>(trees.members[0].size());
  const Value sets = Numbers(k, flat, {nodes, length}, trees.dtype);
  const Value same = k.Call("equal", {WithOneMore(k, x), At(k, sets, node)});
  return k.Cast(k.Reduce("reduce_max", k.Cast(same, DataType::UInt(8)), {2},
                         /*keepdims=*/false),
                DataType::Bool());
}

// Whether x, a feature of each node, makes the node's branch true.
Value Decide(Compose& k, const TreeTables& trees, Value node, Value x) {
  static constexpr const char* kRelations[] = {
      "less_equal", "less", "greater_equal", "greater", "equal", "not_equal"};
  std::vector<int64_t> used = trees.modes;
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  const int64_t n = static_cast<int64_t>(trees.splits.size());
  const Value split = At(k, Numbers(k, trees.splits, {n}, trees.dtype), node);
  Value mode;
  if (used.size() > 1) mode = At(k, Places(k, trees.modes), node);
  Value is_true;
  for (int64_t m : used) {
    const Value now = m == static_cast<int64_t>(BranchMode::kMember)
                          ? IsMember(k, trees, node, x)
                          : k.Call(kRelations[m], {x, split});
    is_true = m == used[0]
                  ? now
                  : k.Call("where", {k.Call("equal", {mode, k.Like(mode, m)}),
                                     now, is_true});
  }
  const std::vector<int64_t>& tracks = trees.nan_is_true;
  if (std::any_of(tracks.begin(), tracks.end(),
                  [](int64_t t) { return t != 0; })) {
    const Value track =
        k.Cast(At(k, Places(k, tracks), node), DataType::Bool());
    is_true = Or(k, is_true, And(k, track, k.Call("is_nan", {x})));
  }
  return is_true;
}

}  // namespace

Value FindLeaves(Compose& k, const TreeTables& trees, Value x) {
  if (!k.ok()) return Value{};
  const Value features = Places(k, trees.features);
  // The children of each node, first that of a branch that is false.
  std::vector<int64_t> both;
  for (size_t i = 0; i < trees.if_true.size(); ++i) {
    both.push_back(trees.if_false[i]);
    both.push_back(trees.if_true[i]);
  }
  const Value children = Places(k, both);
  Value node = k.Expand(Places(k, trees.roots),
                        {ShapeOf(x)[0], tir::MakeInt(Count(trees.roots))});
  Attrs columns;
  columns.Set("axis", int64_t{1});
  for (int64_t step = 0; step < trees.depth && k.ok(); ++step) {
    const Value feature =
        k.Call("gather_elements", {x, At(k, features, node)}, columns);
    const Value is_true = k.Cast(Decide(k, trees, node, feature), kPlace);
    node = At(k, children, k.Add(k.Mul(node, 2), is_true));
  }
  return k.Sub(node, static_cast<double>(trees.num_branches));
}

Value JoinVotes(Compose& k, const TreeTables& trees, Value leaf,
                Aggregate aggregate) {
  if (!k.ok()) return Value{};
  const bool is_sum =
      aggregate == Aggregate::kSum || aggregate == Aggregate::kAverage;
  std::vector<double> votes = trees.votes;
  if (!is_sum) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < votes.size(); ++i) {
      if (trees.has_vote[i] != 0) continue;
      votes[i] = aggregate == Aggregate::kMin ? kInfinity : -kInfinity;
    }
  }
  const Value said = At(
      k, Numbers(k, votes, {trees.num_leaves, trees.num_targets}, trees.dtype),
      leaf);
  const Value y = k.Reduce(is_sum                         ? "reduce_sum"
                           : aggregate == Aggregate::kMin ? "reduce_min"
                                                          : "reduce_max",
                           said, {1}, /*keepdims=*/false);
  if (aggregate == Aggregate::kAverage) {
    return k.Div(y, static_cast<double>(trees.roots.size()));
  }
  if (is_sum || AlwaysHasVotes(trees)) return y;
  return k.Call("where", {HasVotes(k, trees, leaf), y, k.Like(y, 0)});
}

Value HasVotes(Compose& k, const TreeTables& trees, Value leaf) {
  const Value table = k.Constant(MakeTensor<uint8_t>(
      DataType::UInt(8), {trees.num_leaves, trees.num_targets},
      trees.has_vote));
  return k.Cast(
      k.Reduce("reduce_max", At(k, table, leaf), {1}, /*keepdims=*/false),
      DataType::Bool());
}

bool AlwaysHasVotes(const TreeTables& trees) {
  return std::all_of(trees.always_voted.begin(), trees.always_voted.end(),
                     [](uint8_t always) { return always != 0; });
}

bool HasVotesFor(const TreeTables& trees, int64_t target) {
  for (int64_t leaf = 0; leaf < trees.num_leaves; ++leaf) {
    if (trees.has_vote[leaf * trees.num_targets + target] != 0) return true;
  }
  return false;
}

}  // namespace ingot::onnx_frontend
