#include "compiler/frontends/onnx/ml/tree_tables.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ingot::onnx_frontend {
namespace {

// Each step down is some calls of its own.
constexpr int64_t kMostDepth = 256;

absl::StatusOr<std::vector<double>> ReadNumbers(NodeContext& c,
                                                absl::string_view name,
                                                DataType* dtype) {
  INGOT_ASSIGN_OR_RETURN(const Tensor tensor, c.TensorAttr(name));
  *dtype = tensor.dtype();
  std::vector<double> numbers;
  for (int64_t i = 0; i < tensor.NumElements(); ++i) {
    if (tensor.dtype() == DataType::Float(64)) {
      numbers.push_back(tensor.data<double>()[i]);
    } else if (tensor.dtype() == DataType::Float(32)) {
      numbers.push_back(tensor.data<float>()[i]);
    } else if (tensor.dtype() == DataType::UInt(8)) {
      numbers.push_back(tensor.data<uint8_t>()[i]);
    } else {
      return c.NotSupported("'", name, "' is ", tensor.TypeString());
    }
  }
  return numbers;
}

// The places that the children of nodes have in the tables.
absl::StatusOr<std::vector<int64_t>> Children(NodeContext& c,
                                              absl::string_view ids_name,
                                              absl::string_view leafs_name,
                                              int64_t branches,
                                              int64_t leaves) {
  const std::vector<int64_t> ids = c.Ints(ids_name);
  const std::vector<int64_t> is_leaf = c.Ints(leafs_name);
  if (static_cast<int64_t>(ids.size()) != branches ||
      static_cast<int64_t>(is_leaf.size()) != branches) {
    return c.Error(ids_name, " or ", leafs_name, " do not have ", branches,
                   " values");
  }
  std::vector<int64_t> children;
  for (int64_t i = 0; i < branches; ++i) {
    const int64_t most = is_leaf[i] != 0 ? leaves : branches;
    if (ids[i] < 0 || ids[i] >= most) {
      return c.Error(ids_name, " has ", ids[i], " of ", most);
    }
    children.push_back(is_leaf[i] != 0 ? branches + ids[i] : ids[i]);
  }
  for (int64_t i = 0; i < leaves; ++i) children.push_back(branches + i);
  return children;
}

// The sets of the nodes that ask for membership, in their order, each ended by
// a NaN in the attribute.
absl::Status ReadMembers(NodeContext& c, TreeTables* trees) {
  const auto is_member = [](int64_t mode) {
    return mode == static_cast<int64_t>(BranchMode::kMember);
  };
  const auto sets =
      std::count_if(trees->modes.begin(), trees->modes.end(), is_member);
  if (sets == 0) return absl::OkStatus();
  DataType dtype;
  INGOT_ASSIGN_OR_RETURN(const std::vector<double> values,
                         ReadNumbers(c, "membership_values", &dtype));
  if (dtype != trees->dtype) return c.Error("membership_values of other type");
  std::vector<std::vector<double>> read(1);
  for (double value : values) {
    if (std::isnan(value)) {
      read.emplace_back();
    } else {
      read.back().push_back(value);
    }
  }
  if (static_cast<int64_t>(read.size()) < sets) {
    return c.Error("membership_values has ", read.size(), " sets for ", sets,
                   " nodes");
  }
  size_t longest = 1;
  for (const std::vector<double>& set : read) {
    longest = std::max(longest, set.size());
  }
  size_t next = 0;
  for (int64_t mode : trees->modes) {
    std::vector<double> set;
    if (is_member(mode)) set = read[next++];
    set.resize(longest, std::numeric_limits<double>::quiet_NaN());
    trees->members.push_back(std::move(set));
  }
  return absl::OkStatus();
}

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

 private:
  const TreeTables& trees_;
  std::vector<int64_t> below_;
};

