#include <utility>

#include "absl/strings/match.h"
#include "compiler/frontends/onnx/graph/converters.h"

namespace ingot::onnx_frontend {
namespace {

// `axes_input_since`: the operator set where axes became an input.
Converter Reduce(const char* op, int axes_input_since) {
  return [op, axes_input_since](NodeContext& c) -> absl::Status {
    INGOT_ASSIGN_OR_RETURN(Value x, c.Input(0));
    std::vector<int64_t> axes;
    bool given = false;
    if (c.opset() >= axes_input_since) {
      if (c.has_input(1)) {
        INGOT_ASSIGN_OR_RETURN(axes, c.ConstantInts(1, "axes"));
        given = true;
      }
    } else if (c.has_attr("axes")) {
      axes = c.Ints("axes");
      given = true;
    }
    const bool noop = c.Int("noop_with_empty_axes", 0) != 0;
    Attrs attrs;
    if (given && !axes.empty()) {
      attrs.Set("axes", axes);
    } else if (noop) {
      attrs.Set("axes", std::vector<int64_t>{});
    }
    if (c.Int("keepdims", 1) == 0) attrs.Set("keepdims", int64_t{0});
    // ONNX defines the extremes of bools too, "any" and "all", and logarithms
    // of sums of integers: both are computed in another type.
    const DataType dtype = x.type().dtype;
    DataType computed = dtype;
    if (dtype.is_bool()) computed = DataType::UInt(8);
    if (dtype.is_integer() && absl::StartsWith(op, "reduce_log_sum")) {
      computed = DataType::Float(64);
    }
    INGOT_ASSIGN_OR_RETURN(x, c.Cast(x, computed));
    INGOT_ASSIGN_OR_RETURN(Value y, c.Emit(op, {x}, std::move(attrs)));
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
  t->Add("ReduceSum", Reduce("reduce_sum", 13));
  static constexpr std::pair<const char*, const char*> kReductions[] = {
      {"ReduceMean", "reduce_mean"},
      {"ReduceMax", "reduce_max"},
      {"ReduceMin", "reduce_min"},
      {"ReduceProd", "reduce_prod"},
      {"ReduceL1", "reduce_l1"},
      {"ReduceL2", "reduce_l2"},
      {"ReduceLogSum", "reduce_log_sum"},
      {"ReduceLogSumExp", "reduce_log_sum_exp"},
      {"ReduceSumSquare", "reduce_sum_square"}};
  for (const auto& [onnx_op, op] : kReductions) t->Add(onnx_op, Reduce(op, 18));
  t->Add("ArgMax", Arg("argmax"));
  t->Add("ArgMin", Arg("argmin"));
}

}  // namespace ingot::onnx_frontend
