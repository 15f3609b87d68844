#include "compiler/relay/passes/evaluate.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "compiler/relay/dim_text.h"
#include "compiler/relay/list_step.h"
#include "compiler/relay/op.h"
#include "compiler/status_macros.h"
#include "compiler/te/lower.h"
#include "compiler/te/schedule.h"
#include "compiler/te/te.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/interpreter.h"
#include "compiler/tir/visitor.h"

namespace ingot::relay {
namespace {

absl::Status AtNode(const Node& node, const absl::Status& status) {
  return absl::Status(
      status.code(),
      absl::StrCat("node %", QuoteName(node.name), ": ", status.message()));
}

// Whether no attribute holds a symbol.
bool HasStaticAttrs(const Node& node) {
  for (const auto& [name, value] : node.attrs.values()) {
    const auto* shape = std::get_if<Shape>(&value);
    if (shape != nullptr && !ConstShape(*shape)) return false;
  }
  return true;
}

std::vector<te::Expr> DimsOf(absl::Span<const int64_t> shape) {
  return MakeShape(shape);
}

// By the operator's definition, plain loops and the interpreter.
absl::StatusOr<std::vector<Tensor>> Interpret(const Node& node,
                                              absl::Span<const Tensor> operands,
                                              std::vector<Tensor> results,
                                              int64_t max_trips) {
  if (node.op->compute == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat("the interpreter cannot compute ", node.op->name,
                     ", which only some targets can"));
  }
  te::Graph graph;
  std::vector<te::Tensor> inputs, given;
  std::vector<Tensor> arguments;
  for (size_t i = 0; i < operands.size(); ++i) {
    inputs.emplace_back();
    if (!operands[i].defined()) continue;
    inputs.back() =
        graph.Placeholder(absl::StrCat("in", i), operands[i].dtype(),
                          DimsOf(operands[i].shape()));
    given.push_back(inputs.back());
    arguments.push_back(operands[i]);
  }
  INGOT_ASSIGN_OR_RETURN(
      std::vector<te::Tensor> outputs,
      node.op->compute(ComputeContext{graph, inputs, node.attrs, node.outputs,
                                      node.op->name}));
  if (outputs.size() != results.size()) {
    return absl::InternalError(
        absl::StrCat(node.op->name, " computes ", outputs.size(), " results"));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    // A kernel writes every output: an operand handed through is copied.
    const te::Tensor value = outputs[i];
    bool copy = graph.Find(value)->kind == te::OperationKind::kPlaceholder;
    for (size_t j = 0; j < i; ++j) copy = copy || outputs[j] == value;
    if (copy) {
      outputs[i] =
          graph.Compute(absl::StrCat("out", i), value.shape(),
                        [&](const te::Indices& at) { return value(at); });
    }
  }
  INGOT_ASSIGN_OR_RETURN(te::Schedule schedule,
                         te::Schedule::Create(graph, outputs));
  INGOT_ASSIGN_OR_RETURN(
      tir::PrimFunc func,
      te::Lower(node.op->name, graph, given, outputs, schedule));
  for (const Tensor& result : results) arguments.push_back(result);
  tir::InterpretOptions options;
  options.max_trips = max_trips;
  INGOT_RETURN_IF_ERROR(tir::Interpret(func, arguments, options));
  return results;
}

// One element of a kUniform operator for all of them.
absl::StatusOr<Tensor> Repeat(const Node& node,
                              absl::Span<const int64_t> shape) {
  Node one = node;
  one.attrs.Set("shape", Shape{});
  one.outputs[0].shape.clear();
  INGOT_ASSIGN_OR_RETURN(const Tensor element,
                         Tensor::Empty(node.outputs[0].dtype, {}));
  INGOT_ASSIGN_OR_RETURN(const std::vector<Tensor> results,
                         Interpret(one, {}, {element}, 0));
  INGOT_ASSIGN_OR_RETURN(Tensor all, Tensor::Empty(element.dtype(), shape));
  auto* to = static_cast<char*>(all.mutable_raw_data());
  for (int64_t i = 0; i < all.NumElements(); ++i, to += element.bytes()) {
    std::memcpy(to, results[0].raw_data(), element.bytes());
  }
  return all;
}

// The result of a view, or by the short cut that the operator has; nothing
// where it has none.
absl::StatusOr<std::optional<Tensor>> ComputeKnown(
    const Node& node, absl::Span<const Tensor> operands,
    absl::Span<const int64_t> shape) {
  const bool known = !operands.empty() &&
                     std::all_of(operands.begin(), operands.end(),
                                 [](const Tensor& x) { return x.defined(); });
  if (!known) return std::nullopt;
  if (node.IsView()) {
    INGOT_ASSIGN_OR_RETURN(Tensor y, operands[0].Reshape(shape));
    return y;
  }
  if (node.op->compute_known == nullptr) return std::nullopt;
  return node.op->compute_known(KnownCall{node, operands, shape});
}

using Values = std::vector<TensorOrList>;

absl::StatusOr<Tensor> TensorOf(const TensorOrList& value) {
  if (const auto* tensor = std::get_if<Tensor>(&value)) return *tensor;
  return absl::InvalidArgumentError("a list where a tensor must be");
}

// Symbols bound to numbers.
class Bindings {
 public:
  // Binds the symbols that stand alone as a dimension of `type`.
  absl::Status Bind(const TensorType& type, const TensorOrList& value) {
    if (const auto* list = std::get_if<TensorList>(&value)) {
      absl::Status status = list->Check();
      if (!status.ok() || (type.is_list && type.dtype == list->dtype)) {
        return status;
      }
      return absl::InvalidArgumentError(absl::StrCat(
          "a ", list->TypeString(), " does not fit ", ToString(type)));
    }
    if (type.is_list) {
      return absl::InvalidArgumentError(
          absl::StrCat("a tensor does not fit ", ToString(type)));
    }
    const Tensor& tensor = std::get<Tensor>(value);
    bool fits = tensor.defined() && tensor.dtype() == type.dtype &&
                tensor.shape().size() == type.shape.size();
    for (size_t d = 0; fits && d < type.shape.size(); ++d) {
      const tir::Expr extent = tir::MakeInt(tensor.shape()[d]);
      int64_t known;
      if (const auto* var = tir::As<tir::Var>(type.shape[d])) {
        values_.emplace(var, extent);
      } else if (tir::AsConstInt(type.shape[d], &known)) {
        fits = known == tensor.shape()[d];
      }
    }
    if (fits) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("a tensor ", tensor.defined() ? tensor.TypeString() : "",
                     " does not fit ", ToString(type)));
  }

