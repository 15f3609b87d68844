#include "compiler/frontends/onnx/ml/tree_tables.h"

#include <algorithm>

namespace ingot::onnx_frontend {
namespace {

// The number of branches from the root of a tree to a leaf of it. Each step
// down is some calls of its own.
constexpr int64_t kMostDepth = 256;

// The most branches below each node, node by node; -1: not known yet.
class DepthFinder {
 public:
  explicit DepthFinder(const TreeTables& trees)
      : trees_(trees), below_(trees.if_true.size(), -1) {}

  // -1 where the branches lead in a circle, or are more than `most` deep.
  int64_t Find(int64_t node, int64_t most) {
    if (node >= trees_.num_branches) return 0;
    if (below_[node] >= 0) return below_[node];
    if (most == 0) return -1;
    const int64_t a = Find(trees_.if_true[node], most - 1);
    const int64_t b = a < 0 ? -1 : Find(trees_.if_false[node], most - 1);
    if (b < 0) return -1;
    below_[node] = std::max(a, b) + 1;
    return below_[node];
  }

  const std::vector<int64_t>& below() const { return below_; }

 private:
  const TreeTables& trees_;
  std::vector<int64_t> below_;
};

// The branches of the trees, each after those below it.
std::vector<int64_t> Upwards(const std::vector<int64_t>& below) {
  std::vector<int64_t> upwards;
  for (size_t i = 0; i < below.size(); ++i) {
    if (below[i] >= 0) upwards.push_back(static_cast<int64_t>(i));
  }
  std::sort(upwards.begin(), upwards.end(),
            [&](int64_t a, int64_t b) { return below[a] < below[b]; });
  return upwards;
}

// The targets that have a vote of some tree whatever its branches.
std::vector<uint8_t> AlwaysVoted(const TreeTables& trees,
                                 const std::vector<int64_t>& upwards) {
  const int64_t targets = trees.num_targets;
  // For each node, the targets that all leaves below it vote for.
  std::vector<uint8_t> surely(trees.num_branches * targets, 0);
  surely.insert(surely.end(), trees.has_vote.begin(), trees.has_vote.end());
  for (int64_t node : upwards) {
    for (int64_t t = 0; t < targets; ++t) {
      surely[node * targets + t] = surely[trees.if_true[node] * targets + t] &
                                   surely[trees.if_false[node] * targets + t];
    }
  }
  std::vector<uint8_t> always(targets, 0);
  for (int64_t root : trees.roots) {
    for (int64_t t = 0; t < targets; ++t) {
      always[t] |= surely[root * targets + t];
    }
  }
  return always;
}

// Orders the trees by their targets, if each has one alone and each target as
// many.
void OrderByTargets(const std::vector<int64_t>& upwards, TreeTables* trees) {
  constexpr int64_t kSeveral = -1;
  // For each node, the only target that leaves below it vote for.
  std::vector<int64_t> only(trees->num_branches, kSeveral);
  for (int64_t leaf = 0; leaf < trees->num_leaves; ++leaf) {
    const auto begin = trees->has_vote.begin() + leaf * trees->num_targets;
    const auto end = begin + trees->num_targets;
    only.push_back(std::count(begin, end, 1) == 1
                       ? std::find(begin, end, 1) - begin
                       : kSeveral);
  }
  for (int64_t node : upwards) {
    const int64_t target = only[trees->if_true[node]];
    only[node] = target == only[trees->if_false[node]] ? target : kSeveral;
  }
  std::vector<std::vector<int64_t>> roots(trees->num_targets);
  for (int64_t root : trees->roots) {
    if (only[root] == kSeveral) return;
    roots[only[root]].push_back(root);
  }
  for (const std::vector<int64_t>& some : roots) {
    if (some.size() != roots[0].size()) return;
  }
  trees->trees_per_target = static_cast<int64_t>(roots[0].size());
  trees->roots.clear();
  for (const std::vector<int64_t>& some : roots) {
    trees->roots.insert(trees->roots.end(), some.begin(), some.end());
  }
}

}  // namespace

absl::StatusOr<std::vector<double>> ReadFloats(NodeContext& c,
                                               const std::string& name,
                                               DataType* dtype) {
  const std::string as_tensor = name + "_as_tensor";
  if (!c.has_attr(as_tensor)) return c.Floats(name);
  INGOT_ASSIGN_OR_RETURN(const Tensor tensor, c.TensorAttr(as_tensor));
  if (tensor.dtype() == DataType::Float(32)) {
    const auto values = tensor.values<float>();
    return std::vector<double>(values.begin(), values.end());
  }
  if (tensor.dtype() != DataType::Float(64)) {
    return c.Error("'", as_tensor, "' is ", tensor.TypeString());
  }
  *dtype = DataType::Float(64);
  const auto values = tensor.values<double>();
  return std::vector<double>(values.begin(), values.end());
}

absl::Status AddLeaves(NodeContext& c, int64_t leaves, int64_t targets,
                       TreeTables* trees) {
  constexpr int64_t kMostVotes = int64_t{1} << 24;
  if (leaves < 1 || targets < 1) {
    return c.Error("has ", leaves, " leaves and ", targets, " targets");
  }
  if (targets > kMostVotes / leaves) {
    return c.NotSupported(leaves, " leaves with votes for ", targets,
                          " targets");
  }
  trees->num_leaves = leaves;
  trees->num_targets = targets;
  trees->votes.assign(leaves * targets, 0);
  trees->has_vote.assign(leaves * targets, 0);
  return absl::OkStatus();
}

absl::Status FinishTrees(NodeContext& c, TreeTables* trees) {
  if (trees->roots.empty()) return c.Error("has no trees");
  for (int64_t feature : trees->features) {
    if (feature < 0) return c.Error("there is no feature ", feature);
  }
  DepthFinder depths(*trees);
  for (int64_t root : trees->roots) {
    const int64_t depth = depths.Find(root, kMostDepth);
    if (depth < 0 || depth > kMostDepth) {
      return c.NotSupported("trees of more than ", kMostDepth,
                            " branches one below the other");
    }
    trees->depth = std::max(trees->depth, depth);
  }
  const std::vector<int64_t> upwards = Upwards(depths.below());
  trees->always_voted = AlwaysVoted(*trees, upwards);
  OrderByTargets(upwards, trees);
  return absl::OkStatus();
}

}  // namespace ingot::onnx_frontend
