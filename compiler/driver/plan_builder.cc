#include "compiler/driver/plan_builder.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/driver/storage_planner.h"
#include "compiler/relay/op.h"
#include "compiler/tir/simplify.h"
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

class PlanBuilder {
 public:
  PlanBuilder(const relay::Module& module, absl::string_view entry,
              const std::map<std::string, CompiledFunction>& compiled,
              ConstantPool* constants)
      : main_(*module.main()), compiled_(compiled), constants_(constants) {
    plan_.set_version(kPlanVersion);
    plan_.set_entry(std::string(entry));
    for (const auto& [name, var] : module.symbols()) {
      symbols_[var.get()] = plan_.symbols_size();
      plan_.add_symbols(name);
    }
  }

  absl::StatusOr<Plan> Build() {
    for (Node* input : main_.inputs) {
      absl::StatusOr<int> id = AddTensor(input->name, input->outputs[0]);
      if (!id.ok()) return id.status();
      tensor(*id)->set_input(plan_.inputs_size());
      plan_.add_inputs(*id);
      ids_[Value{input, 0}] = *id;
    }
    for (const auto& node : main_.nodes()) {
      absl::Status status;
      switch (node->kind) {
        case NodeKind::kInput:
          break;
        case NodeKind::kConstant:
          status = AddConstant(*node);
          break;
        case NodeKind::kOp:
          status = AddView(*node);
          break;
        case NodeKind::kCallFunction:
          status = AddCall(*node);
          break;
      }
      if (!status.ok()) {
        return absl::Status(status.code(),
                            absl::StrCat(node->name, ": ", status.message()));
      }
    }
    for (size_t i = 0; i < main_.outputs.size(); ++i) {
      absl::StatusOr<int> id = AddOutput(i);
      if (!id.ok()) return id.status();
      plan_.add_outputs(*id);
      Touch(*id, plan_.calls_size());
    }
    return PlaceStorage();
  }

 private:
  PlanTensor* tensor(int id) { return plan_.mutable_tensors(id); }

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
    if (node.op->fusion != relay::FusionKind::kView) {
      return absl::InternalError(absl::StrCat(
          node.op->name, " is left in main but is no view of its operand"));
    }
    absl::StatusOr<int> id = AddTensor(node.name, node.outputs[0]);
    if (!id.ok()) return id.status();
    const int viewed = ids_.at(node.inputs[0]);
    SharePlace(viewed, *id);
    ids_[Value{const_cast<Node*>(&node), 0}] = *id;
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
    call->set_source(function.source);
    for (const Value& v : node.inputs) {
      const int id = ids_.at(v);
      call->add_args(id);
      Touch(id, index);
    }
    int outputs = 0;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const std::string name =
          i == 0 ? node.name : absl::StrCat(node.name, ".", i);
      absl::StatusOr<int> id = AddTensor(name, node.outputs[i]);
      if (!id.ok()) return id.status();
      Request(*id, node.outputs[i], index);
      ids_[Value{const_cast<Node*>(&node), static_cast<int>(i)}] = *id;
      plan_.mutable_calls(index)->add_args(*id);
      ++outputs;
    }
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
    return absl::OkStatus();
  }

  // Asks for storage for tensor `id`, which call `index` writes.
  void Request(int id, const relay::TensorType& type, int index) {
    tir::Expr bytes = tir::MakeInt(static_cast<int64_t>(type.dtype.bytes()));
    for (const tir::Expr& dim : type.shape) bytes = bytes * dim;
    requests_of_[id] = static_cast<int>(requests_.size());
    requests_.push_back({tir::Simplify(bytes), index, index});
  }

  // Keeps tensor `id` alive until call `index`.
  void Touch(int id, int index) {
    auto it = requests_of_.find(id);
    if (it == requests_of_.end()) return;
    requests_[it->second].last = index;
  }

  // The tensor of output `i`, named as the model names it.
  absl::StatusOr<int> AddOutput(size_t i) {
    const Value v = main_.outputs[i];
    const int id = ids_.at(v);
    const std::string& name = i < main_.output_names.size()
                                  ? main_.output_names[i]
                                  : plan_.tensors(id).name();
    if (plan_.tensors(id).name() == name) return id;
    absl::StatusOr<int> named = AddTensor(name, v.type());
    if (!named.ok()) return named.status();
    SharePlace(id, *named);
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

  const relay::Function& main_;
  const std::map<std::string, CompiledFunction>& compiled_;
  ConstantPool* const constants_;
  Plan plan_;
  std::map<const tir::Var*, int> symbols_;
  std::map<Value, int> ids_;
  std::map<std::string, int> names_;
  std::vector<StorageRequest> requests_;
  std::map<int, int> requests_of_;  // tensor -> request
};

}  // namespace

absl::StatusOr<Plan> BuildPlan(
    const relay::Module& module, absl::string_view entry,
    const std::map<std::string, CompiledFunction>& compiled,
    ConstantPool* constants) {
  return PlanBuilder(module, entry, compiled, constants).Build();
}

}  // namespace ingot