  // The results of bind_dims, whose symbols get the elements of `x`.
  absl::StatusOr<Values> BindElements(const Node& node, const Tensor& x) {
    const Shape& symbols = node.attrs.Get<Shape>("symbols");
    std::vector<int64_t> dims;
    for (size_t i = 0; i < symbols.size(); ++i) {
      const int64_t value = x.values<int64_t>()[i];
      const auto* var = tir::As<tir::Var>(symbols[i]);
      if (value < 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("the dimension ", var->name, " would be ", value));
      }
      values_[var] = tir::MakeInt(value);
      dims.push_back(value);
    }
    dims.push_back(0);
    INGOT_ASSIGN_OR_RETURN(Tensor told, Tensor::Empty(DataType::Bool(), dims));
    return Values{told};
  }

  // Symbols that stand alone in the results of a branch, a loop or an operator
  // on lists and have no value yet.
  absl::Status BindResults(const Node& node, const Values& results) {
    for (size_t i = 0; i < results.size(); ++i) {
      INGOT_RETURN_IF_ERROR(Bind(node.outputs[i], results[i]));
    }
    return absl::OkStatus();
  }

  Shape operator()(const Shape& shape) const {
    Shape result;
    for (const Dim& dim : shape) {
      result.push_back(tir::Simplify(tir::Substitute(dim, values_)));
    }
    return result;
  }

  // `node` as it is with these numbers.
  Node operator()(const Node& node) const {
    Node bound = node;
    for (TensorType& type : bound.outputs) type.shape = (*this)(type.shape);
    for (const auto& [name, value] : node.attrs.values()) {
      if (const auto* shape = std::get_if<Shape>(&value)) {
        bound.attrs.Set(name, (*this)(*shape));
      }
    }
    return bound;
  }

 private:
  std::map<const tir::Var*, tir::Expr> values_;
};

// One evaluation of a module.
struct Evaluation {
  const Module& module;
  std::map<const Function*, int64_t> runs;  // of each that have begun
};

absl::StatusOr<Values> Run(Evaluation* e, const Function& function,
                           absl::Span<const TensorOrList> inputs,
                           Bindings bindings);

