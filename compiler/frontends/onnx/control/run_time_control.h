// Branches and loops that only a run decides. Internal to the ONNX frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_CONTROL_RUN_TIME_CONTROL_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_CONTROL_RUN_TIME_CONTROL_H_

#include "absl/status/status.h"
#include "compiler/frontends/onnx/control/scan.h"
#include "compiler/frontends/onnx/graph/context.h"
#include "compiler/frontends/onnx/graph/importer.h"
#include "onnx/onnx.pb.h"

namespace ingot::onnx_frontend {

// The bodies become functions. Where the shapes of results differ from branch
// to branch or from iteration to iteration, they have new symbols, which the
// run binds.
absl::Status RunTimeIf(NodeContext& c, const onnx::GraphProto& then_graph,
                       const onnx::GraphProto& else_graph);
// The failure of an If that could not import one of its graphs. Where that is
// for ranks which the graph around it may settle, it asks for a split.
absl::Status SplitIfRankIsOpen(NodeContext& c,
                               const onnx::GraphProto& then_graph,
                               const onnx::GraphProto& else_graph,
                               absl::Status failure);
absl::Status RunTimeLoop(NodeContext& c, const onnx::GraphProto& body);
// Imports a Scan of operator set 9 or later.
absl::Status RunTimeScan(NodeContext& c, const onnx::GraphProto& body,
                         ScanOperands scan);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_CONTROL_RUN_TIME_CONTROL_H_
