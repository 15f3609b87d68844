#include "compiler/frontends/onnx/ml/tree_walk.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "compiler/frontends/onnx/ml/rows.h"
#include "compiler/frontends/onnx/model/tensor_proto.h"

namespace ingot::onnx_frontend {
namespace {

// The type of places in tables. They are never negative, which spares gathers a
// comparison.
const DataType kPlace = DataType::UInt(32);

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

// The edges of the trees, by which rows go down: those from branch b are 2 b,
// where it is false, and 2 b + 1; one to each root comes after them. Each
// vector has an entry for each edge. An edge to a branch leads on to two edges.
// One to a leaf leads to itself, since nothing compares with its split, NaN.
struct Edges {
  std::vector<int64_t> features, modes, nan_is_true;  // of the node it leads to
  std::vector<double> splits;
  std::vector<double> members;  // [edges, length], or nothing
  int64_t length = 0;
  std::vector<int64_t> next;  // the edge where the node is false
  std::vector<int64_t> leaf;  // that it leads to

  int64_t count() const { return Count(next); }
};

Edges EdgesOf(const TreeTables& trees) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr int64_t kNotEqual = static_cast<int64_t>(BranchMode::kNotEqual);
  // All leaves are of one mode, that of branches if it can be.
  int64_t mode = static_cast<int64_t>(BranchMode::kLessEqual);
  for (int64_t m : trees.modes) {
    if (m != kNotEqual) mode = m;
  }
  std::vector<int64_t> nodes;
  for (int64_t b = 0; b < trees.num_branches; ++b) {
    nodes.push_back(trees.if_false[b]);
    nodes.push_back(trees.if_true[b]);
  }
  nodes.insert(nodes.end(), trees.roots.begin(), trees.roots.end());
  Edges edges;
  if (!trees.members.empty()) {
    edges.length = static_cast<int64_t>(trees.members[0].size());
  }
  for (int64_t node : nodes) {
    const bool is_leaf = node >= trees.num_branches;
    edges.features.push_back(is_leaf ? 0 : trees.features[node]);
    edges.modes.push_back(is_leaf ? mode : trees.modes[node]);
    edges.nan_is_true.push_back(is_leaf ? 0 : trees.nan_is_true[node]);
    edges.splits.push_back(is_leaf ? kNan : trees.splits[node]);
    for (int64_t i = 0; i < edges.length; ++i) {
      edges.members.push_back(is_leaf ? kNan : trees.members[node][i]);
    }
    edges.leaf.push_back(is_leaf ? node - trees.num_branches : 0);
    edges.next.push_back(is_leaf ? edges.count() : 2 * node);
  }
  return edges;
}

Value IsMember(Compose& k, const Edges& edges, Value edge, Value x) {
  const Value sets =
      Numbers(k, edges.members, {edges.count(), edges.length}, x.type().dtype);
  const Value same = k.Call("equal", {WithOneMore(k, x), At(k, sets, edge)});
  return k.Cast(k.Reduce("reduce_max", k.Cast(same, DataType::UInt(8)), {2},
                         /*keepdims=*/false),
                DataType::Bool());
}

// Whether x, a feature of the node that each edge leads to, makes it true.
Value Decide(Compose& k, const Edges& edges, Value edge, Value x) {
  static constexpr const char* kRelations[] = {
      "less_equal", "less", "greater_equal", "greater", "equal", "not_equal"};
  if (!k.ok()) return Value{};
  std::vector<int64_t> used = edges.modes;
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  const Value split =
      At(k, Numbers(k, edges.splits, {edges.count()}, x.type().dtype), edge);
  Value mode;
  if (used.size() > 1) mode = At(k, Places(k, edges.modes), edge);
  Value is_true;
  for (int64_t m : used) {
    const Value now = m == static_cast<int64_t>(BranchMode::kMember)
                          ? IsMember(k, edges, edge, x)
                          : k.Call(kRelations[m], {x, split});
    is_true = m == used[0]
                  ? now
                  : k.Call("where", {k.Call("equal", {mode, k.Like(mode, m)}),
                                     now, is_true});
  }
  const std::vector<int64_t>& tracks = edges.nan_is_true;
  if (std::any_of(tracks.begin(), tracks.end(),
                  [](int64_t t) { return t != 0; })) {
    const Value track =
        k.Cast(At(k, Places(k, tracks), edge), DataType::Bool());
    is_true = Or(k, is_true, And(k, track, k.Call("is_nan", {x})));
  }
  return is_true;
}

}  // namespace

Value FindLeaves(Compose& k, const TreeTables& trees, Value x) {
  if (!k.ok()) return Value{};
  const Edges edges = EdgesOf(trees);
  const Value features = Places(k, edges.features);
  const Value next = Places(k, edges.next);
  std::vector<int64_t> roots(trees.roots.size());
  std::iota(roots.begin(), roots.end(), 2 * trees.num_branches);
  Value edge =
      k.Expand(Places(k, roots), {ShapeOf(x)[0], tir::MakeInt(Count(roots))});
  Attrs columns;
  columns.Set("axis", int64_t{1});
  for (int64_t step = 0; step < trees.depth && k.ok(); ++step) {
    const Value feature =
        k.Call("gather_elements", {x, At(k, features, edge)}, columns);
    edge = k.Add(At(k, next, edge),
                 k.Cast(Decide(k, edges, edge, feature), kPlace));
  }
  return At(k, Places(k, edges.leaf), edge);
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
  const char* const reduce = is_sum                         ? "reduce_sum"
                             : aggregate == Aggregate::kMin ? "reduce_min"
                                                            : "reduce_max";
  const int64_t leaves = trees.num_leaves, targets = trees.num_targets;
  Value y;
  if (trees.trees_per_target > 0) {
    // The only vote that each leaf has.
    std::vector<double> vote(leaves, 0);
    for (size_t i = 0; i < votes.size(); ++i) {
      if (trees.has_vote[i] != 0) vote[i / targets] = votes[i];
    }
    const Shape shape = {ShapeOf(leaf)[0], tir::MakeInt(targets),
                         tir::MakeInt(trees.trees_per_target)};
    const Value said = At(k, Numbers(k, vote, {leaves}, trees.dtype), leaf);
    y = k.Reduce(reduce, k.Reshape(said, shape), {2}, /*keepdims=*/false);
  } else {
    const Value said =
        At(k, Numbers(k, votes, {leaves, targets}, trees.dtype), leaf);
    y = k.Reduce(reduce, said, {1}, /*keepdims=*/false);
  }
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
