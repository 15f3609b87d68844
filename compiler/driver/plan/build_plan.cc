#include "compiler/driver/plan/build_plan.h"

#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "compiler/driver/plan/call_symbols.h"
#include "compiler/driver/plan/joined_parts.h"
#include "compiler/driver/plan/name_dims.h"
#include "compiler/driver/plan/plan_values.h"
#include "compiler/driver/plan/share_in_place.h"
#include "compiler/relay/parts.h"
#include "compiler/relay/sequence_step.h"
#include "compiler/relay/states.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/visitor.h"
#include "runtime/plan/check.h"
#include "runtime/plan/phases.h"
#include "runtime/plan/views.h"

namespace ingot {
namespace {

using relay::Node;
using relay::NodeKind;
using relay::Value;

std::string SourceOf(const Node& node) {
  return absl::StrJoin(node.sources, ", ");
}

// The value of a node's result.
Value ResultOf(const Node& node, int i) {
  return Value{const_cast<Node*>(&node), i};
}

// The plan of one function: main, or the body of a branch or a loop.
class PlanBuilder {
 public:
  PlanBuilder(const relay::Module& module, const relay::Function& function,
              const CompiledModule& compiled, ConstantPool* constants)
      : module_(module),
        function_(function),
        compiled_(compiled),
        constants_(constants),
        values_(&plan_),
        parts_(FindJoinedParts(function)) {}

  // `owned_inputs`: see ShareInPlace.
  absl::StatusOr<Plan> Build(const std::vector<uint32_t>& owned_inputs) {
    INGOT_RETURN_IF_ERROR(AddInputs());
    for (const auto& node : function_.nodes()) {
      absl::Status status = AddNode(*node);
      if (!status.ok()) {
        return Annotate(status, node->name);
      }
    }
    if (late_reader_ != nullptr) {
      return absl::UnimplementedError(
          absl::StrCat(late_reader_->name,
                       ": reads a state as it was before the run, after the "
                       "run has changed it"));
    }
    std::set<int> states;
    for (const relay::State& state : relay::StatesOf(function_)) {
      states.insert(state.output);
    }
    for (size_t i = 0; i < function_.outputs.size(); ++i) {
      if (states.count(static_cast<int>(i)) > 0) continue;
      INGOT_ASSIGN_OR_RETURN(const int id, AddOutput(i));
      plan_.add_outputs(id);
      values_.Read(id, plan_.calls_size());
    }
    ShareInPlace(&plan_, owned_inputs);
    AssignPhases(&plan_);
    values_.PlaceStorage();
    NameDims(&plan_);
    return std::move(plan_);
  }

 private:
  absl::Status AddInputs() {
    // The symbols that inputs bind, in the order of names.
    std::map<std::string, const tir::Var*> bound;
    for (const Node* input : function_.inputs) {
      for (const tir::Expr& dim : input->outputs[0].shape) {
        if (const auto* var = tir::As<tir::Var>(dim)) bound[var->name] = var;
      }
    }
    for (const auto& [name, var] : bound) values_.AddSymbol(var);
    std::map<const Node*, std::string> results;
    for (const relay::State& state : relay::StatesOf(function_)) {
      const Node* input = function_.inputs[state.input];
      states_.insert(input);
      results[input] = function_.output_names[state.output];
    }
    for (Node* input : function_.inputs) {
      INGOT_ASSIGN_OR_RETURN(const int id,
                             values_.AddTensor(input->name, input->outputs[0]));
      if (states_.count(input) > 0) {
        plan_.mutable_tensors(id)->set_state(plan_.states_size());
        plan_.add_states(id);
        plan_.add_state_results(results.at(input));
      } else {
        plan_.mutable_tensors(id)->set_input(plan_.inputs_size());
        plan_.add_inputs(id);
      }
      values_.SetTensorOf(Value{input, 0}, id);
    }
    return absl::OkStatus();
  }

