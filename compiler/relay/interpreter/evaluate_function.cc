// A whole function, node by node.
#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "compiler/relay/dim_text.h"
#include "compiler/relay/interpreter/at_node.h"
#include "compiler/relay/interpreter/bindings.h"
#include "compiler/relay/interpreter/evaluate.h"
#include "compiler/relay/op.h"
#include "compiler/relay/sequence_step.h"

namespace ingot::relay {
namespace {

absl::StatusOr<Tensor> TensorOf(const TensorOrSequence& value) {
  if (const auto* tensor = std::get_if<Tensor>(&value)) return *tensor;
  return absl::InvalidArgumentError("a sequence where a tensor must be");
}

// One evaluation of a module.
struct Evaluation {
  const Module& module;
  std::map<const Function*, int64_t> runs;  // of each that have begun
};

absl::StatusOr<Values> Run(Evaluation* e, const Function& function,
                           absl::Span<const TensorOrSequence> inputs,
                           Bindings bindings);

absl::StatusOr<Values> Call(Evaluation* e, const std::string& name,
                            absl::Span<const TensorOrSequence> operands) {
  const Function* callee = e->module.Find(name);
  if (callee == nullptr) {
    return absl::NotFoundError(absl::StrCat("no function @", name));
  }
  // Symbols are the module's, but functions of the same structure share one
  // body, whose symbols are bound again by the operands of each call.
  Bindings inner;
  for (size_t i = 0; i < callee->inputs.size(); ++i) {
    INGOT_RETURN_IF_ERROR(
        inner.Bind(callee->inputs[i]->outputs[0], operands[i]));
  }
  return Run(e, *callee, operands, std::move(inner));
}

absl::StatusOr<bool> IsTrue(const TensorOrSequence& value) {
  INGOT_ASSIGN_OR_RETURN(const Tensor condition, TensorOf(value));
  if (condition.NumElements() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("the condition is ", condition.TypeString()));
  }
  return condition.values<bool>()[0];
}

absl::StatusOr<Tensor> ScalarI64(int64_t value) {
  INGOT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Empty(DataType::Int(64), {}));
  *tensor.mutable_data<int64_t>() = value;
  return tensor;
}

// The state that random numbers of a run start from, with seed 0.
absl::StatusOr<Tensor> RandomState(int64_t run) {
  INGOT_ASSIGN_OR_RETURN(Tensor state, Tensor::Empty(DataType::Int(64), {2}));
  state.mutable_data<int64_t>()[0] = 0;
  state.mutable_data<int64_t>()[1] = run;
  return state;
}

// Joins the tensors that iterations gave, along a new first dimension. `type`
// is that of the result, for the case that there were none.
absl::StatusOr<Tensor> Stack(const TensorSequence& parts,
                             const TensorType& type, const Bindings& bindings) {
  if (parts.tensors.empty()) {
    std::vector<int64_t> dims = {0};
    for (size_t d = 1; d < type.shape.size(); ++d) {
      int64_t value = 0;  // of a dimension that only an iteration would tell
      tir::AsConstInt(bindings({type.shape[d]})[0], &value);
      dims.push_back(value);
    }
    return Tensor::Empty(type.dtype, dims);
  }
  SequenceOperand operand;
  operand.sequence = &parts;
  INGOT_ASSIGN_OR_RETURN(const TensorOrSequence whole,
                         RunSequenceStep({SequenceOp::kConcat, parts.dtype,
                                          /*axis=*/0, /*flag=*/true},
                                         {operand}));
  return TensorOf(whole);
}

