// The attributes of TreeEnsemble: branches and leaves apart, each with an
// entry in attributes of its own.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "compiler/frontends/onnx/ml/tree_tables.h"

namespace ingot::onnx_frontend {
namespace {

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

absl::Status ReadBranches(NodeContext& c, TreeTables* trees) {
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
        trees->modes[i] > static_cast<int64_t>(BranchMode::kMember)) {
      return c.Error("node ", i, " has mode ", trees->modes[i]);
    }
  }
  const int64_t branches = trees->num_branches, leaves = trees->num_leaves;
  INGOT_ASSIGN_OR_RETURN(
      trees->if_true,
      Children(c, "nodes_truenodeids", "nodes_trueleafs", branches, leaves));
  INGOT_ASSIGN_OR_RETURN(
      trees->if_false,
      Children(c, "nodes_falsenodeids", "nodes_falseleafs", branches, leaves));
  return ReadMembers(c, trees);
}

}  // namespace

absl::StatusOr<TreeTables> ReadTrees(NodeContext& c) {
  TreeTables trees;
  DataType type;
  INGOT_ASSIGN_OR_RETURN(const std::vector<double> weights,
                         ReadNumbers(c, "leaf_weights", &type));
  const std::vector<int64_t> targets = c.Ints("leaf_targetids");
  INGOT_RETURN_IF_ERROR(AddLeaves(c, static_cast<int64_t>(weights.size()),
                                  c.Int("n_targets", 1), &trees));
  if (targets.size() != weights.size()) {
    return c.Error("has ", targets.size(), " leaf_targetids for ",
                   weights.size(), " leaf_weights");
  }
  for (size_t leaf = 0; leaf < targets.size(); ++leaf) {
    if (targets[leaf] < 0 || targets[leaf] >= trees.num_targets) {
      return c.Error("there is no target ", targets[leaf], " of ",
                     trees.num_targets);
    }
    const int64_t at =
        static_cast<int64_t>(leaf) * trees.num_targets + targets[leaf];
    trees.votes[at] = weights[leaf];
    trees.has_vote[at] = 1;
  }
  INGOT_RETURN_IF_ERROR(ReadBranches(c, &trees));
  if (type != trees.dtype || !trees.dtype.is_float()) {
    return c.Error("leaf_weights or nodes_splits have another type");
  }
  trees.roots = c.Ints("tree_roots");
  for (int64_t root : trees.roots) {
    if (root < 0 || root >= trees.num_branches) {
      return c.Error("tree_roots has ", root);
    }
  }
  INGOT_RETURN_IF_ERROR(FinishTrees(c, &trees));
  return trees;
}

}  // namespace ingot::onnx_frontend