  absl::Status AddNode(const Node& node) {
    switch (node.kind) {
      case NodeKind::kInput:
        return absl::OkStatus();
      case NodeKind::kConstant:
        return AddConstant(node);
      case NodeKind::kOp:
        return AddOperator(node);
      case NodeKind::kCallFunction:
        return AddCall(node);
      case NodeKind::kIf:
        return AddBranch(node);
      case NodeKind::kLoop:
        return AddLoop(node);
    }
    return absl::InternalError("a node is of no kind");
  }

  absl::Status AddOperator(const Node& node) {
    switch (node.op->step) {
      case relay::ExecutorStep::kBindDims:
        return AddBindDims(node);
      case relay::ExecutorStep::kRandomState:
        AddStep(node)->mutable_random_state();
        return AddResults(node);
      case relay::ExecutorStep::kCopy:
        return AddCopy(node);
      case relay::ExecutorStep::kSequence:
        return AddSequenceStep(node);
      case relay::ExecutorStep::kNone:
        break;
    }
    // Calls have written the parts of a concatenation to its tensor.
    if (values_.HasTensor(ResultOf(node, 0))) return absl::OkStatus();
    if (const auto at = relay::OffsetOfCut(node)) return AddCut(node, *at);
    return AddView(node);
  }

  absl::Status AddCut(const Node& node, int64_t at) {
    const int whole = values_.TensorOf(node.inputs[0]);
    INGOT_ASSIGN_OR_RETURN(
        const int id, values_.AddPart(node.name, node.outputs[0], whole, at));
    values_.SetTensorOf(ResultOf(node, 0), id);
    return absl::OkStatus();
  }

  absl::Status AddConstant(const Node& node) {
    INGOT_ASSIGN_OR_RETURN(const int id,
                           values_.AddTensor(node.name, node.outputs[0]));
    plan_.mutable_tensors(id)->set_constant(
        constants_->Add(node.name, *node.constant));
    values_.SetTensorOf(ResultOf(node, 0), id);
    return absl::OkStatus();
  }

  absl::Status AddView(const Node& node) {
    if (!node.IsView()) {
      return absl::InternalError(absl::StrCat(
          node.op->name, " is left in main but is no view of its operand"));
    }
    INGOT_ASSIGN_OR_RETURN(const int id,
                           values_.AddTensor(node.name, node.outputs[0]));
    plan_.mutable_tensors(id)->set_view_of(values_.TensorOf(node.inputs[0]));
    values_.SetTensorOf(ResultOf(node, 0), id);
    return AddRequirements(compiled_.views.at(&node), SourceOf(node));
  }

  // Whether the value is a state as it was before the run, or a view of that.
  const Node* StateBefore(const Value& v) const {
    const Node* viewed = relay::Viewed(v).node;
    return states_.count(viewed) > 0 ? viewed : nullptr;
  }

  // A call that reads the node's operands but `left_out`; its step is to be
  // set.
  PlanCall* AddStep(const Node& node, int left_out = -1) {
    const int index = plan_.calls_size();
    PlanCall* call = plan_.add_calls();
    call->set_source(SourceOf(node));
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Value& v = node.inputs[i];
      if (v.node == nullptr) continue;
      if (updated_.count(StateBefore(v)) > 0) late_reader_ = &node;
      if (static_cast<int>(i) == left_out) continue;
      const int id = values_.TensorOf(v);
      call->add_args(id);
      values_.Read(id, index);
    }
    return call;
  }

  // The results of a node as what the last call writes.
  absl::Status AddResults(const Node& node, uint32_t copied_to = 0) {
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const Value result = ResultOf(node, static_cast<int>(i));
      const std::string name =
          i == 0 ? node.name : absl::StrCat(node.name, ".", i);
      INGOT_ASSIGN_OR_RETURN(
          const int id, parts_.count(result) > 0
                            ? AddPartOfJoined(name, result)
                            : AddWritten(name, node.outputs[i], copied_to));
      AddAsResult(id);
      values_.SetTensorOf(result, id);
    }
    return absl::OkStatus();
  }

