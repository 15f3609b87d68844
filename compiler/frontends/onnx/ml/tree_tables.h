// Decision trees as tables. Internal to the ONNX frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_ML_TREE_TABLES_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_ML_TREE_TABLES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontends/onnx/graph/context.h"

namespace ingot::onnx_frontend {

// The comparison of a node's feature with its split; the numbers are ONNX's.
enum class BranchMode : int64_t {
  kLessEqual = 0,
  kLess = 1,
  kGreaterEqual = 2,
  kGreater = 3,
  kEqual = 4,
  kNotEqual = 5,
  kMember = 6,
};

// The result for a target, of the votes that the trees' leaves have for it; the
// numbers are ONNX's.
enum class Aggregate : int64_t { kAverage = 0, kSum = 1, kMin = 2, kMax = 3 };

// All trees of an ensemble. A node is a number: those that branch come first,
// then the leaves. Roots and children are nodes; the vectors of branches have
// an entry for each branch.
struct TreeTables {
  std::vector<int64_t> roots;
  std::vector<int64_t> features;  // columns of the operand
  std::vector<double> splits;
  std::vector<int64_t> modes;  // BranchMode
  std::vector<int64_t> if_true, if_false;
  std::vector<int64_t> nan_is_true;
  // The sets of members, one a branch: all of one length, filled up with NaN.
  // Empty where no branch has one.
  std::vector<std::vector<double>> members;
  int64_t num_branches = 0;
  int64_t depth = 0;  // the most branches from a root to a leaf

  // The votes of the leaves [leaves, targets], and whether there are any.
  int64_t num_leaves = 0;
  int64_t num_targets = 0;
  std::vector<double> votes;
  std::vector<uint8_t> has_vote;
  // The targets that have votes whatever the branches taken.
  std::vector<uint8_t> always_voted;
  // So many trees vote for each target, and for no other one; they are in the
  // order of their targets then. 0 where it is not so.
  int64_t trees_per_target = 0;
  DataType dtype;  // of splits, members and votes
};

// Reads the attributes of a TreeEnsemble. InvalidArgument where they do not fit
// one another, name what is not there or lead in circles; Unimplemented for
// trees that are too deep or leaves that have too many targets.
absl::StatusOr<TreeTables> ReadTrees(NodeContext& c);

// The same for the nodes of a TreeEnsembleRegressor (`kind` is "target") or a
// TreeEnsembleClassifier ("class"), and an operand of type `operand`.
absl::StatusOr<TreeTables> ReadNodes(NodeContext& c, const std::string& kind,
                                     int64_t targets, Aggregate aggregate,
                                     DataType operand);

// An attribute of numbers that are f32, or `name`_as_tensor, which may be f64;
// `*dtype` becomes f64 where they are.
absl::StatusOr<std::vector<double>> ReadFloats(NodeContext& c,
                                               const std::string& name,
                                               DataType* dtype);

// The steps that readers share: this one adds the leaves without votes; then,
// once branches and roots are there, the next one makes what follows from them,
// depth, always_voted and trees_per_target.
absl::Status AddLeaves(NodeContext& c, int64_t leaves, int64_t targets,
                       TreeTables* trees);
absl::Status FinishTrees(NodeContext& c, TreeTables* trees);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_ML_TREE_TABLES_H_
