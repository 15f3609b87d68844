// The attributes of TreeEnsembleClassifier and TreeEnsembleRegressor: an entry
// for each node, which a pair of numbers names, its tree's and its own.
#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/frontends/onnx/ml/tree_tables.h"

namespace ingot::onnx_frontend {
namespace {

constexpr int64_t kLeaf = -1;

// The mode of a node by ONNX's name; kLeaf for a leaf.
absl::StatusOr<int64_t> ModeOf(NodeContext& c, const std::string& name) {
  static const auto* const kModes = new std::map<std::string, int64_t>{
      {"BRANCH_LEQ", static_cast<int64_t>(BranchMode::kLessEqual)},
      {"BRANCH_LT", static_cast<int64_t>(BranchMode::kLess)},
      {"BRANCH_GTE", static_cast<int64_t>(BranchMode::kGreaterEqual)},
      {"BRANCH_GT", static_cast<int64_t>(BranchMode::kGreater)},
      {"BRANCH_EQ", static_cast<int64_t>(BranchMode::kEqual)},
      {"BRANCH_NEQ", static_cast<int64_t>(BranchMode::kNotEqual)},
      {"LEAF", kLeaf},
  };
  const auto it = kModes->find(name);
  if (it == kModes->end()) return c.Error("there is no mode '", name, "'");
  return it->second;
}

// The nodes as the attributes have them.
struct Nodes {
  std::vector<int64_t> trees, ids, modes, features, if_true, if_false, tracks;
  std::vector<double> values;
  // The places that nodes have in the tables.
  std::map<std::pair<int64_t, int64_t>, int64_t> places;
  int64_t branches = 0;