  // A tensor that the last call writes; the result of a copy on `copied_to`.
  absl::StatusOr<int> AddWritten(absl::string_view name,
                                 const relay::TensorType& type,
                                 uint32_t copied_to = 0) {
    INGOT_ASSIGN_OR_RETURN(const int id, values_.AddTensor(name, type));
    const PlanCall& call = plan_.calls(plan_.calls_size() - 1);
    const uint32_t device = call.has_copy() ? copied_to : call.device();
    values_.Write(id, type, plan_.calls_size() - 1, device);
    if (device != 0) devices_[static_cast<uint32_t>(id)] = device;
    return id;
  }

  // The tensor of a part; before its first part a concatenation gets its own.
  absl::StatusOr<int> AddPartOfJoined(absl::string_view name,
                                      const Value& value) {
    const JoinedPart& part = parts_.at(value);
    const Value joined = ResultOf(*part.joined, 0);
    if (!values_.HasTensor(joined)) {
      INGOT_ASSIGN_OR_RETURN(
          const int whole, parts_.count(joined) > 0
                               ? AddPartOfJoined(part.joined->name, joined)
                               : AddWritten(part.joined->name, joined.type()));
      values_.SetTensorOf(joined, whole);
    }
    return values_.AddPart(name, value.type(), values_.TensorOf(joined),
                           part.offset);
  }

  void AddAsResult(int id) {
    PlanCall* call = plan_.mutable_calls(plan_.calls_size() - 1);
    call->add_args(id);
    call->set_num_outputs(call->num_outputs() + 1);
  }

  // Symbols get the elements of an operand. The result is nothing but a shape:
  // no byte of it is ever read or written.
  absl::Status AddBindDims(const Node& node) {
    PlanCall* call = AddStep(node);
    call->mutable_bind_dims();
    const relay::Shape& symbols = node.attrs.Get<relay::Shape>("symbols");
    for (size_t i = 0; i < symbols.size(); ++i) {
      PlanBind* bind = call->add_binds();
      bind->set_symbol(values_.AddSymbol(tir::As<tir::Var>(symbols[i])));
      bind->set_index(static_cast<uint32_t>(i));
    }
    return AddResults(node);
  }

  // The index of the device that serves a target key; 0 for none, the CPU.
  uint32_t DeviceOfKey(const std::string& key) const {
    if (key.empty()) return 0;
    const auto it = compiled_.devices.find(key);
    return 1 +
           static_cast<uint32_t>(std::distance(compiled_.devices.begin(), it));
  }

  // A constant is copied when it is loaded, anything else by a call.
  absl::Status AddCopy(const Node& node) {
    const Value from = node.inputs[0];
    const uint32_t to = DeviceOfKey(node.attrs.Get<std::string>("to"));
    if (from.node->kind == NodeKind::kConstant) {
      INGOT_ASSIGN_OR_RETURN(const int id,
                             values_.AddTensor(node.name, node.outputs[0]));
      PlanTensor* tensor = plan_.mutable_tensors(id);
      tensor->set_constant(plan_.tensors(values_.TensorOf(from)).constant());
      tensor->set_device(to);
      values_.SetTensorOf(ResultOf(node, 0), id);
      return absl::OkStatus();
    }
    const uint32_t root =
        RootOf(plan_, static_cast<uint32_t>(values_.TensorOf(from)));
    const auto made = devices_.find(root);
    PlanCall* call = AddStep(node);
    call->mutable_copy();
    call->set_device(made == devices_.end() ? to : made->second);
    return AddResults(node, to);
  }

  absl::Status AddSequenceStep(const Node& node) {
    PlanCall* call = AddStep(node);
    const SequenceStep step = relay::SequenceStepOf(node);
    call->mutable_sequence()->set_op(node.op->name);
    call->mutable_sequence()->set_axis(step.axis);
    call->mutable_sequence()->set_flag(step.flag);
    BindToResults(node, call);
    return AddResults(node);
  }

