#include "compiler/driver/plan_builder.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/driver/storage_planner.h"
#include "compiler/relay/list_step.h"
#include "compiler/relay/op.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/visitor.h"
#include "runtime/executor.h"

namespace ingot {
namespace {

using relay::Node;
using relay::NodeKind;
using relay::Value;

absl::StatusOr<DimExpr::Op> DimOp(tir::BinaryOp op) {
  switch (op) {
    case tir::BinaryOp::kAdd:
      return DimExpr::ADD;
    case tir::BinaryOp::kSub:
      return DimExpr::SUB;
    case tir::BinaryOp::kMul:
      return DimExpr::MUL;
    case tir::BinaryOp::kFloorDiv:
      return DimExpr::FLOOR_DIV;
    case tir::BinaryOp::kFloorMod:
      return DimExpr::FLOOR_MOD;
    case tir::BinaryOp::kMin:
      return DimExpr::MIN;
    case tir::BinaryOp::kMax:
      return DimExpr::MAX;
    default:
      return absl::InvalidArgumentError(
          "a dimension uses an operation that a plan cannot express");
  }
}

// The plan of one function: main, or the body of a branch or a loop.
class PlanBuilder {
 public:
  PlanBuilder(const relay::Module& module, const relay::Function& function,
              const std::map<std::string, CompiledFunction>& compiled,
              ConstantPool* constants)
      : module_(module),
        function_(function),
        compiled_(compiled),
        constants_(constants) {
    // What the inputs bind, in the order of names.
    std::map<std::string, const tir::Var*> bound;
    for (const Node* input : function.inputs) {
      for (const tir::Expr& dim : input->outputs[0].shape) {
        if (const auto* var = tir::As<tir::Var>(dim)) bound[var->name] = var;
      }
    }
    for (const auto& [name, var] : bound) AddSymbol(var);
  }

  absl::StatusOr<Plan> Build() {
    for (Node* input : function_.inputs) {
      absl::StatusOr<int> id = AddTensor(input->name, input->outputs[0]);
      if (!id.ok()) return id.status();
      tensor(*id)->set_input(plan_.inputs_size());
      plan_.add_inputs(*id);
      ids_[Value{input, 0}] = *id;
    }
    for (const auto& node : function_.nodes()) {
      absl::Status status = AddNode(*node);
      if (!status.ok()) {
        return absl::Status(status.code(),
                            absl::StrCat(node->name, ": ", status.message()));
      }
    }
    for (size_t i = 0; i < function_.outputs.size(); ++i) {
      absl::StatusOr<int> id = AddOutput(i);
      if (!id.ok()) return id.status();
      plan_.add_outputs(*id);
      Touch(*id, plan_.calls_size());
    }
    return PlaceStorage();
  }

 private:
  PlanTensor* tensor(int id) { return plan_.mutable_tensors(id); }

  int AddSymbol(const tir::Var* var) {
    symbols_[var] = plan_.symbols_size();
    plan_.add_symbols(var->name);
    return symbols_[var];
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
      case NodeKind::kLoop:
        return AddControl(node);
    }
    return absl::InternalError("a node is of no kind");
  }

  absl::Status AddOperator(const Node& node) {
    switch (node.op->step) {
      case relay::ExecutorStep::kBindDims:
        return AddBind(node);
      case relay::ExecutorStep::kRandomState:
        return AddRandomState(node);
      case relay::ExecutorStep::kSequence:
        return AddListStep(node);
      case relay::ExecutorStep::kNone:
        break;
    }
    return AddView(node);
  }

