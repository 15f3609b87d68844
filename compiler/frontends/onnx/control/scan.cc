#include "compiler/frontends/onnx/control/scan.h"

namespace ingot::onnx_frontend {
namespace {

absl::StatusOr<Value> WithoutBatch(NodeContext& c, const Value& v) {
  if (RankOf(v) < 1 || !tir::IsConstInt(ShapeOf(v)[0], 1)) {
    return c.NotSupported("a scan of operator set 8 over a batch");
  }
  Shape shape = ShapeOf(v);
  shape.erase(shape.begin());
  return c.Reshape(v, shape);
}

}  // namespace

absl::StatusOr<ScanOperands> ReadScan(NodeContext& c,
                                      const onnx::GraphProto& body) {
  ScanOperands scan;
  scan.batched = c.opset() < 9;
  const int first = scan.batched ? 1 : 0;  // lengths are in front
  const int64_t count = c.Int("num_scan_inputs", 0);
  if (count < 1 || count > c.num_inputs() - first) {
    return c.Error("num_scan_inputs=", count);
  }
  if (scan.batched && c.has_input(0)) {
    return c.NotSupported("a scan over sequences of different lengths");
  }
  const int states = c.num_inputs() - first - static_cast<int>(count);
  const int results = body.output_size() - states;
  const std::vector<int64_t> zeros(count, 0);
  scan.axes = c.Ints("scan_input_axes", zeros);
  scan.directions = c.Ints("scan_input_directions", zeros);
  if (scan.axes.size() != zeros.size() ||
      scan.directions.size() != zeros.size() || results < 0) {
    return c.Error("its attributes do not fit its inputs");
  }
  const std::vector<int64_t> of_results(results, 0);
  scan.result_axes = c.Ints("scan_output_axes", of_results);
  scan.result_directions = c.Ints("scan_output_directions", of_results);
  if (scan.result_axes.size() != of_results.size() ||
      scan.result_directions.size() != of_results.size()) {
    return c.Error("its attributes do not fit its outputs");
  }
  for (int i = 0; i < states + static_cast<int>(count); ++i) {
    INGOT_ASSIGN_OR_RETURN(Value v, c.Input(first + i));
    if (scan.batched) {
      INGOT_ASSIGN_OR_RETURN(v, WithoutBatch(c, v));
    }
    if (i < states) {
      scan.initial.push_back(v);
      continue;
    }
    int64_t& axis = scan.axes[i - states];
    if (axis < 0) axis += RankOf(v);
    if (axis < 0 || axis >= RankOf(v)) return c.Error("a scan axis of ", axis);
    scan.scanned.push_back(v);
  }
  return scan;
}

}  // namespace ingot::onnx_frontend