  // Makes the plan of a body; its index.
  absl::StatusOr<uint32_t> AddBody(const std::string& name,
                                   const std::vector<uint32_t>& owned_inputs) {
    const relay::Function* body = module_.Find(name);
    if (body == nullptr) {
      return absl::InternalError(absl::StrCat("there is no @", name));
    }
    PlanBuilder builder(module_, *body, compiled_, constants_);
    INGOT_ASSIGN_OR_RETURN(Plan plan, builder.Build(owned_inputs));
    plan.set_entry(name);
    *plan_.add_bodies() = std::move(plan);
    return static_cast<uint32_t>(plan_.bodies_size()) - 1;
  }

  absl::Status AddBranch(const Node& node) {
    PlanCall* call = AddStep(node);
    PlanBranch* branch = call->mutable_branch();
    std::vector<uint32_t> inputs;  // all are passed when a body runs
    for (uint32_t i = 0; i + 1 < node.inputs.size(); ++i) inputs.push_back(i);
    const std::vector<std::string> names = node.Callees();
    size_t next = 0;
    if (node.attrs.Has("then")) {
      INGOT_ASSIGN_OR_RETURN(const uint32_t body,
                             AddBody(names[next++], inputs));
      branch->set_then_body(body);
    }
    if (node.attrs.Has("else")) {
      INGOT_ASSIGN_OR_RETURN(const uint32_t body,
                             AddBody(names[next++], inputs));
      branch->set_else_body(body);
    }
    BindToResults(node, call);
    return AddResults(node);
  }

  absl::Status AddLoop(const Node& node) {
    PlanCall* call = AddStep(node);
    PlanLoop* loop = call->mutable_loop();
    const int64_t carried = node.attrs.Get<int64_t>("carried");
    std::vector<uint32_t> inputs;  // those that each iteration is passed
    for (int64_t i = 0; i < carried; ++i) {
      inputs.push_back(static_cast<uint32_t>(1 + i));
    }
    INGOT_ASSIGN_OR_RETURN(const uint32_t body,
                           AddBody(node.Callees()[0], inputs));
    loop->set_body(body);
    loop->set_has_max_iterations(node.inputs[0].node != nullptr);
    loop->set_has_condition(node.inputs[1].node != nullptr);
    loop->set_carried(static_cast<uint32_t>(carried));
    BindToResults(node, call);
    return AddResults(node);
  }

