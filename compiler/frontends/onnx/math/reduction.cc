#include <utility>

#include "absl/strings/match.h"
#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/shape/run_time_axes.h"

namespace ingot::onnx_frontend {
namespace {

// Whether the operand has no elements, whatever a run gives.
bool IsEmpty(NodeContext& c, int i) {
  const absl::StatusOr<Value> value = c.Input(i);
  return value.ok() && RankOf(*value) == 1 &&
         tir::IsConstInt(ShapeOf(*value)[0], 0);
}

// `axes_input_since`: the operator set where axes became an input.
Converter Reduce(const char* op, int axes_input_since) {
  return [op, axes_input_since](NodeContext& c) -> absl::Status {
    INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
    const bool input = c.opset() >= axes_input_since && c.has_input(1);
    const bool run_time = input && c.IsRunTimeInput(1) && !IsEmpty(c, 1);
    std::vector<int64_t> axes;
    if (input && !run_time && !IsEmpty(c, 1)) {
      INGOT_ASSIGN_OR_RETURN(axes, c.ConstantInts(1, "axes"));
    } else if (c.opset() < axes_input_since) {
      axes = c.Ints("axes");
    }
    const bool noop = c.Int("noop_with_empty_axes", 0) != 0;
    const bool keepdims = c.Int("keepdims", 1) != 0;
    Attrs attrs;
    if (!axes.empty() || noop) attrs.Set("axes", axes);
    if (!keepdims) attrs.Set("keepdims", int64_t{0});
    // ONNX defines the extremes of bools too, "any" and "all", and logarithms
    // of sums of integers: both are computed in another type.
    const DataType dtype = x.type().dtype;
    DataType computed = dtype;
    if (dtype.is_bool()) computed = DataType::UInt(8);
    if (dtype.is_integer() && absl::StartsWith(op, "reduce_log_sum")) {
      computed = DataType::Float(64);
    }
    INGOT_ASSIGN_OR_RETURN(x, c.Cast(x, computed));
    INGOT_ASSIGN_OR_RETURN(Value y, run_time
                                        ? ReduceAtRunTime(c, op, x, 1, keepdims)
                                        : c.Emit(op, {x}, std::move(attrs)));
    INGOT_ASSIGN_OR_RETURN(y, c.Cast(y, dtype));
    c.SetOutput(0, y);
    return absl::OkStatus();
  };
}

Converter Arg(const char* op) {
  return [op](NodeContext& c) -> absl::Status {
    INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
    Attrs attrs;
    attrs.Set("axis", c.Int("axis", 0));
    attrs.Set("keepdims", c.Int("keepdims", 1));
    attrs.Set("select_last_index", c.Int("select_last_index", 0));
    return c.Return(op, {x}, std::move(attrs));
  };
}

}  // namespace

void AddReductionConverters(ConverterTable* t) {
  t->Add("ReduceSum", 1, Reduce("reduce_sum", 13));
  static constexpr RelayName kReductions[] = {
      {"ReduceMean", 1, "reduce_mean"},
      {"ReduceMax", 1, "reduce_max"},
      {"ReduceMin", 1, "reduce_min"},
      {"ReduceProd", 1, "reduce_prod"},
      {"ReduceL1", 1, "reduce_l1"},
      {"ReduceL2", 1, "reduce_l2"},
      {"ReduceLogSum", 1, "reduce_log_sum"},
      {"ReduceLogSumExp", 1, "reduce_log_sum_exp"},
      {"ReduceSumSquare", 1, "reduce_sum_square"}};
  for (const auto& [onnx_op, since, op] : kReductions)
    t->Add(onnx_op, since, Reduce(op, 18));
  t->Add("ArgMax", 1, Arg("argmax"));
  t->Add("ArgMin", 1, Arg("argmin"));
}

}  // namespace ingot::onnx_frontend
