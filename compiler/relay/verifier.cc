#include "compiler/relay/verifier.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "compiler/relay/dim_text.h"
#include "compiler/relay/op.h"
#include "compiler/relay/run_time_symbols.h"
#include "compiler/relay/states.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/visitor.h"

namespace ingot::relay {
namespace {

std::string TypesText(absl::Span<const TensorType> types) {
  return absl::StrCat("(",
                      absl::StrJoin(types, ", ",
                                    [](std::string* out, const TensorType& t) {
                                      absl::StrAppend(out, ToString(t));
                                    }),
                      ")");
}

bool AllAgree(absl::Span<const TensorType> a, absl::Span<const TensorType> b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!Agrees(a[i], b[i])) return false;
  }
  return true;
}

class FunctionVerifier {
 public:
  FunctionVerifier(const Module& module, const Function& function)
      : module_(module), function_(function) {}

  absl::Status Run() {
    std::vector<const Node*> inputs;
    for (const auto& node : function_.nodes()) {
      if (!names_.insert(node->name).second) {
        return Error(*node, "another node has the same name");
      }
      INGOT_RETURN_IF_ERROR(CheckOperands(*node));
      INGOT_RETURN_IF_ERROR(CheckNode(*node));
      seen_.insert(node.get());
      if (node->kind == NodeKind::kInput) inputs.push_back(node.get());
    }
    if (std::set<const Node*>(inputs.begin(), inputs.end()) !=
            std::set<const Node*>(function_.inputs.begin(),
                                  function_.inputs.end()) ||
        inputs.size() != function_.inputs.size()) {
      return FunctionError("its list of inputs is not that of its input nodes");
    }
    for (const Value& output : function_.outputs) {
      if (output.node == nullptr || !seen_.contains(output.node) ||
          output.index < 0 ||
          output.index >= static_cast<int>(output.node->outputs.size())) {
        return FunctionError("an output is not a result of its nodes");
      }
    }
    if (!function_.output_names.empty() &&
        function_.output_names.size() != function_.outputs.size()) {
      return FunctionError("not every output has a name");
    }
    const absl::Status states = CheckStates(function_);
    return states.ok() ? states : FunctionError(states.message());
  }