absl::StatusOr<Values> RunLoop(Evaluation* e, const Node& node,
                               absl::Span<const TensorOrSequence> operands,
                               const Bindings& bindings) {
  const size_t carried = node.attrs.Get<int64_t>("carried");
  const std::string& body = node.attrs.Get<std::string>("body");
  int64_t iterations = std::numeric_limits<int64_t>::max();
  if (node.inputs[0].node != nullptr) {
    INGOT_ASSIGN_OR_RETURN(const Tensor count, TensorOf(operands[0]));
    iterations = count.values<int64_t>()[0];
  }
  bool go_on = true;
  if (node.inputs[1].node != nullptr) {
    INGOT_ASSIGN_OR_RETURN(go_on, IsTrue(operands[1]));
  }
  Values inputs(operands.begin() + 1, operands.end());
  std::vector<TensorSequence> slices;
  for (size_t i = carried; i < node.outputs.size(); ++i) {
    slices.push_back({node.outputs[i].dtype, false, {}});
  }
  for (int64_t iteration = 0; go_on && iteration < iterations; ++iteration) {
    INGOT_ASSIGN_OR_RETURN(inputs[0], ScalarI64(iteration));
    INGOT_ASSIGN_OR_RETURN(Values results, Call(e, body, inputs));
    INGOT_ASSIGN_OR_RETURN(go_on, IsTrue(results[0]));
    std::copy(results.begin() + 1, results.begin() + 1 + carried,
              inputs.begin() + 1);
    for (size_t i = 0; i < slices.size(); ++i) {
      INGOT_ASSIGN_OR_RETURN(Tensor slice, TensorOf(results[1 + carried + i]));
      slices[i].tensors.push_back(std::move(slice));
    }
  }
  Values results(inputs.begin() + 1, inputs.begin() + 1 + carried);
  for (size_t i = 0; i < slices.size(); ++i) {
    INGOT_ASSIGN_OR_RETURN(
        Tensor stack, Stack(slices[i], node.outputs[carried + i], bindings));
    results.push_back(std::move(stack));
  }
  return results;
}

absl::StatusOr<TensorOrSequence> RunSequenceNode(
    const Node& node, absl::Span<const TensorOrSequence> values) {
  std::vector<SequenceOperand> operands;
  for (const TensorOrSequence& value : values) {
    operands.push_back(
        {std::get_if<Tensor>(&value), std::get_if<TensorSequence>(&value)});
  }
  return RunSequenceStep(SequenceStepOf(node), operands);
}

// Checks what inference took for granted of symbolic dimensions: `node` has
// numbers in their place, and `operands` are its operands.
absl::Status CheckOperands(const Node& node,
                           absl::Span<const Tensor> operands) {
  const bool is_static = std::all_of(
      node.inputs.begin(), node.inputs.end(), [](const Value& input) {
        return input.node == nullptr || ConstShape(input.type().shape);
      });
  if (is_static) return absl::OkStatus();
  std::vector<Node> constants(operands.size());
  std::vector<Value> inputs(operands.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i].defined()) continue;
    constants[i].kind = NodeKind::kConstant;
    constants[i].constant = operands[i];
    constants[i].outputs = {
        {operands[i].dtype(), MakeShape(operands[i].shape())}};
    inputs[i].node = &constants[i];
  }
  const absl::Status status = InferTypes(*node.op, inputs, node.attrs).status();
  return status.ok() ? status : AtNode(node, status);
}

