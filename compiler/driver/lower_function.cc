#include "compiler/driver/lower_function.h"

#include <cstring>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/relay/op.h"
#include "compiler/relay/states.h"
#include "compiler/schedules/schedule_kernel.h"
#include "compiler/te/lower.h"
#include "compiler/te/te.h"
#include "compiler/tir/arith/simplify.h"
#include "runtime/float16.h"

namespace ingot {
namespace {

using relay::Node;
using relay::NodeKind;
using relay::Value;

// The only element of a constant.
absl::StatusOr<tir::Expr> ScalarOf(const Node& node) {
  const Tensor& tensor = *node.constant;
  const DataType t = tensor.dtype();
  if (tensor.NumElements() != 1) {
    return absl::InternalError(
        absl::StrCat("constant ", node.name, " of type ", tensor.TypeString(),
                     " is inside a kernel; it should be a parameter"));
  }
  if (t == DataType::Float(32)) {
    return tir::MakeFloat(tensor.data<float>()[0], t);
  }
  if (t == DataType::Float(64)) {
    return tir::MakeFloat(tensor.data<double>()[0], t);
  }
  if (t == DataType::Float(16)) {
    return tir::MakeFloat(HalfToFloat(tensor.data<uint16_t>()[0]), t);
  }
  if (t == DataType::BFloat16()) {
    return tir::MakeFloat(BFloat16ToFloat(tensor.data<uint16_t>()[0]), t);
  }
  // Little-endian, sign-extended where it is signed.
  int64_t value = 0;
  memcpy(&value, tensor.raw_data(), t.bytes());
  if (t.is_int() && t.bits < 64) {
    const int shift = 64 - t.bits;
    value =
        static_cast<int64_t>(static_cast<uint64_t>(value) << shift) >> shift;
  }
  return tir::MakeInt(value, t);
}

}  // namespace

absl::StatusOr<tir::PrimFunc> LowerFunction(
    const relay::Function& function, absl::string_view name,
    absl::Span<const te::ScheduleTemplate> templates,
    const MachineModel& machine, const PickerForGraph& picker_for) {
  te::Graph graph;
  std::map<Value, te::Tensor> tensors;
  std::vector<te::Tensor> inputs;
  const int updated = relay::UpdatedInput(function);
  for (size_t i = 0; i < function.inputs.size(); ++i) {
    Node* input = function.inputs[i];
    te::Tensor t = graph.Placeholder(input->name, input->outputs[0].dtype,
                                     input->outputs[0].shape);
    tensors[Value{input, 0}] = t;
    // A result that is in the place of an input is the only one to be there.
    if (static_cast<int>(i) != updated) inputs.push_back(t);
  }
  for (const auto& node : function.nodes()) {
    if (node->kind == NodeKind::kInput) continue;
    if (node->kind == NodeKind::kConstant) {
      INGOT_ASSIGN_OR_RETURN(tir::Expr scalar, ScalarOf(*node));
      tensors[Value{node.get(), 0}] =
          graph.Compute(node->name, node->outputs[0].shape,
                        [&](const te::Indices&) { return scalar; });
      continue;
    }
    if (node->kind != NodeKind::kOp || node->op->compute == nullptr) {
      return absl::InternalError(
          absl::StrCat("kernel ", function.name, " holds the node ", node->name,
                       " that has no compute definition"));
    }
    std::vector<te::Tensor> operands;
    for (const Value& v : node->inputs) {
      operands.push_back(v.node == nullptr ? te::Tensor{} : tensors.at(v));
    }
    absl::StatusOr<std::vector<te::Tensor>> results =
        node->op->compute(relay::ComputeContext{graph, operands, node->attrs,
                                                node->outputs, node->name});
    if (!results.ok()) {
      return absl::Status(
          results.status().code(),
          absl::StrCat(node->name, ": ", results.status().message()));
    }
    for (size_t i = 0; i < results->size(); ++i) {
      tensors[Value{node.get(), static_cast<int>(i)}] = (*results)[i];
    }
  }
  std::vector<te::Tensor> outputs;
  for (const Value& v : function.outputs) outputs.push_back(tensors.at(v));

  auto annotate = [&](const absl::Status& s) {
    return absl::Status(
        s.code(), absl::StrCat("kernel ", function.name, ": ", s.message()));
  };
  const te::ParameterPicker pick =
      picker_for == nullptr ? nullptr : picker_for(graph, outputs);
  absl::StatusOr<te::Schedule> schedule =
      te::ScheduleKernel(graph, outputs, templates, machine, pick);
  if (!schedule.ok()) return annotate(schedule.status());
  absl::StatusOr<tir::PrimFunc> lowered =
      te::Lower(name, graph, inputs, outputs, *schedule);
  if (!lowered.ok()) return annotate(lowered.status());
  return lowered;
}

}  // namespace ingot