absl::StatusOr<Values> Call(Evaluation* e, const std::string& name,
                            absl::Span<const TensorOrList> operands) {
  const Function* callee = e->module.Find(name);
  if (callee == nullptr) {
    return absl::NotFoundError(absl::StrCat("no function @", name));
  }
  // Symbols are the module's, but functions of the same structure share one
  // body, whose symbols the operands bind anew.
  Bindings inner;
  for (size_t i = 0; i < callee->inputs.size(); ++i) {
    INGOT_RETURN_IF_ERROR(
        inner.Bind(callee->inputs[i]->outputs[0], operands[i]));
  }
  return Run(e, *callee, operands, std::move(inner));
}

absl::StatusOr<bool> IsTrue(const TensorOrList& value) {
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

// Of a run, with 0 as the executor's seed.
absl::StatusOr<Tensor> RandomState(int64_t run) {
  INGOT_ASSIGN_OR_RETURN(Tensor state, Tensor::Empty(DataType::Int(64), {2}));
  state.mutable_data<int64_t>()[0] = 0;
  state.mutable_data<int64_t>()[1] = run;
  return state;
}

// Tensors of one type as one, along a new first dimension. `type` is that of
// the result, for the case that there are none.
absl::StatusOr<Tensor> Stack(const std::vector<Tensor>& parts,
                             const TensorType& type, const Bindings& bindings) {
  std::vector<int64_t> dims = {static_cast<int64_t>(parts.size())};
  if (parts.empty()) {
    for (size_t d = 1; d < type.shape.size(); ++d) {
      int64_t value = 0;  // of a dimension that only a trip would tell
      tir::AsConstInt(bindings({type.shape[d]})[0], &value);
      dims.push_back(value);
    }
    return Tensor::Empty(type.dtype, dims);
  }
  dims.insert(dims.end(), parts[0].shape().begin(), parts[0].shape().end());
  INGOT_ASSIGN_OR_RETURN(Tensor stack, Tensor::Empty(parts[0].dtype(), dims));
  auto* to = static_cast<char*>(stack.mutable_raw_data());
  for (const Tensor& part : parts) {
    if (part.shape() != parts[0].shape()) {
      return absl::InvalidArgumentError(
          absl::StrCat("a trip gives ", part.TypeString(), ", another gave ",
                       parts[0].TypeString()));
    }
    std::memcpy(to, part.raw_data(), part.bytes());
    to += part.bytes();
  }
  return stack;
}

absl::StatusOr<Values> RunLoop(Evaluation* e, const Node& node,
                               absl::Span<const TensorOrList> operands,
                               const Bindings& bindings) {
  const size_t carried = node.attrs.Get<int64_t>("carried");
  const std::string& body = node.attrs.Get<std::string>("body");
  int64_t trips = std::numeric_limits<int64_t>::max();
  if (node.inputs[0].node != nullptr) {
    INGOT_ASSIGN_OR_RETURN(const Tensor count, TensorOf(operands[0]));
    trips = count.values<int64_t>()[0];
  }
  bool go_on = true;
  if (node.inputs[1].node != nullptr) {
    INGOT_ASSIGN_OR_RETURN(go_on, IsTrue(operands[1]));
  }
  Values inputs(operands.begin() + 1, operands.end());
  std::vector<std::vector<Tensor>> slices(node.outputs.size() - carried);
  for (int64_t trip = 0; go_on && trip < trips; ++trip) {
    INGOT_ASSIGN_OR_RETURN(inputs[0], ScalarI64(trip));
    INGOT_ASSIGN_OR_RETURN(Values results, Call(e, body, inputs));
    INGOT_ASSIGN_OR_RETURN(go_on, IsTrue(results[0]));
    std::copy(results.begin() + 1, results.begin() + 1 + carried,
              inputs.begin() + 1);
    for (size_t i = 0; i < slices.size(); ++i) {
      INGOT_ASSIGN_OR_RETURN(Tensor slice, TensorOf(results[1 + carried + i]));
      slices[i].push_back(std::move(slice));
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

absl::StatusOr<TensorOrList> RunListNode(
    const Node& node, absl::Span<const TensorOrList> values) {
  std::vector<ListOperand> operands;
  for (const TensorOrList& value : values) {
    operands.push_back(
        {std::get_if<Tensor>(&value), std::get_if<TensorList>(&value)});
  }
  return RunListStep(ListStepOf(node), operands);
}

absl::StatusOr<Values> RunNode(Evaluation* e, const Node& node, int64_t run,
                               absl::Span<const TensorOrList> operands,
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
        INGOT_ASSIGN_OR_RETURN(TensorOrList result,
                               RunListNode(node, operands));
        results.push_back(std::move(result));
        break;
      }
      if (node.op->step == ExecutorStep::kRandomState) {
        INGOT_ASSIGN_OR_RETURN(Tensor state, RandomState(run));
        return Values{state};
      }
      std::vector<Tensor> tensors;
      for (const TensorOrList& operand : operands) {
        INGOT_ASSIGN_OR_RETURN(Tensor tensor, TensorOf(operand));
        tensors.push_back(std::move(tensor));
      }
      if (node.op->step == ExecutorStep::kBindDims) {
        return bindings->BindElements(node, tensors[0]);
      }
      INGOT_ASSIGN_OR_RETURN(tensors, EvaluateNode((*bindings)(node), tensors));
      return Values(tensors.begin(), tensors.end());
  }
  INGOT_RETURN_IF_ERROR(bindings->BindResults(node, results));
  return results;
}

absl::StatusOr<Values> Run(Evaluation* e, const Function& function,
                           absl::Span<const TensorOrList> inputs,
                           Bindings bindings) {
  const int64_t run = e->runs[&function]++;
  std::map<Value, TensorOrList> values;
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

bool IsKnown(const Node& node) {
  return HasStaticAttrs(node) &&
         std::all_of(
             node.inputs.begin(), node.inputs.end(), [](const Value& input) {
               return input.node == nullptr || input.node->constant.has_value();
             });
}

absl::StatusOr<std::vector<Tensor>> EvaluateNode(
    const Node& node, absl::Span<const Tensor> operands, int64_t max_trips) {
  if (!HasStaticAttrs(node)) {
    return AtNode(node, absl::InvalidArgumentError(
                            "an attribute has a symbol without a value"));
  }
  std::vector<Tensor> results;
  for (const TensorType& type : node.outputs) {
    const auto shape = ConstShape(type.shape);
    if (!shape) {
      return AtNode(node, absl::InvalidArgumentError(
                              absl::StrCat("the result ", ToString(type),
                                           " has a size that is not known")));
    }
    if (node.outputs.size() == 1) {
      absl::StatusOr<std::optional<Tensor>> fast =
          ComputeKnown(node, operands, *shape);
      if (!fast.ok()) return AtNode(node, fast.status());
      if (fast->has_value()) return std::vector<Tensor>{**fast};
      if (node.op->Has(kUniform) && !shape->empty()) {
        absl::StatusOr<Tensor> all = Repeat(node, *shape);
        if (!all.ok()) return AtNode(node, all.status());
        return std::vector<Tensor>{*std::move(all)};
      }
    }
    absl::StatusOr<Tensor> result = Tensor::Empty(type.dtype, *shape);
    if (!result.ok()) return AtNode(node, result.status());
    results.push_back(*std::move(result));
  }
  absl::StatusOr<std::vector<Tensor>> computed =
      Interpret(node, operands, std::move(results), max_trips);
  if (!computed.ok()) return AtNode(node, computed.status());
  return computed;
}

absl::StatusOr<std::vector<Tensor>> EvaluateNode(const Node& node,
                                                 int64_t max_trips) {
  std::vector<Tensor> operands;
  for (const Value& input : node.inputs) {
    if (input.node != nullptr && !input.node->constant.has_value()) {
      return AtNode(node, absl::InternalError("an operand is not a constant"));
    }
    operands.push_back(input.node == nullptr ? Tensor()
                                             : *input.node->constant);
  }
  return EvaluateNode(node, operands, max_trips);
}

absl::StatusOr<std::vector<Tensor>> EvaluateFunction(
    const Module& module, const Function& function,
    absl::Span<const Tensor> inputs) {
  INGOT_ASSIGN_OR_RETURN(
      const Values outputs,
      EvaluateFunctionOnLists(module, function,
                              Values(inputs.begin(), inputs.end())));
  std::vector<Tensor> tensors;
  for (const TensorOrList& output : outputs) {
    INGOT_ASSIGN_OR_RETURN(Tensor tensor, TensorOf(output));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

absl::StatusOr<std::vector<TensorOrList>> EvaluateFunctionOnLists(
    const Module& module, const Function& function,
    absl::Span<const TensorOrList> inputs) {
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