  absl::StatusOr<DimExpr> ToDimExpr(const tir::Expr& dim) const {
    DimExpr out;
    int64_t value;
    if (tir::AsConstInt(dim, &value)) {
      out.set_value(value);
      return out;
    }
    if (const auto* var = tir::As<tir::Var>(dim)) {
      auto it = symbols_.find(var);
      if (it == symbols_.end()) {
        return absl::InvalidArgumentError(
            absl::StrCat("the dimension '", var->name,
                         "' does not follow from the inputs' shapes"));
      }
      out.set_op(DimExpr::SYMBOL);
      out.set_value(it->second);
      return out;
    }
    const auto* binary = tir::As<tir::Binary>(dim);
    if (binary == nullptr) {
      return absl::InvalidArgumentError(
          "a dimension uses an operation that a plan cannot express");
    }
    absl::StatusOr<DimExpr::Op> op = DimOp(binary->op);
    if (!op.ok()) return op.status();
    out.set_op(*op);
    for (const tir::Expr& operand : {binary->a, binary->b}) {
      absl::StatusOr<DimExpr> part = ToDimExpr(operand);
      if (!part.ok()) return part.status();
      *out.add_operands() = *std::move(part);
    }
    return out;
  }

  absl::StatusOr<int> AddTensor(absl::string_view name,
                                const relay::TensorType& type) {
    const int id = plan_.tensors_size();
    PlanTensor* t = plan_.add_tensors();
    int& uses = names_[std::string(name)];
    t->set_name(uses == 0 ? std::string(name) : absl::StrCat(name, "#", uses));
    ++uses;
    t->mutable_dtype()->set_code(type.dtype.code);
    t->mutable_dtype()->set_bits(type.dtype.bits);
    t->set_is_list(type.is_list);
    for (const tir::Expr& dim : type.shape) {
      absl::StatusOr<DimExpr> d = ToDimExpr(tir::Simplify(dim));
      if (!d.ok()) return d.status();
      *t->add_shape() = *std::move(d);
    }
    return id;
  }

  absl::Status AddConstant(const Node& node) {
    absl::StatusOr<int> id = AddTensor(node.name, node.outputs[0]);
    if (!id.ok()) return id.status();
    tensor(*id)->set_constant(constants_->Add(node.name, *node.constant));
    ids_[Value{const_cast<Node*>(&node), 0}] = *id;
    return absl::OkStatus();
  }

  absl::Status AddView(const Node& node) {
    if (!node.IsView()) {
      return absl::InternalError(absl::StrCat(
          node.op->name, " is left in main but is no view of its operand"));
    }
    absl::StatusOr<int> id = AddTensor(node.name, node.outputs[0]);
    if (!id.ok()) return id.status();
    const int viewed = ids_.at(node.inputs[0]);
    SharePlace(viewed, *id);
    // A view of such a view follows it, so that each has a size to meet.
    if (plan_.tensors(viewed).same_bytes_as() > 0 ||
        !SameElements(node.outputs[0], node.inputs[0].type())) {
      tensor(*id)->set_same_bytes_as(viewed + 1);
    }
    ids_[Value{const_cast<Node*>(&node), 0}] = *id;
    return AddRequirementsOf(node, absl::StrJoin(node.sources, ", "));
  }

  // Whether two types have as many elements whatever their symbols are.
  static bool SameElements(const relay::TensorType& a,
                           const relay::TensorType& b) {
    tir::Expr x = tir::MakeInt(1), y = tir::MakeInt(1);
    for (const tir::Expr& dim : a.shape) x = x * dim;
    for (const tir::Expr& dim : b.shape) y = y * dim;
    return tir::ProveEqual(x, y);
  }

  // Symbols get the elements of an operand. The result is nothing but a shape.
  absl::Status AddBind(const Node& node) {
    const int index = plan_.calls_size();
    PlanCall* call = plan_.add_calls();
    const int from = ids_.at(node.inputs[0]);
    call->add_args(from);
    call->set_source(absl::StrJoin(node.sources, ", "));
    Touch(from, index);
    const relay::Shape& symbols = node.attrs.Get<relay::Shape>("symbols");
    ++phase_;
    for (size_t i = 0; i < symbols.size(); ++i) {
      PlanBind* bind = call->add_binds();
      const auto* var = tir::As<tir::Var>(symbols[i]);
      phases_[var] = phase_;
      bind->set_symbol(AddSymbol(var));
      bind->set_index(static_cast<int>(i));
    }
    // No byte of it is ever read or written: it may lie where the operand is,
    // but that may be an input or a constant, of another size.
    absl::StatusOr<int> id = AddTensor(node.name, node.outputs[0]);
    if (!id.ok()) return id.status();
    Request(*id, node.outputs[0], index);
    ids_[Value{const_cast<Node*>(&node), 0}] = *id;
    call->add_args(*id);
    call->set_num_outputs(1);
    return absl::OkStatus();
  }

