// The operands and attributes of Scan. Internal to the ONNX frontend.
#ifndef INGOT_COMPILER_FRONTENDS_ONNX_CONTROL_SCAN_H_
#define INGOT_COMPILER_FRONTENDS_ONNX_CONTROL_SCAN_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontends/onnx/graph/context.h"
#include "onnx/onnx.pb.h"

namespace ingot::onnx_frontend {

struct ScanOperands {
  // Operator set 8 had a dimension for a batch in front of each value, which
  // is taken off here.
  bool batched = false;
  std::vector<Value> initial;  // states
  std::vector<Value> scanned;
  std::vector<int64_t> axes;  // of `scanned`, not negative
  std::vector<int64_t> directions;
  // Of the results after the states.
  std::vector<int64_t> result_axes, result_directions;

  // The extent of the first of `scanned` along its axis.
  const tir::Expr& extent() const { return ShapeOf(scanned[0])[axes[0]]; }
};

absl::StatusOr<ScanOperands> ReadScan(NodeContext& c,
                                      const onnx::GraphProto& body);

}  // namespace ingot::onnx_frontend

#endif  // INGOT_COMPILER_FRONTENDS_ONNX_CONTROL_SCAN_H_
