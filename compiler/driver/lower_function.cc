#include "compiler/driver/lower_function.h"

#include <cstring>
#include <map>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/driver/one_row.h"
#include "compiler/relay/op.h"
#include "compiler/relay/states.h"
#include "compiler/schedules/schedule_kernel.h"
#include "compiler/te/lower.h"
#include "compiler/te/te.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/visitor.h"
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

// Symbols whose values are known.
using Known = std::map<const tir::Var*, tir::Expr>;

relay::Shape With(const Known& known, relay::Shape shape) {
  if (known.empty()) return shape;
  for (tir::Expr& dim : shape) {
    dim = tir::Simplify(tir::Substitute(dim, known));
  }
  return shape;
}

std::vector<relay::TensorType> With(const Known& known,
                                    std::vector<relay::TensorType> types) {
  for (relay::TensorType& type : types) {
    type.shape = With(known, std::move(type.shape));
  }
  return types;
}

relay::Attrs With(const Known& known, relay::Attrs attrs) {
  const relay::Attrs given = attrs;
  for (const auto& [name, value] : given.values()) {
    const auto* shape = std::get_if<relay::Shape>(&value);
    if (shape != nullptr) attrs.Set(name, With(known, *shape));
  }
  return attrs;
}

// The joined definitions of a function's operators.
struct Definition {
  te::Graph graph;
  std::vector<te::Tensor> inputs, outputs;
};

absl::Status Define(const relay::Function& function, const Known& known,
                    Definition* d) {
  std::map<Value, te::Tensor> tensors;
  const int updated = relay::UpdatedInput(function);
  for (size_t i = 0; i < function.inputs.size(); ++i) {
    Node* input = function.inputs[i];
    const relay::TensorType& type = input->outputs[0];
    te::Tensor t =
        d->graph.Placeholder(input->name, type.dtype, With(known, type.shape));
    tensors[Value{input, 0}] = t;
    // A result that is in the place of an input is the only one to be there.
    if (static_cast<int>(i) != updated) d->inputs.push_back(t);
  }
  for (const auto& node : function.nodes()) {
    if (node->kind == NodeKind::kInput) continue;
    if (node->kind == NodeKind::kConstant) {
      INGOT_ASSIGN_OR_RETURN(tir::Expr scalar, ScalarOf(*node));
      tensors[Value{node.get(), 0}] =
          d->graph.Compute(node->name, node->outputs[0].shape,
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
    const relay::Attrs attrs = With(known, node->attrs);
    const std::vector<relay::TensorType> types = With(known, node->outputs);
    absl::StatusOr<std::vector<te::Tensor>> results = node->op->compute(
        relay::ComputeContext{d->graph, operands, attrs, types, node->name});
    if (!results.ok()) {
      return absl::Status(
          results.status().code(),
          absl::StrCat(node->name, ": ", results.status().message()));
    }
    for (size_t i = 0; i < results->size(); ++i) {
      tensors[Value{node.get(), static_cast<int>(i)}] = (*results)[i];
    }
  }
  for (const Value& v : function.outputs) d->outputs.push_back(tensors.at(v));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<tir::PrimFunc> LowerFunction(
    const relay::Function& function, absl::string_view name,
    absl::Span<const te::ScheduleTemplate> templates,
    const MachineModel& machine, const PickerForGraph& picker_for) {
  const auto lower = [&](const Definition& d) -> absl::StatusOr<tir::PrimFunc> {
    const te::ParameterPicker pick =
        picker_for == nullptr ? nullptr : picker_for(d.graph, d.outputs);
    INGOT_ASSIGN_OR_RETURN(
        const te::Schedule schedule,
        te::ScheduleKernel(d.graph, d.outputs, templates, machine, pick));
    return te::Lower(name, d.graph, d.inputs, d.outputs, schedule);
  };
  Definition any, one;
  INGOT_RETURN_IF_ERROR(Define(function, {}, &any));
  const std::vector<const tir::Var*> symbols = RowSymbols(any.graph);
  absl::StatusOr<tir::PrimFunc> lowered = lower(any);
  if (lowered.ok() && !symbols.empty()) {
    Known known;
    for (const tir::Var* symbol : symbols) known[symbol] = tir::MakeInt(1);
    INGOT_RETURN_IF_ERROR(Define(function, known, &one));
    const absl::StatusOr<tir::PrimFunc> row = lower(one);
    if (row.ok()) return ChooseByRows(symbols, *row, *lowered);
    lowered = row;
  }
  if (lowered.ok()) return lowered;
  return absl::Status(
      lowered.status().code(),
      absl::StrCat("kernel ", function.name, ": ", lowered.status().message()));
}

}  // namespace ingot