  // A call without a function that reads the node's operands.
  PlanCall* AddStep(const Node& node) {
    const int index = plan_.calls_size();
    PlanCall* call = plan_.add_calls();
    call->set_source(absl::StrJoin(node.sources, ", "));
    for (const Value& v : node.inputs) {
      if (v.node == nullptr) continue;
      const int id = ids_.at(v);
      call->add_args(id);
      Touch(id, index);
    }
    return call;
  }

  absl::Status AddListStep(const Node& node) {
    const int index = plan_.calls_size();
    PlanCall* call = AddStep(node);
    const ListStep step = relay::ListStepOf(node);
    call->mutable_list()->set_op(node.op->name);
    call->mutable_list()->set_axis(step.axis);
    call->mutable_list()->set_flag(step.flag);
    BindToResults(node, call);
    return AddResults(node, index);
  }

  absl::Status AddRandomState(const Node& node) {
    const int index = plan_.calls_size();
    AddStep(node)->mutable_random_state();
    return AddResults(node, index);
  }

  // A branch or a loop: its bodies become plans of their own.
  absl::Status AddControl(const Node& node) {
    const int index = plan_.calls_size();
    PlanCall* call = AddStep(node);
    std::vector<int> bodies;
    for (const std::string& name : node.Callees()) {
      const relay::Function* body = module_.Find(name);
      if (body == nullptr) {
        return absl::InternalError(absl::StrCat("there is no @", name));
      }
      absl::StatusOr<Plan> plan =
          PlanBuilder(module_, *body, compiled_, constants_).Build();
      if (!plan.ok()) return plan.status();
      bodies.push_back(plan_.bodies_size());
      plan->set_entry(name);
      *plan_.add_bodies() = *std::move(plan);
    }
    if (node.kind == NodeKind::kIf) {
      size_t next = 0;
      PlanBranch* branch = call->mutable_branch();
      if (node.attrs.Has("then")) branch->set_then_body(bodies[next++] + 1);
      if (node.attrs.Has("else")) branch->set_else_body(bodies[next++] + 1);
    } else {
      PlanLoop* loop = call->mutable_loop();
      loop->set_body(bodies[0]);
      loop->set_has_trips(node.inputs[0].node != nullptr);
      loop->set_has_condition(node.inputs[1].node != nullptr);
      loop->set_carried(node.attrs.Get<int64_t>("carried"));
    }
    BindToResults(node, call);
    return AddResults(node, index);
  }

  // Symbols that have no value before `call` get those of its results.
  void BindToResults(const Node& node, PlanCall* call) {
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const relay::Shape& shape = node.outputs[i].shape;
      for (size_t d = 0; d < shape.size(); ++d) {
        const auto* var = tir::As<tir::Var>(shape[d]);
        if (var == nullptr || symbols_.count(var) > 0) continue;
        if (call->binds_size() == 0) ++phase_;
        PlanBind* bind = call->add_binds();
        phases_[var] = phase_;
        bind->set_symbol(AddSymbol(var));
        bind->set_output(static_cast<int>(i));
        bind->set_index(static_cast<int>(d));
      }
    }
  }

