#include "compiler/frontends/onnx/ml/tree_tables.h"

#include <algorithm>
#include <numeric>

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

// The targets that have a vote of some tree whatever its branches.
std::vector<uint8_t> AlwaysVoted(const TreeTables& trees,
                                 const std::vector<int64_t>& below) {
  const int64_t targets = trees.num_targets;
  // For each node, the targets that all leaves below it vote for.
  std::vector<uint8_t> surely(trees.num_branches * targets, 0);
  surely.insert(surely.end(), trees.has_vote.begin(), trees.has_vote.end());
  std::vector<int64_t> upwards(trees.num_branches);
  std::iota(upwards.begin(), upwards.end(), 0);
  std::sort(upwards.begin(), upwards.end(),
            [&](int64_t a, int64_t b) { return below[a] < below[b]; });
  for (int64_t node : upwards) {
    if (below[node] < 0) continue;  // in none of the trees
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
  trees->always_voted = AlwaysVoted(*trees, depths.below());
  return absl::OkStatus();
}

}  // namespace ingot::onnx_frontend
