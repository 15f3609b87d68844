// The walk of rows of features down trees, and its votes. Internal to the ONNX
// frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_ML_TREE_WALK_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_ML_TREE_WALK_H_

#include "compiler/frontends/onnx/graph/compose.h"
#include "compiler/frontends/onnx/ml/tree_tables.h"

namespace ingot::onnx_frontend {

// The leaf that each row of x reaches in each tree: [rows, trees]. All rows go
// down all trees, one branch at a time.
Value FindLeaves(Compose& k, const TreeTables& trees, Value x);

// The aggregate of what the leaves say for each target: [rows, targets]; 0
// where none says anything.
Value JoinVotes(Compose& k, const TreeTables& trees, Value leaf,
                Aggregate aggregate);

// Whether one of the leaves says anything for each target: bool[rows, targets].
Value HasVotes(Compose& k, const TreeTables& trees, Value leaf);

// Whether all targets have votes, whatever the rows; and whether any leaf votes
// for a target.
bool AlwaysHasVotes(const TreeTables& trees);
bool HasVotesFor(const TreeTables& trees, int64_t target);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_ML_TREE_WALK_H_