  absl::Status CheckCalls() {
    for (const auto& node : function_.nodes()) {
      switch (node->kind) {
        case NodeKind::kCallFunction:
          INGOT_RETURN_IF_ERROR(CheckCall(*node));
          break;
        case NodeKind::kIf:
          INGOT_RETURN_IF_ERROR(CheckIf(*node));
          break;
        case NodeKind::kLoop:
          INGOT_RETURN_IF_ERROR(CheckLoop(*node));
          break;
        default:
          break;
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::Status FunctionError(absl::string_view what) const {
    return absl::InternalError(
        absl::StrCat("function @", QuoteName(function_.name), ": ", what));
  }
  absl::Status Error(const Node& node, absl::string_view what) const {
    return FunctionError(
        absl::StrCat("node %", QuoteName(node.name), ": ", what));
  }

  absl::Status CheckOperands(const Node& node) const {
    for (const Value& input : node.inputs) {
      if (input.node == nullptr) continue;
      if (!seen_.contains(input.node)) {
        // The node may be gone, so nothing of it is said.
        return Error(node, "reads a node that does not stand before it");
      }
      if (input.index < 0 ||
          input.index >= static_cast<int>(input.node->outputs.size())) {
        return Error(node,
                     absl::StrCat("reads result ", input.index, " of %",
                                  QuoteName(input.node->name), ", which has ",
                                  input.node->outputs.size()));
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckNode(const Node& node) const {
    if (node.outputs.empty()) return Error(node, "has no result");
    if (node.constant.has_value() != (node.kind == NodeKind::kConstant)) {
      return Error(node, "holds a constant without being one, or the reverse");
    }
    switch (node.kind) {
      case NodeKind::kInput:
        if (!node.inputs.empty() || node.outputs.size() != 1) {
          return Error(node, "an input has one result and no operand");
        }
        return absl::OkStatus();
      case NodeKind::kConstant:
        return CheckConstant(node);
      case NodeKind::kOp:
        return CheckOp(node);
      case NodeKind::kCallFunction:
        return absl::OkStatus();  // CheckCalls, when every callee is sound
      case NodeKind::kIf:
      case NodeKind::kLoop:
        if (absl::Status s = CheckControlAttrs(node.kind, node.attrs);
            !s.ok()) {
          return Error(node, s.message());
        }
        return CheckSymbols(node);
    }
    return Error(node, "is of no kind");
  }

  absl::Status CheckConstant(const Node& node) const {
    const Tensor& tensor = *node.constant;
    if (!node.inputs.empty() || node.outputs.size() != 1 || !tensor.defined()) {
      return Error(node, "a constant has a tensor, one result and no operand");
    }
    const auto shape = ConstShape(node.outputs[0].shape);
    if (node.outputs[0].dtype != tensor.dtype() || !shape ||
        absl::MakeConstSpan(*shape) != tensor.shape()) {
      return Error(node, absl::StrCat("its type is ", ToString(node.outputs[0]),
                                      ", its tensor's ", tensor.TypeString()));
    }
    return absl::OkStatus();
  }

  absl::Status CheckOp(const Node& node) const {
    if (node.op == nullptr) return Error(node, "has no operator");
    absl::StatusOr<std::vector<TensorType>> types =
        InferTypes(*node.op, node.inputs, node.attrs);
    if (!types.ok()) return Error(node, types.status().message());
    if (!AllAgree(*types, node.outputs)) {
      return Error(node, absl::StrCat("its type is ", TypesText(node.outputs),
                                      ", inferred ", TypesText(*types)));
    }
    return node.op->step == ExecutorStep::kBindDims ? absl::OkStatus()
                                                    : CheckSymbols(node);
  }

  absl::Status CheckSymbols(const Node& node) const {
    const tir::Var* symbol = SymbolWithoutValue(node);
    if (symbol == nullptr) return absl::OkStatus();
    return Error(node, absl::StrCat("no operand has the dimension '",
                                    symbol->name, "', which it uses"));
  }

  // The function that attribute `name` names.
  absl::StatusOr<const Function*> Body(const Node& node,
                                       absl::string_view name) const {
    const std::string& body = node.attrs.Get<std::string>(name);
    const Function* function = module_.Find(body);
    if (function != nullptr) return function;
    return Error(
        node, absl::StrCat("names @", QuoteName(body), ", which is not there"));
  }

  absl::Status CheckScalar(const Node& node, size_t operand,
                           DataType dtype) const {
    const Value& value = node.inputs[operand];
    if (value.node == nullptr) return absl::OkStatus();
    const TensorType& type = value.type();
    bool one = type.dtype == dtype && !type.is_sequence;
    for (const Dim& dim : type.shape) one = one && tir::IsConstInt(dim, 1);
    if (one) return absl::OkStatus();
    return Error(node, absl::StrCat("operand ", operand, " is ", ToString(type),
                                    ", not one ", dtype.ToString()));
  }

  absl::Status CheckAgree(const Node& node, absl::string_view what, size_t i,
                          const TensorType& a, const TensorType& b) const {
    if (Agrees(a, b)) return absl::OkStatus();
    return Error(node, absl::StrCat(what, " ", i, " is ", ToString(a),
                                    " here and ", ToString(b), " there"));
  }

  // Checks the types of a body's inputs and results.
  absl::Status CheckBody(const Node& node, const Function& body,
                         absl::Span<const TensorType> takes,
                         absl::Span<const TensorType> gives) const {
    if (body.inputs.size() != takes.size() ||
        body.outputs.size() != gives.size()) {
      return Error(node, absl::StrCat("@", QuoteName(body.name), " takes ",
                                      body.inputs.size(), " and gives ",
                                      body.outputs.size(), " values, not ",
                                      takes.size(), " and ", gives.size()));
    }
    for (size_t i = 0; i < takes.size(); ++i) {
      INGOT_RETURN_IF_ERROR(
          CheckAgree(node, "operand", i, takes[i], body.inputs[i]->outputs[0]));
    }
    for (size_t i = 0; i < gives.size(); ++i) {
      INGOT_RETURN_IF_ERROR(
          CheckAgree(node, "result", i, gives[i], body.outputs[i].type()));
    }
    return absl::OkStatus();
  }

  absl::Status CheckIf(const Node& node) const {
    if (node.inputs.empty() || node.inputs[0].node == nullptr) {
      return Error(node, "has no condition");
    }
    INGOT_RETURN_IF_ERROR(CheckScalar(node, 0, DataType::Bool()));
    std::vector<TensorType> takes;
    for (size_t i = 1; i < node.inputs.size(); ++i) {
      if (node.inputs[i].node == nullptr) {
        return Error(node, "leaves an operand out");
      }
      takes.push_back(node.inputs[i].type());
    }
    for (const char* branch : {"then", "else"}) {
      if (!node.attrs.Has(branch)) continue;
      INGOT_ASSIGN_OR_RETURN(const Function* body, Body(node, branch));
      INGOT_RETURN_IF_ERROR(CheckBody(node, *body, takes, node.outputs));
    }
    return absl::OkStatus();
  }

  absl::Status CheckLoop(const Node& node) const {
    const size_t carried = node.attrs.Get<int64_t>("carried");
    if (node.inputs.size() < 2 || node.inputs.size() - 2 < carried ||
        node.outputs.size() < carried) {
      return Error(node, "has fewer values than it carries");
    }
    INGOT_RETURN_IF_ERROR(CheckScalar(node, 0, DataType::Int(64)));
    INGOT_RETURN_IF_ERROR(CheckScalar(node, 1, DataType::Bool()));
    INGOT_ASSIGN_OR_RETURN(const Function* body, Body(node, "body"));
    std::vector<TensorType> takes = {{DataType::Int(64), {}}};
    for (size_t i = 2; i < node.inputs.size(); ++i) {
      if (node.inputs[i].node == nullptr) {
        return Error(node, "leaves an operand out");
      }
      takes.push_back(node.inputs[i].type());
    }
    if (body->outputs.empty()) return Error(node, "its body has no result");
    std::vector<TensorType> gives = {{DataType::Bool(), {}}};
    if (body->outputs[0].type().dtype == DataType::Bool() &&
        body->outputs[0].type().shape.size() == 1) {
      gives[0].shape.push_back(tir::MakeInt(1));
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      TensorType type = node.outputs[i];
      if (i >= carried) {
        if (type.shape.empty()) {
          return Error(node, "stacks into a scalar or a sequence");
        }
        type.shape.erase(type.shape.begin());
      }
      gives.push_back(std::move(type));
    }
    return CheckBody(node, *body, takes, gives);
  }

  absl::Status CheckCall(const Node& node) const {
    const Function* callee = module_.Find(node.callee);
    if (callee == nullptr) {
      return Error(node, absl::StrCat("calls @", QuoteName(node.callee),
                                      ", which is not there"));
    }
    if (callee->inputs.size() != node.inputs.size() ||
        callee->outputs.size() != node.outputs.size()) {
      return Error(node, absl::StrCat("does not have the operands and results "
                                      "of @",
                                      QuoteName(node.callee)));
    }
    for (const Value& input : node.inputs) {
      if (input.node != nullptr) continue;
      return Error(node, "leaves an operand of a function out");
    }
    const auto bound = SymbolsOfCall(node, *callee);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const TensorType& given = node.inputs[i].type();
      const TensorType& taken = callee->inputs[i]->outputs[0];
      if (!Agrees(given, Bound(taken, bound))) {
        return Error(node, absl::StrCat("operand ", i, " is ", ToString(given),
                                        ", @", QuoteName(node.callee),
                                        " takes ", ToString(taken)));
      }
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const TensorType& result = callee->outputs[i].type();
      if (!Agrees(node.outputs[i], Bound(result, bound))) {
        return Error(
            node,
            absl::StrCat("result ", i, " is ", ToString(node.outputs[i]), ", @",
                         QuoteName(node.callee), " gives ", ToString(result)));
      }
    }
    return absl::OkStatus();
  }

  using Bindings = std::map<const tir::Var*, tir::Expr>;

  // The values of the callee's symbols in a call whose operands are as many as
  // its inputs: the dimensions of operands where the inputs have them.
  static Bindings SymbolsOfCall(const Node& call, const Function& callee) {
    Bindings bound;
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      const Shape& given = call.inputs[i].type().shape;
      const Shape& taken = callee.inputs[i]->outputs[0].shape;
      for (size_t d = 0; d < std::min(given.size(), taken.size()); ++d) {
        const auto* symbol = tir::As<tir::Var>(taken[d]);
        if (symbol != nullptr) bound.emplace(symbol, given[d]);
      }
    }
    return bound;
  }

  static TensorType Bound(TensorType type, const Bindings& bound) {
    for (Dim& dim : type.shape) dim = tir::Substitute(dim, bound);
    return type;
  }

  const Module& module_;
  const Function& function_;
  std::set<std::string> names_;
  absl::flat_hash_set<const Node*> seen_;
};

// Every callee finishes before its caller: no function reaches itself.
absl::Status CheckRecursion(const Module& module) {
  enum class State { kNew, kOpen, kDone };
  absl::flat_hash_map<const Function*, State> state;
  struct Frame {
    const Function* function;
    size_t next_node = 0;
    size_t next_callee = 0;  // of that node
  };
  for (const auto& root : module.functions()) {
    if (state[root.get()] != State::kNew) continue;
    std::vector<Frame> stack = {{root.get()}};
    state[root.get()] = State::kOpen;
    while (!stack.empty()) {
      const Function* function = stack.back().function;
      if (stack.back().next_node == function->nodes().size()) {
        state[function] = State::kDone;
        stack.pop_back();
        continue;
      }
      const Node& node = *function->nodes()[stack.back().next_node];
      const std::vector<std::string> callees = node.Callees();
      if (stack.back().next_callee == callees.size()) {
        ++stack.back().next_node;
        stack.back().next_callee = 0;
        continue;
      }
      const Function* callee = module.Find(callees[stack.back().next_callee++]);
      if (callee == nullptr || state[callee] == State::kDone) continue;
      if (state[callee] == State::kOpen) {
        return absl::InternalError(absl::StrCat(
            "function @", QuoteName(callee->name), " calls itself"));
      }
      state[callee] = State::kOpen;
      stack.push_back({callee});
    }
  }
  return absl::OkStatus();
}

}  // namespace

bool Agrees(const TensorType& a, const TensorType& b) {
  if (a.dtype != b.dtype || a.is_sequence != b.is_sequence ||
      a.shape.size() != b.shape.size()) {
    return false;
  }
  for (size_t i = 0; i < a.shape.size(); ++i) {
    if (a.shape[i] == b.shape[i]) continue;
    int64_t x, y, difference;
    if (tir::AsConstInt(a.shape[i], &x) && tir::AsConstInt(b.shape[i], &y)) {
      if (x != y) return false;
    } else if (tir::AsConstInt(tir::Simplify(a.shape[i] - b.shape[i]),
                               &difference) &&
               difference != 0) {
      return false;
    }
  }
  return true;
}

absl::Status CheckControlAttrs(NodeKind kind, const Attrs& attrs) {
  std::set<std::string> names;
  if (kind == NodeKind::kIf) {
    names = {"then", "else"};
  } else {
    names = {"body", "carried"};
  }
  for (const std::string& name : names) {
    auto it = attrs.values().find(name);
    if (it == attrs.values().end()) {
      // One branch may be left out.
      if (kind == NodeKind::kIf &&
          attrs.Has(name == "then" ? "else" : "then")) {
        continue;
      }
      return absl::InvalidArgumentError(
          absl::StrCat("attribute '", name, "' is missing"));
    }
    const bool fits = name == "carried"
                          ? std::holds_alternative<int64_t>(it->second) &&
                                std::get<int64_t>(it->second) >= 0
                          : std::holds_alternative<std::string>(it->second);
    if (!fits) {
      return absl::InvalidArgumentError(
          absl::StrCat("attribute '", name, "' is not ",
                       name == "carried" ? "a count" : "a function's name"));
    }
  }
  for (const auto& [name, value] : attrs.values()) {
    if (names.count(name) == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("has no attribute '", name, "'"));
    }
  }
  return absl::OkStatus();
}

absl::Status Verify(const Module& module) {
  std::set<std::string> names;
  for (const auto& function : module.functions()) {
    if (!names.insert(function->name).second) {
      return absl::InternalError(absl::StrCat(
          "function @", QuoteName(function->name), " is there twice"));
    }
    INGOT_RETURN_IF_ERROR(FunctionVerifier(module, *function).Run());
  }
  for (const auto& function : module.functions()) {
    INGOT_RETURN_IF_ERROR(FunctionVerifier(module, *function).CheckCalls());
  }
  return CheckRecursion(module);
}

}  // namespace ingot::relay