absl::StatusOr<Values> RunNode(Evaluation* e, const Node& node, int64_t run,
                               absl::Span<const TensorOrSequence> operands,
                               Bindings* bindings) {
  Values results;
  switch (node.kind) {
    case NodeKind::kCallFunction:
      return Call(e, node.callee, operands);
    case NodeKind::kIf: {
      INGOT_ASSIGN_OR_RETURN(const bool then, IsTrue(operands[0]));
      const char* const branch = then ? "then" : "else";
      if (!node.attrs.Has(branch)) {
        return absl::InvalidArgumentError(
            absl::StrCat("the condition is ", then ? "true" : "false",
                         ", which is not supported for these shapes"));
      }
      INGOT_ASSIGN_OR_RETURN(
          results,
          Call(e, node.attrs.Get<std::string>(branch), operands.subspan(1)));
      break;
    }
    case NodeKind::kLoop: {
      INGOT_ASSIGN_OR_RETURN(results, RunLoop(e, node, operands, *bindings));
      break;
    }
    default:
      if (node.TakesSequences()) {
        INGOT_ASSIGN_OR_RETURN(TensorOrSequence result,
                               RunSequenceNode(node, operands));
        results.push_back(std::move(result));
        break;
      }
      if (node.op->step == ExecutorStep::kCopy) return Values{operands[0]};
      if (node.op->step == ExecutorStep::kRandomState) {
        INGOT_ASSIGN_OR_RETURN(Tensor state, RandomState(run));
        return Values{state};
      }
      std::vector<Tensor> tensors;
      for (const TensorOrSequence& operand : operands) {
        INGOT_ASSIGN_OR_RETURN(Tensor tensor, TensorOf(operand));
        tensors.push_back(std::move(tensor));
      }
      if (node.op->step == ExecutorStep::kBindDims) {
        return bindings->BindElements(node, tensors[0]);
      }
      const Node bound = (*bindings)(node);
      INGOT_RETURN_IF_ERROR(CheckOperands(bound, tensors));
      INGOT_ASSIGN_OR_RETURN(tensors, EvaluateNode(bound, tensors));
      return Values(tensors.begin(), tensors.end());
  }
  INGOT_RETURN_IF_ERROR(bindings->BindResults(node, results));
  return results;
}

absl::StatusOr<Values> Run(Evaluation* e, const Function& function,
                           absl::Span<const TensorOrSequence> inputs,
                           Bindings bindings) {
  const int64_t run = e->runs[&function]++;
  std::map<Value, TensorOrSequence> values;
  for (size_t i = 0; i < function.inputs.size(); ++i) {
    values[Value{function.inputs[i]}] = inputs[i];
  }
  for (const auto& node : function.nodes()) {
    if (node->kind == NodeKind::kInput) continue;
    if (node->kind == NodeKind::kConstant) {
      values[Value{node.get()}] = *node->constant;
      continue;
    }
    Values operands;
    for (const Value& input : node->inputs) {
      operands.push_back(input.node == nullptr ? Tensor() : values[input]);
    }
    absl::StatusOr<Values> results =
        RunNode(e, *node, run, operands, &bindings);
    if (!results.ok()) {
      return node->kind == NodeKind::kOp && !node->IsExecutorStep()
                 ? results.status()
                 : AtNode(*node, results.status());
    }
    for (size_t i = 0; i < results->size(); ++i) {
      values[Value{node.get(), static_cast<int>(i)}] = (*results)[i];
    }
  }
  Values outputs;
  for (const Value& output : function.outputs) {
    outputs.push_back(values[output]);
  }
  return outputs;
}

}  // namespace

absl::StatusOr<std::vector<Tensor>> EvaluateFunction(
    const Module& module, const Function& function,
    absl::Span<const Tensor> inputs) {
  INGOT_ASSIGN_OR_RETURN(
      const Values outputs,
      EvaluateFunctionOnSequences(module, function,
                                  Values(inputs.begin(), inputs.end())));
  std::vector<Tensor> tensors;
  for (const TensorOrSequence& output : outputs) {
    INGOT_ASSIGN_OR_RETURN(Tensor tensor, TensorOf(output));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

absl::StatusOr<std::vector<TensorOrSequence>> EvaluateFunctionOnSequences(
    const Module& module, const Function& function,
    absl::Span<const TensorOrSequence> inputs) {
  if (inputs.size() != function.inputs.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("@", QuoteName(function.name), " takes ",
                     function.inputs.size(), " inputs, not ", inputs.size()));
  }
  Bindings bindings;
  for (size_t i = 0; i < inputs.size(); ++i) {
    INGOT_RETURN_IF_ERROR(
        bindings.Bind(function.inputs[i]->outputs[0], inputs[i]));
  }
  Evaluation evaluation{module, {}};
  return Run(&evaluation, function, inputs, std::move(bindings));
}

}  // namespace ingot::relay