  // Symbols that have no value before `call` get those of its results.
  void BindToResults(const Node& node, PlanCall* call) {
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const relay::Shape& shape = node.outputs[i].shape;
      for (size_t d = 0; d < shape.size(); ++d) {
        const auto* var = tir::As<tir::Var>(shape[d]);
        if (var == nullptr || values_.HasSymbol(var)) continue;
        PlanBind* bind = call->add_binds();
        bind->set_symbol(values_.AddSymbol(var));
        bind->set_output(static_cast<uint32_t>(i));
        bind->set_index(static_cast<uint32_t>(d));
      }
    }
  }

  // The result is the state, of which the call changes elements.
  absl::Status AddStateResult(const Node& node, int updated) {
    const Value before = node.inputs[updated];
    if (states_.count(before.node) == 0 ||
        !updated_.insert(before.node).second) {
      return absl::InternalError("an update in place is not of a state");
    }
    const int id = values_.TensorOf(before);
    AddAsResult(id);
    values_.SetTensorOf(ResultOf(node, 0), id);
    return absl::OkStatus();
  }

  absl::Status AddCall(const Node& node) {
    const CompiledFunction& function = compiled_.functions.at(node.callee);
    const std::map<const tir::Var*, tir::Expr> symbols =
        SymbolsOfCall(module_, node);
    PlanCall* call = AddStep(node, function.updated_input);
    call->set_function(function.symbol);
    call->set_device(DeviceOfKey(function.device_key));
    call->set_operations(function.operations);
    // Several calls may share a function.
    if (node.sources.empty()) call->set_source(function.source);
    const std::string source = call->source();
    INGOT_RETURN_IF_ERROR(function.updated_input >= 0
                              ? AddStateResult(node, function.updated_input)
                              : AddResults(node));
    for (const tir::Buffer& workspace : function.workspaces) {
      relay::TensorType type{workspace->dtype, workspace->shape};
      for (relay::Dim& dim : type.shape) dim = tir::Substitute(dim, symbols);
      INGOT_ASSIGN_OR_RETURN(
          const int id,
          AddWritten(absl::StrCat(node.name, ".", workspace->name), type));
      AddAsResult(id);
    }
    std::vector<relay::DimAssumption> assumptions = function.assumptions;
    for (relay::DimAssumption& assumption : assumptions) {
      assumption.a = tir::Substitute(assumption.a, symbols);
      assumption.b = tir::Substitute(assumption.b, symbols);
    }
    return AddRequirements(assumptions, source);
  }

  // The dimensions that a call takes to be equal, each pair once.
  absl::Status AddRequirements(
      const std::vector<relay::DimAssumption>& assumptions,
      const std::string& source) {
    for (const relay::DimAssumption& assumption : assumptions) {
      PlanRequirement requirement;
      INGOT_ASSIGN_OR_RETURN(*requirement.mutable_left(),
                             values_.ToDimExpr(tir::Simplify(assumption.a)));
      INGOT_ASSIGN_OR_RETURN(*requirement.mutable_right(),
                             values_.ToDimExpr(tir::Simplify(assumption.b)));
      requirement.set_or_one(assumption.or_one);
      if (!required_.insert(requirement.SerializeAsString()).second) continue;
      requirement.set_source(source);
      *plan_.add_requirements() = std::move(requirement);
    }
    return absl::OkStatus();
  }

  // The tensor of output `i`, named as the model names it.
  absl::StatusOr<int> AddOutput(size_t i) {
    const Value v = function_.outputs[i];
    const int id = values_.TensorOf(v);
    const std::string& name = i < function_.output_names.size()
                                  ? function_.output_names[i]
                                  : plan_.tensors(id).name();
    if (plan_.tensors(id).name() == name) return id;
    INGOT_ASSIGN_OR_RETURN(const int named, values_.AddTensor(name, v.type()));
    if (v.type().is_sequence) {
      PlanCall* call = plan_.add_calls();
      call->mutable_sequence()->set_op("sequence_copy");
      call->add_args(id);
      call->add_args(named);
      call->set_num_outputs(1);
    } else {
      plan_.mutable_tensors(named)->set_view_of(id);
    }
    return named;
  }

  const relay::Module& module_;
  const relay::Function& function_;
  const CompiledModule& compiled_;
  ConstantPool* const constants_;
  Plan plan_;
  PlanValues values_;
  const std::map<Value, JoinedPart> parts_;
  std::set<const Node*> states_;          // inputs that stay from run to run
  std::set<const Node*> updated_;         // those that a call has changed
  const Node* late_reader_ = nullptr;     // of one of these, as it was before
  std::set<std::string> required_;        // without their sources
  std::map<uint32_t, uint32_t> devices_;  // of tensors that are not on the CPU
};

}  // namespace

absl::StatusOr<Plan> BuildPlan(const relay::Module& module,
                               absl::string_view entry,
                               const CompiledModule& compiled,
                               ConstantPool* constants) {
  PlanBuilder builder(module, *module.main(), compiled, constants);
  INGOT_ASSIGN_OR_RETURN(Plan plan, builder.Build({}));
  plan.set_version(kPlanVersion);
  plan.set_entry(std::string(entry));
  plan.add_devices()->set_kind(kCpuDeviceKind);
  for (const auto& [key, compiled_device] : compiled.devices) {
    PlanDevice* device = plan.add_devices();
    device->set_kind(compiled_device.kind);
    device->set_target_key(key);
    for (const std::string& other : compiled_device.shared_by) {
      device->add_shared_by(other);
    }
  }
  return plan;
}

}  // namespace ingot
