// Branches as nodes of relay, and what these share with loops. Internal to the
// ONNX frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_GRAPH_BRANCHES_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_GRAPH_BRANCHES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontends/onnx/graph/context.h"
#include "compiler/relay/import/builder.h"

namespace ingot::onnx_frontend {

// A branch between two functions on the node's operand 0. One of them may be
// null: it does not fit the shapes. Dimensions of results that differ have new
// symbols, which the run binds.
absl::StatusOr<std::vector<Value>> JoinBranches(NodeContext& c,
                                                relay::Body* yes,
                                                relay::Body* no);

// Appends a branch or a loop whose results may bind symbols.
absl::StatusOr<relay::Node*> AddControl(NodeContext& c, relay::NodeKind kind,
                                        std::vector<Value> inputs, Attrs attrs,
                                        std::vector<TensorType> outputs);

// Operand i as a condition or a count: one element of type `dtype`, rank 0.
absl::StatusOr<Value> OneElement(NodeContext& c, int i, DataType dtype);

// A dimension of a result: itself where the current function knows its symbols,
// otherwise a new symbol.
tir::Expr ResultDim(NodeContext& c, const tir::Expr& dim);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_GRAPH_BRANCHES_H_
