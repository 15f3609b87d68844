// Decision trees as tables. Internal to the ONNX frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_ML_TREE_TABLES_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_ML_TREE_TABLES_H_

#include <cstdint>
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

// All trees of an ensemble: the nodes that branch, then the leaves, which
// branch to themselves. Each vector has an entry for each of both, but for
// those of leaves alone.
struct TreeTables {
  std::vector<int64_t> roots;
  std::vector<int64_t> features;  // columns of the operand
  std::vector<double> splits;
  std::vector<int64_t> modes;  // BranchMode
  std::vector<int64_t> if_true, if_false;
  std::vector<int64_t> nan_is_true;
  // The sets of members, one a node: all of one length, filled up with NaN.
  // Empty where no node has one.
  std::vector<std::vector<double>> members;
  int64_t num_branches = 0;
  int64_t depth = 0;  // the most branches from a root to a leaf

  std::vector<int64_t> leaf_targets;
  std::vector<double> leaf_weights;
  int64_t num_targets = 0;
  DataType dtype;  // of splits, members and weights
};

// Reads the attributes of a TreeEnsemble. InvalidArgument where they do not fit
// one another, name what is not there or lead in circles; Unimplemented for
// trees that are too deep.
absl::StatusOr<TreeTables> ReadTrees(NodeContext& c);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_ML_TREE_TABLES_H_