absl::Status ReadBranches(NodeContext& c, int64_t leaves, TreeTables* trees) {
  INGOT_ASSIGN_OR_RETURN(trees->splits,
                         ReadNumbers(c, "nodes_splits", &trees->dtype));
  trees->num_branches = static_cast<int64_t>(trees->splits.size());
  const size_t n = trees->splits.size();
  DataType bytes;
  INGOT_ASSIGN_OR_RETURN(const std::vector<double> modes,
                         ReadNumbers(c, "nodes_modes", &bytes));
  trees->modes.assign(modes.begin(), modes.end());
  trees->features = c.Ints("nodes_featureids");
  trees->nan_is_true = c.Ints("nodes_missing_value_tracks_true");
  if (trees->nan_is_true.empty()) trees->nan_is_true.assign(n, 0);
  if (n == 0 || trees->modes.size() != n || trees->features.size() != n ||
      trees->nan_is_true.size() != n) {
    return c.Error("its nodes_ attributes are not of one length, ", n);
  }
  for (size_t i = 0; i < n; ++i) {
    if (trees->modes[i] < 0 ||
        trees->modes[i] > static_cast<int64_t>(BranchMode::kMember) ||
        trees->features[i] < 0) {
      return c.Error("node ", i, " has mode ", trees->modes[i], " and feature ",
                     trees->features[i]);
    }
  }
  const int64_t branches = trees->num_branches;
  INGOT_ASSIGN_OR_RETURN(
      trees->if_true,
      Children(c, "nodes_truenodeids", "nodes_trueleafs", branches, leaves));
  INGOT_ASSIGN_OR_RETURN(
      trees->if_false,
      Children(c, "nodes_falsenodeids", "nodes_falseleafs", branches, leaves));
  INGOT_RETURN_IF_ERROR(ReadMembers(c, trees));
  trees->splits.resize(n + leaves, 0);
  trees->modes.resize(n + leaves, trees->modes[0]);
  trees->features.resize(n + leaves, 0);
  trees->nan_is_true.resize(n + leaves, 0);
  if (!trees->members.empty()) {
    trees->members.resize(n + leaves, trees->members[0]);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TreeTables> ReadTrees(NodeContext& c) {
  TreeTables trees;
  DataType weights;
  INGOT_ASSIGN_OR_RETURN(trees.leaf_weights,
                         ReadNumbers(c, "leaf_weights", &weights));
  trees.leaf_targets = c.Ints("leaf_targetids");
  trees.num_targets = c.Int("n_targets", 1);
  trees.roots = c.Ints("tree_roots");
  const int64_t leaves = static_cast<int64_t>(trees.leaf_weights.size());
  constexpr int64_t kMostTargets = int64_t{1} << 24;
  if (leaves == 0 || trees.leaf_targets.size() != trees.leaf_weights.size() ||
      trees.num_targets < 1 || trees.num_targets > kMostTargets ||
      std::any_of(trees.leaf_targets.begin(), trees.leaf_targets.end(),
                  [&](int64_t t) { return t < 0 || t >= trees.num_targets; })) {
    return c.Error("leaf_weights, leaf_targetids and n_targets do not fit");
  }
  INGOT_RETURN_IF_ERROR(ReadBranches(c, leaves, &trees));
  if (weights != trees.dtype || !trees.dtype.is_float()) {
    return c.Error("leaf_weights or nodes_splits have another type");
  }
  if (trees.roots.empty()) return c.Error("has no tree_roots");
  DepthFinder depths(trees);
  for (int64_t root : trees.roots) {
    if (root < 0 || root >= trees.num_branches) {
      return c.Error("tree_roots has ", root);
    }
    const int64_t depth = depths.Find(root, kMostDepth);
    if (depth < 0 || depth > kMostDepth) {
      return c.NotSupported("trees of more than ", kMostDepth,
                            " branches one below the other");
    }
    trees.depth = std::max(trees.depth, depth);
  }
  return trees;
}

}  // namespace ingot::onnx_frontend