  // The results of a node as what call `index` writes.
  absl::Status AddResults(const Node& node, int index) {
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const std::string name =
          i == 0 ? node.name : absl::StrCat(node.name, ".", i);
      absl::StatusOr<int> id = AddTensor(name, node.outputs[i]);
      if (!id.ok()) return id.status();
      Request(*id, node.outputs[i], index);
      ids_[Value{const_cast<Node*>(&node), static_cast<int>(i)}] = *id;
      plan_.mutable_calls(index)->add_args(*id);
    }
    plan_.mutable_calls(index)->set_num_outputs(
        static_cast<int>(node.outputs.size()));
    return absl::OkStatus();
  }

  // Puts tensor `id` where tensor `viewed` is.
  void SharePlace(int viewed, int id) {
    const PlanTensor& from = plan_.tensors(viewed);
    PlanTensor* to = tensor(id);
    switch (from.place_case()) {
      case PlanTensor::kInput:
        to->set_input(from.input());
        break;
      case PlanTensor::kConstant:
        to->set_constant(from.constant());
        break;
      default:
        requests_of_[id] = requests_of_.at(viewed);
    }
  }

  absl::Status AddCall(const Node& node) {
    const CompiledFunction& function = compiled_.at(node.callee);
    const int index = plan_.calls_size();
    PlanCall* call = plan_.add_calls();
    call->set_function(function.symbol);
    // Several calls may share a function.
    const std::string source = node.sources.empty()
                                   ? function.source
                                   : absl::StrJoin(node.sources, ", ");
    call->set_source(source);
    for (const Value& v : node.inputs) {
      const int id = ids_.at(v);
      call->add_args(id);
      Touch(id, index);
    }
    if (absl::Status s = AddResults(node, index); !s.ok()) return s;
    int outputs = static_cast<int>(node.outputs.size());
    for (const tir::Buffer& workspace : function.workspaces) {
      const relay::TensorType type{workspace->dtype, workspace->shape};
      absl::StatusOr<int> id =
          AddTensor(absl::StrCat(node.name, ".", workspace->name), type);
      if (!id.ok()) return id.status();
      Request(*id, type, index);
      plan_.mutable_calls(index)->add_args(*id);
      ++outputs;
    }
    plan_.mutable_calls(index)->set_num_outputs(outputs);
    return AddRequirements(*module_.Find(node.callee), source);
  }

  // What the operators of a function, and of its composites, take for granted.
  absl::Status AddRequirements(const relay::Function& function,
                               const std::string& source) {
    for (const auto& node : function.nodes()) {
      if (node->kind == NodeKind::kCallFunction) {
        absl::Status s = AddRequirements(*module_.Find(node->callee), source);
        if (!s.ok()) return s;
      }
      if (node->kind != NodeKind::kOp) continue;
      absl::Status s = AddRequirementsOf(*node, source);
      if (!s.ok()) return s;
    }
    return absl::OkStatus();
  }

  // Adds the dimensions that one operator takes to be equal.
  absl::Status AddRequirementsOf(const Node& node, const std::string& source) {
    std::vector<relay::DimAssumption> assumed;
    absl::Status s =
        relay::InferTypes(*node.op, node.inputs, node.attrs, &assumed).status();
    if (!s.ok()) return s;
    for (const relay::DimAssumption& a : assumed) {
      s = AddRequirement(a, source);
      if (!s.ok()) return s;
    }
    return absl::OkStatus();
  }

  absl::Status AddRequirement(const relay::DimAssumption& assumption,
                              const std::string& source) {
    absl::StatusOr<DimExpr> left = ToDimExpr(tir::Simplify(assumption.a));
    if (!left.ok()) return left.status();
    absl::StatusOr<DimExpr> right = ToDimExpr(tir::Simplify(assumption.b));
    if (!right.ok()) return right.status();
    PlanRequirement requirement;
    *requirement.mutable_left() = *std::move(left);
    *requirement.mutable_right() = *std::move(right);
    requirement.set_or_one(assumption.or_one);
    if (!required_.insert(requirement.SerializeAsString()).second) {
      return absl::OkStatus();
    }
    requirement.set_source(source);
    *plan_.add_requirements() = std::move(requirement);
    return absl::OkStatus();
  }

  // Asks for storage for tensor `id`, which call `index` writes.
  void Request(int id, const relay::TensorType& type, int index) {
    if (type.is_list) return;
    tir::Expr bytes = tir::MakeInt(static_cast<int64_t>(type.dtype.bytes()));
    for (const tir::Expr& dim : type.shape) bytes = bytes * dim;
    requests_of_[id] = static_cast<int>(requests_.size());
    bytes = tir::Simplify(bytes);
    const int phase = PhaseOf(bytes);
    requests_.push_back({std::move(bytes), index, index, phase});
  }

  // When the symbols of an expression have values.
  int PhaseOf(const tir::Expr& e) const {
    class Finder final : public tir::ExprVisitor {
     public:
      explicit Finder(const std::map<const tir::Var*, int>& phases)
          : phases_(phases) {}
      int phase = 0;

     protected:
      void VisitVar(const tir::Var& var) override {
        auto it = phases_.find(&var);
        if (it != phases_.end()) phase = std::max(phase, it->second);
      }

     private:
      const std::map<const tir::Var*, int>& phases_;
    } finder(phases_);
    static_cast<tir::ExprVisitor&>(finder).Visit(e);
    return finder.phase;
  }

  // Keeps tensor `id` alive until call `index`.
  void Touch(int id, int index) {
    auto it = requests_of_.find(id);
    if (it == requests_of_.end()) return;
    requests_[it->second].last = index;
  }

  // The tensor of output `i`, named as the model names it.
  absl::StatusOr<int> AddOutput(size_t i) {
    const Value v = function_.outputs[i];
    const int id = ids_.at(v);
    const std::string& name = i < function_.output_names.size()
                                  ? function_.output_names[i]
                                  : plan_.tensors(id).name();
    if (plan_.tensors(id).name() == name) return id;
    absl::StatusOr<int> named = AddTensor(name, v.type());
    if (!named.ok()) return named.status();
    if (v.type().is_list) {
      PlanCall* call = plan_.add_calls();
      call->mutable_list()->set_op("list_copy");
      call->add_args(id);
      call->add_args(*named);
      call->set_num_outputs(1);
    } else {
      SharePlace(id, *named);
      if (plan_.tensors(id).same_bytes_as() > 0) {
        tensor(*named)->set_same_bytes_as(id + 1);
      }
    }
    return named;
  }

  Plan PlaceStorage() {
    const StoragePlan storage = AssignStorage(requests_);
    for (const auto& [id, request] : requests_of_) {
      tensor(id)->set_storage(storage.assignments[request].storage);
      tensor(id)->set_offset(storage.assignments[request].offset);
    }
    for (const std::vector<tir::Expr>& sizes : storage.storages) {
      PlanStorage* s = plan_.add_storage();
      for (const tir::Expr& size : sizes) {
        // Sizes are products of dimensions that were converted before.
        *s->add_bytes() = *ToDimExpr(size);
      }
    }
    return std::move(plan_);
  }

  const relay::Module& module_;
  const relay::Function& function_;
  const std::map<std::string, CompiledFunction>& compiled_;
  ConstantPool* const constants_;
  Plan plan_;
  std::map<const tir::Var*, int> symbols_;
  std::map<const tir::Var*, int> phases_;  // of those that calls bind
  int phase_ = 0;
  std::map<Value, int> ids_;
  std::map<std::string, int> names_;
  std::set<std::string> required_;  // without their sources
  std::vector<StorageRequest> requests_;
  std::map<int, int> requests_of_;  // tensor -> request
};

}  // namespace

absl::StatusOr<Plan> BuildPlan(
    const relay::Module& module, absl::string_view entry,
    const std::map<std::string, CompiledFunction>& compiled,
    ConstantPool* constants) {
  absl::StatusOr<Plan> plan =
      PlanBuilder(module, *module.main(), compiled, constants).Build();
  if (!plan.ok()) return plan;
  plan->set_version(kPlanVersion);
  plan->set_entry(std::string(entry));
  return plan;
}

}  // namespace ingot
