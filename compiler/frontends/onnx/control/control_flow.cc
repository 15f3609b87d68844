// Branches and loops. Those that importing can follow leave no trace: a branch
// is the one that is taken, a short loop its iterations one after the other. A
// run decides on the others (run_time_control.cc).
#include <algorithm>
#include <utility>

#include "compiler/frontends/onnx/control/run_time_control.h"
#include "compiler/frontends/onnx/control/scan.h"
#include "compiler/frontends/onnx/graph/converters.h"
#include "compiler/frontends/onnx/graph/importer.h"
#include "compiler/relay/interpreter/constant_value.h"

namespace ingot::onnx_frontend {
namespace {

constexpr int64_t kMaxIterations = 4096;
// Longer loops of tensors stay loops.
constexpr int64_t kMaxUnrolled = 64;

absl::StatusOr<Value> TensorOf(NodeContext& c, Binding* b,
                               absl::string_view what) {
  return c.importer()->Materialize(b, absl::StrCat(c.name(), "_", what));
}

absl::Status If(NodeContext& c) {
  const onnx::GraphProto* then_graph = c.Graph("then_branch");
  const onnx::GraphProto* else_graph = c.Graph("else_branch");
  if (then_graph == nullptr || else_graph == nullptr) {
    return c.Error("has no then_branch or no else_branch");
  }
  absl::StatusOr<Tensor> condition = c.ConstantInput(0, "condition");
  if (condition.ok()) {
    if (!condition->dtype().is_bool() || condition->NumElements() != 1) {
      return c.Error("the condition must be one bool");
    }
    absl::StatusOr<std::vector<Binding>> results = c.importer()->Inline(
        condition->values<bool>()[0] ? *then_graph : *else_graph, {});
    if (!results.ok()) {
      return SplitIfRankIsOpen(c, *then_graph, *else_graph, results.status());
    }
    c.outputs() = *std::move(results);
    return absl::OkStatus();
  }
  if (!absl::IsUnimplemented(condition.status())) return condition.status();
  return RunTimeIf(c, *then_graph, *else_graph);
}

// A binding that can be copied: initialisers become values.
absl::StatusOr<Binding> Copyable(NodeContext& c, int i) {
  if (!c.has_input(i)) return c.NotSupported("input ", i, " is left out");
  if (c.binding(i)->initializer != nullptr) {
    INGOT_RETURN_IF_ERROR(c.Input(i).status());
  }
  return *c.binding(i);
}

// Slices of a loop's scan output, as one tensor along a new first dimension.
absl::StatusOr<Value> StackSlices(NodeContext& c, std::vector<Binding> slices,
                                  int axis, bool backwards) {
  std::vector<Value> parts;
  for (Binding& b : slices) {
    INGOT_ASSIGN_OR_RETURN(Value v, TensorOf(c, &b, "slice"));
    Shape shape = ShapeOf(v);
    if (axis < 0) axis += static_cast<int>(shape.size()) + 1;
    if (axis < 0 || axis > static_cast<int>(shape.size())) {
      return c.Error("a scan axis is out of range");
    }
    shape.insert(shape.begin() + axis, tir::MakeInt(1));
    INGOT_ASSIGN_OR_RETURN(v, c.Reshape(v, shape));
    parts.push_back(v);
  }
  if (backwards) std::reverse(parts.begin(), parts.end());
  if (parts.empty()) return c.NotSupported("a loop of no steps");
  if (parts.size() == 1) return parts[0];
  Attrs attrs;
  attrs.Set("axis", int64_t{axis});
  return c.Emit("concat", parts, std::move(attrs), "scan");
}

// The value of a loop's condition, which must not depend on the inputs.
absl::StatusOr<bool> IsTrue(NodeContext& c, Binding* condition) {
  const Known* k = c.importer()->KnownOf(condition);
  int64_t value;
  if (k != nullptr && k->values.size() == 1 && k->values[0].AsInt(&value)) {
    return value != 0;
  }
  INGOT_ASSIGN_OR_RETURN(Value tensor, TensorOf(c, condition, "condition"));
  absl::StatusOr<Tensor> computed = ConstantValue(tensor);
  if (!computed.ok() || !computed->dtype().is_bool() ||
      computed->NumElements() != 1) {
    return c.NotSupported("a loop whose condition depends on data");
  }
  return computed->values<bool>()[0];
}

// Iteration by iteration: the number of iterations and every condition must be
// known.
absl::Status UnrolledLoop(NodeContext& c, const onnx::GraphProto* body) {
  int64_t iterations = kMaxIterations + 1;
  if (c.has_input(0)) {
    INGOT_ASSIGN_OR_RETURN(std::vector<int64_t> m, c.ConstantInts(0, "M"));
    if (m.size() != 1) return c.Error("M must be one number");
    iterations = m[0];
  }
  Binding condition;
  condition.known = Known{DataType::Bool(), {}, {KnownNumber::Of(int64_t{1})}};
  if (c.has_input(1)) {
    INGOT_ASSIGN_OR_RETURN(condition, Copyable(c, 1));
  }
  const int carried = std::max(c.num_inputs() - 2, 0);
  std::vector<Binding> state;
  for (int i = 0; i < carried; ++i) {
    INGOT_ASSIGN_OR_RETURN(Binding b, Copyable(c, 2 + i));
    state.push_back(std::move(b));
  }
  const int scans = body->output_size() - 1 - carried;
  if (scans < 0) return c.Error("its body has too few outputs");
  std::vector<std::vector<Binding>> collected(scans);
  for (int64_t iteration = 0; iteration < iterations; ++iteration) {
    INGOT_ASSIGN_OR_RETURN(const bool go, IsTrue(c, &condition));
    if (!go) break;
    if (iteration >= kMaxIterations) {
      return c.NotSupported("a loop of more than ", kMaxIterations, " steps");
    }
    Binding counter;
    counter.known = Known{DataType::Int(64), {}, {KnownNumber::Of(iteration)}};
    std::vector<Binding> inputs = {counter, condition};
    inputs.insert(inputs.end(), state.begin(), state.end());
    INGOT_ASSIGN_OR_RETURN(std::vector<Binding> results,
                           c.importer()->Inline(*body, std::move(inputs)));
    condition = results[0];
    for (int i = 0; i < carried; ++i) state[i] = results[1 + i];
    for (int i = 0; i < scans; ++i) {
      collected[i].push_back(results[1 + carried + i]);
    }
  }
  for (int i = 0; i < carried; ++i) c.SetOutput(i, state[i]);
  for (int i = 0; i < scans; ++i) {
    if (!c.wants_output(carried + i)) continue;
    INGOT_ASSIGN_OR_RETURN(Value v, StackSlices(c, collected[i], 0, false));
    c.SetOutput(carried + i, v);
  }
  return absl::OkStatus();
}

absl::Status Loop(NodeContext& c) {
  const onnx::GraphProto* body = c.Graph("body");
  if (body == nullptr) return c.Error("has no body");
  // Sequences that importing knows are worth more iterations, each of which
  // knows them again.
  int64_t most = kMaxUnrolled;
  for (int i = 2; i < c.num_inputs(); ++i) {
    if (c.has_input(i) && c.binding(i)->sequence != nullptr)
      most = kMaxIterations;
  }
  if (c.IsRunTimeInput(0)) return RunTimeLoop(c, *body);
  if (c.has_input(0)) {
    INGOT_ASSIGN_OR_RETURN(std::vector<tir::Expr> m, c.KnownInts(0, "M"));
    int64_t iterations = 0;
    if (m.size() == 1 &&
        (!tir::AsConstInt(m[0], &iterations) || iterations > most)) {
      return RunTimeLoop(c, *body);
    }
  }
  const absl::Status status = UnrolledLoop(c, body);
  if (!absl::IsUnimplemented(status)) return status;
  // Nothing uses the nodes that were imported on the way.
  c.outputs().assign(c.outputs().size(), Binding());
  return RunTimeLoop(c, *body);
}

// The number of steps, which all that is scanned must have.
absl::StatusOr<int64_t> StepsOf(NodeContext& c, const ScanOperands& scan) {
  int64_t steps = -1;
  for (size_t i = 0; i < scan.scanned.size(); ++i) {
    const Value& v = scan.scanned[i];
    int64_t extent;
    if (!tir::AsConstInt(ShapeOf(v)[scan.axes[i]], &extent) ||
        extent > kMaxIterations) {
      return c.NotSupported("a scan over ", relay::ToString(v.type()));
    }
    if (steps >= 0 && steps != extent) {
      return c.Error("its scan inputs differ in length");
    }
    steps = extent;
  }
  return steps;
}

// Element `at` of `x` along `axis`, without that dimension.
absl::StatusOr<Value> ElementAt(NodeContext& c, const Value& x, int64_t axis,
                                int64_t at) {
  Attrs attrs;
  attrs.Set("starts", relay::MakeShape({at}));
  attrs.Set("ends", relay::MakeShape({at + 1}));
  attrs.Set("axes", std::vector<int64_t>{axis});
  INGOT_ASSIGN_OR_RETURN(Value part,
                         c.Emit("slice", {x}, std::move(attrs), "step"));
  Shape shape = ShapeOf(part);
  shape.erase(shape.begin() + axis);
  return c.Reshape(part, shape);
}

absl::Status SetScanOutput(NodeContext& c, const ScanOperands& scan, int i,
                           Value v) {
  if (scan.batched) {
    Shape shape = ShapeOf(v);
    shape.insert(shape.begin(), tir::MakeInt(1));
    INGOT_ASSIGN_OR_RETURN(v, c.Reshape(v, shape));
  }
  c.SetOutput(i, v);
  return absl::OkStatus();
}

// Iteration by iteration over the extent that the scan inputs share.
absl::Status UnrolledScan(NodeContext& c, const onnx::GraphProto& body,
                          const ScanOperands& scan) {
  INGOT_ASSIGN_OR_RETURN(const int64_t steps, StepsOf(c, scan));
  const int states = static_cast<int>(scan.initial.size());
  const int results = static_cast<int>(scan.result_axes.size());
  std::vector<Binding> state(states);
  for (int i = 0; i < states; ++i) state[i].value = scan.initial[i];
  std::vector<std::vector<Binding>> collected(results);
  for (int64_t t = 0; t < steps; ++t) {
    std::vector<Binding> inputs = state;
    for (size_t i = 0; i < scan.scanned.size(); ++i) {
      const int64_t at = scan.directions[i] != 0 ? steps - 1 - t : t;
      Binding b;
      INGOT_ASSIGN_OR_RETURN(b.value,
                             ElementAt(c, scan.scanned[i], scan.axes[i], at));
      inputs.push_back(std::move(b));
    }
    INGOT_ASSIGN_OR_RETURN(std::vector<Binding> outputs,
                           c.importer()->Inline(body, std::move(inputs)));
    for (int i = 0; i < states; ++i) state[i] = outputs[i];
    for (int i = 0; i < results; ++i) {
      collected[i].push_back(outputs[states + i]);
    }
  }
  for (int i = 0; i < states; ++i) {
    INGOT_ASSIGN_OR_RETURN(Value v, TensorOf(c, &state[i], "state"));
    INGOT_RETURN_IF_ERROR(SetScanOutput(c, scan, i, v));
  }
  for (int i = 0; i < results; ++i) {
    if (!c.wants_output(states + i)) continue;
    INGOT_ASSIGN_OR_RETURN(
        Value v,
        StackSlices(c, collected[i], static_cast<int>(scan.result_axes[i]),
                    scan.result_directions[i] != 0));
    INGOT_RETURN_IF_ERROR(SetScanOutput(c, scan, states + i, v));
  }
  return absl::OkStatus();
}

absl::Status Scan(NodeContext& c) {
  const onnx::GraphProto* body = c.Graph("body");
  if (body == nullptr) return c.Error("has no body");
  INGOT_ASSIGN_OR_RETURN(const ScanOperands scan, ReadScan(c, *body));
  // A run finds the shapes of results that no step adds to.
  int64_t steps;
  const bool unrolls =
      scan.batched || (tir::AsConstInt(scan.extent(), &steps) && steps > 0 &&
                       steps <= kMaxUnrolled);
  return unrolls ? UnrolledScan(c, *body, scan) : RunTimeScan(c, *body, scan);
}

}  // namespace

void AddControlFlowConverters(ConverterTable* t) {
  t->Add("If", 1, &If);
  t->Add("Loop", 1, &Loop);
  t->Add("Scan", 8, &Scan);
}

}  // namespace ingot::onnx_frontend