  size_t size() const { return modes.size(); }
};

absl::StatusOr<Nodes> ReadAttributes(NodeContext& c, DataType* dtype) {
  Nodes nodes;
  for (const std::string& name : c.Strings("nodes_modes")) {
    INGOT_ASSIGN_OR_RETURN(const int64_t mode, ModeOf(c, name));
    nodes.modes.push_back(mode);
    nodes.branches += mode != kLeaf;
  }
  const size_t n = nodes.size();
  nodes.trees = c.Ints("nodes_treeids");
  nodes.ids = c.Ints("nodes_nodeids");
  nodes.features = c.Ints("nodes_featureids");
  nodes.if_true = c.Ints("nodes_truenodeids");
  nodes.if_false = c.Ints("nodes_falsenodeids");
  nodes.tracks = c.Ints("nodes_missing_value_tracks_true");
  INGOT_ASSIGN_OR_RETURN(nodes.values, ReadFloats(c, "nodes_values", dtype));
  if (nodes.tracks.empty()) nodes.tracks.assign(n, 0);
  if (n == 0 || nodes.trees.size() != n || nodes.ids.size() != n ||
      nodes.features.size() != n || nodes.if_true.size() != n ||
      nodes.if_false.size() != n || nodes.tracks.size() != n ||
      nodes.values.size() != n) {
    return c.Error("its nodes_ attributes are not of one length, ", n);
  }
  int64_t branch = 0, leaf = nodes.branches;
  for (size_t i = 0; i < n; ++i) {
    const int64_t place = nodes.modes[i] == kLeaf ? leaf++ : branch++;
    if (!nodes.places.emplace(std::pair(nodes.trees[i], nodes.ids[i]), place)
             .second) {
      return c.Error("there are two nodes ", nodes.ids[i], " in tree ",
                     nodes.trees[i]);
    }
  }
  return nodes;
}

absl::StatusOr<int64_t> PlaceOf(NodeContext& c, const Nodes& nodes,
                                int64_t tree, int64_t id) {
  const auto it = nodes.places.find({tree, id});
  if (it == nodes.places.end()) {
    return c.Error("there is no node ", id, " in tree ", tree);
  }
  return it->second;
}

absl::Status AddBranches(NodeContext& c, const Nodes& nodes,
                         TreeTables* trees) {
  trees->num_branches = nodes.branches;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const int64_t tree = nodes.trees[i];
    // A tree's root is the first of its nodes.
    if (i == 0 || tree != nodes.trees[i - 1]) {
      INGOT_ASSIGN_OR_RETURN(const int64_t root,
                             PlaceOf(c, nodes, tree, nodes.ids[i]));
      trees->roots.push_back(root);
    }
    if (nodes.modes[i] == kLeaf) continue;
    INGOT_ASSIGN_OR_RETURN(const int64_t if_true,
                           PlaceOf(c, nodes, tree, nodes.if_true[i]));
    INGOT_ASSIGN_OR_RETURN(const int64_t if_false,
                           PlaceOf(c, nodes, tree, nodes.if_false[i]));
    trees->modes.push_back(nodes.modes[i]);
    trees->features.push_back(nodes.features[i]);
    trees->splits.push_back(nodes.values[i]);
    trees->nan_is_true.push_back(nodes.tracks[i]);
    trees->if_true.push_back(if_true);
    trees->if_false.push_back(if_false);
  }
  return absl::OkStatus();
}

double Join(Aggregate aggregate, double a, double b) {
  return aggregate == Aggregate::kMin   ? std::min(a, b)
         : aggregate == Aggregate::kMax ? std::max(a, b)
                                        : a + b;
}

absl::Status AddVotes(NodeContext& c, const std::string& kind,
                      const Nodes& nodes, Aggregate aggregate,
                      TreeTables* trees) {
  const std::vector<int64_t> tree_ids = c.Ints(absl::StrCat(kind, "_treeids"));
  const std::vector<int64_t> node_ids = c.Ints(absl::StrCat(kind, "_nodeids"));
  const std::vector<int64_t> targets = c.Ints(absl::StrCat(kind, "_ids"));
  INGOT_ASSIGN_OR_RETURN(
      const std::vector<double> weights,
      ReadFloats(c, absl::StrCat(kind, "_weights"), &trees->dtype));
  const size_t n = weights.size();
  if (tree_ids.size() != n || node_ids.size() != n || targets.size() != n) {
    return c.Error("its ", kind, "_ attributes are not of one length, ", n);
  }
  for (size_t i = 0; i < n; ++i) {
    INGOT_ASSIGN_OR_RETURN(const int64_t place,
                           PlaceOf(c, nodes, tree_ids[i], node_ids[i]));
    if (targets[i] < 0 || targets[i] >= trees->num_targets) {
      return c.Error("there is no ", kind, " ", targets[i], " of ",
                     trees->num_targets);
    }
    // Some exporters give branches weights, too, which are not votes.
    if (place < nodes.branches) continue;
    const int64_t at =
        (place - nodes.branches) * trees->num_targets + targets[i];
    double& vote = trees->votes[at];
    vote = trees->has_vote[at] != 0 ? Join(aggregate, vote, weights[i])
                                    : weights[i];
    trees->has_vote[at] = 1;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TreeTables> ReadNodes(NodeContext& c, const std::string& kind,
                                     int64_t targets, Aggregate aggregate,
                                     DataType operand) {
  TreeTables trees;
  trees.dtype = operand == DataType::Float(64) ? operand : DataType::Float(32);
  INGOT_ASSIGN_OR_RETURN(const Nodes nodes, ReadAttributes(c, &trees.dtype));
  INGOT_RETURN_IF_ERROR(AddLeaves(
      c, static_cast<int64_t>(nodes.size()) - nodes.branches, targets, &trees));
  INGOT_RETURN_IF_ERROR(AddBranches(c, nodes, &trees));
  INGOT_RETURN_IF_ERROR(AddVotes(c, kind, nodes, aggregate, &trees));
  INGOT_RETURN_IF_ERROR(FinishTrees(c, &trees));
  return trees;
}

}  // namespace ingot::onnx_frontend
