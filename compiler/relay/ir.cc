#include "compiler/relay/ir.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "compiler/relay/dim_text.h"
#include "compiler/relay/op.h"
#include "compiler/tir/arith/simplify.h"

namespace ingot::relay {

TensorType SequenceType(DataType dtype) {
  TensorType type;
  type.dtype = dtype;
  type.is_sequence = true;
  return type;
}

std::string ToString(const TensorType& type) {
  if (type.is_sequence)
    return absl::StrCat("sequence<", type.dtype.ToString(), ">");
  return type.dtype.ToString() + ShapeToString(type.shape);
}

std::optional<std::vector<int64_t>> ConstShape(const Shape& shape) {
  std::vector<int64_t> dims;
  dims.reserve(shape.size());
  for (const Dim& dim : shape) {
    int64_t value;
    if (!tir::AsConstInt(dim, &value)) return std::nullopt;
    dims.push_back(value);
  }
  return dims;
}

bool SameShape(const Shape& a, const Shape& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    int64_t x, y;
    const bool const_x = tir::AsConstInt(a[i], &x);
    const bool const_y = tir::AsConstInt(b[i], &y);
    if (const_x && const_y) {
      if (x != y) return false;
    } else if (!tir::ProveEqual(a[i], b[i])) {
      return false;
    }
  }
  return true;
}

Shape MakeShape(absl::Span<const int64_t> dims) {
  Shape shape;
  shape.reserve(dims.size());
  for (int64_t dim : dims) shape.push_back(tir::MakeInt(dim));
  return shape;
}

// ----------------------------------------------------------------- Attrs, Node

namespace {

[[noreturn]] void NoDefault(const OpDef* op, absl::string_view name) {
  std::fprintf(stderr,
               "%s: attribute '%s' is not stored and has no such default\n",
               op == nullptr ? "no operator" : op->name.c_str(),
               std::string(name).c_str());
  std::abort();
}

}  // namespace

// Defined here, since each file that copies a node would compile all of this.
Attrs::Attrs() = default;
Attrs::Attrs(
    std::initializer_list<std::pair<const std::string, AttrValue>> init)
    : values_(init) {}
Attrs::Attrs(const Attrs&) = default;
Attrs::Attrs(Attrs&&) noexcept = default;
Attrs& Attrs::operator=(const Attrs&) = default;
Attrs& Attrs::operator=(Attrs&&) noexcept = default;
Attrs::~Attrs() = default;

void Attrs::Set(absl::string_view name, AttrValue value) {
  values_[std::string(name)] = std::move(value);
}

bool Attrs::Has(absl::string_view name) const {
  return values_.count(std::string(name)) > 0;
}

void Attrs::Erase(absl::string_view name) { values_.erase(std::string(name)); }

const AttrValue& Attrs::At(absl::string_view name) const {
  auto it = values_.find(std::string(name));
  if (it != values_.end()) return it->second;
  const AttrSpec* spec = op_ == nullptr ? nullptr : op_->FindAttr(name);
  if (spec == nullptr || !spec->default_value || spec->repeats) {
    NoDefault(op_, name);
  }
  return *spec->default_value;
}

std::vector<int64_t> Attrs::GetEach(absl::string_view name,
                                    size_t count) const {
  using Ints = std::vector<int64_t>;
  if (const Ints* stored = Find<Ints>(name); stored != nullptr) {
    if (!stored->empty()) return *stored;
  }
  const AttrSpec* spec = op_ == nullptr ? nullptr : op_->FindAttr(name);
  if (spec == nullptr || !spec->repeats) {
    NoDefault(op_, name);
  }
  return Ints(count, std::get<Ints>(*spec->default_value)[0]);
}

std::string TargetOf(const Attrs& attrs) {
  const std::string* target = attrs.Find<std::string>("target");
  return target == nullptr ? "" : *target;
}

const TensorType& Value::type() const { return node->outputs[index]; }

bool Node::Is(absl::string_view op_name) const {
  return kind == NodeKind::kOp && op != nullptr && op->name == op_name;
}

bool Node::IsKernel() const {
  return kind == NodeKind::kOp && op->role() == OpRole::kKernel;
}

bool Node::IsView() const {
  return kind == NodeKind::kOp && op->role() == OpRole::kView;
}

bool Node::IsExecutorStep() const {
  return kind == NodeKind::kOp && op->role() == OpRole::kExecutorStep;
}

bool Node::TakesSequences() const {
  return kind == NodeKind::kOp && op != nullptr && op->TakesSequences();
}

std::vector<std::string> Node::Callees() const {
  switch (kind) {
    case NodeKind::kCallFunction:
      return {callee};
    case NodeKind::kIf: {
      std::vector<std::string> branches;
      for (const char* branch : {"then", "else"}) {
        if (!attrs.Has(branch)) continue;
        branches.push_back(attrs.Get<std::string>(branch));
      }
      return branches;
    }
    case NodeKind::kLoop:
      return {attrs.Get<std::string>("body")};
    default:
      return {};
  }
}

// -------------------------------------------------------------------- Function

Node* Function::Append(NodeKind kind, absl::string_view name) {
  auto node = std::make_unique<Node>();
  node->kind = kind;
  node->name = std::string(name);
  if (reserved_.erase(node->name) == 0 &&
      !next_suffix_.emplace(node->name, 1).second) {
    node->name = UniqueName(name);
    reserved_.erase(node->name);
  }
  nodes_.push_back(std::move(node));
  return nodes_.back().get();
}

Node* Function::AddInput(absl::string_view name, TensorType type) {
  Node* node = Append(NodeKind::kInput, name.empty() ? "input" : name);
  node->outputs.push_back(std::move(type));
  inputs.push_back(node);
  return node;
}

Node* Function::AddConstant(absl::string_view name, Tensor value) {
  Node* node = Append(NodeKind::kConstant, name.empty() ? "const" : name);
  node->outputs.push_back({value.dtype(), MakeShape(value.shape())});
  node->constant = std::move(value);
  return node;
}

Node* Function::AddCall(absl::string_view callee, absl::string_view name,
                        std::vector<Value> inputs,
                        std::vector<TensorType> outputs) {
  Node* node = Append(NodeKind::kCallFunction, name.empty() ? callee : name);
  node->callee = std::string(callee);
  node->inputs = std::move(inputs);
  node->outputs = std::move(outputs);
  return node;
}

Node* Function::AddControl(NodeKind kind, absl::string_view name,
                           std::vector<Value> inputs, Attrs attrs,
                           std::vector<TensorType> outputs) {
  const absl::string_view stem = kind == NodeKind::kIf ? "if" : "loop";
  Node* node = Append(kind, name.empty() ? stem : name);
  node->inputs = std::move(inputs);
  node->attrs = std::move(attrs);
  node->outputs = std::move(outputs);
  return node;
}

void Function::ReplaceUses(Value from, Value to) {
  for (const auto& node : nodes_) {
    for (Value& input : node->inputs) {
      if (input == from) input = to;
    }
  }
  for (Value& output : outputs) {
    if (output == from) output = to;
  }
}

std::map<const Node*, std::vector<Node*>> Function::Users() const {
  std::map<const Node*, std::vector<Node*>> users;
  for (const auto& node : nodes_) {
    for (const Value& input : node->inputs) {
      if (input.node == nullptr) continue;
      std::vector<Node*>& list = users[input.node];
      // Once per user, even when it reads several results or one twice; all
      // operands of a user are seen in one go, so the last entry tells.
      if (list.empty() || list.back() != node.get()) list.push_back(node.get());
    }
  }
  return users;
}

int Function::RemoveDead() {
  absl::flat_hash_set<const Node*> live;
  std::vector<const Node*> work;
  auto need = [&](const Node* node) {
    if (node != nullptr && live.insert(node).second) work.push_back(node);
  };
  for (const Node* input : inputs) need(input);
  for (const Value& output : outputs) need(output.node);
  while (!work.empty()) {
    const Node* node = work.back();
    work.pop_back();
    for (const Value& input : node->inputs) need(input.node);
  }
  const size_t before = nodes_.size();
  nodes_.erase(std::remove_if(nodes_.begin(), nodes_.end(),
                              [&](const std::unique_ptr<Node>& node) {
                                return !live.contains(node.get());
                              }),
               nodes_.end());
  return static_cast<int>(before - nodes_.size());
}

absl::Status Function::Sort() {
  // Depth first in the order there is: what stands in order stays, and a node
  // appended late moves to just before its first user.
  absl::flat_hash_map<const Node*, size_t> position;
  for (size_t i = 0; i < nodes_.size(); ++i) position[nodes_[i].get()] = i;
  enum class State : char { kNew, kOpen, kDone };
  std::vector<State> state(nodes_.size(), State::kNew);
  std::vector<size_t> order;
  order.reserve(nodes_.size());
  struct Frame {
    size_t node;
    size_t next_input;
  };
  std::vector<Frame> stack;
  for (size_t root = 0; root < nodes_.size(); ++root) {
    if (state[root] != State::kNew) continue;
    stack.push_back({root, 0});
    state[root] = State::kOpen;
    while (!stack.empty()) {
      Frame& frame = stack.back();
      const Node& node = *nodes_[frame.node];
      if (frame.next_input == node.inputs.size()) {
        state[frame.node] = State::kDone;
        order.push_back(frame.node);
        stack.pop_back();
        continue;
      }
      const Node* input = node.inputs[frame.next_input++].node;
      if (input == nullptr) continue;
      auto it = position.find(input);
      if (it == position.end()) {
        return absl::FailedPreconditionError(absl::StrCat(
            "function @", QuoteName(this->name), ": node ",
            QuoteName(node.name), " reads a node of another function"));
      }
      if (state[it->second] == State::kOpen) {
        return absl::FailedPreconditionError(
            absl::StrCat("function @", QuoteName(this->name), ": node ",
                         QuoteName(node.name), " depends on itself"));
      }
      if (state[it->second] == State::kNew) {
        state[it->second] = State::kOpen;
        stack.push_back({it->second, 0});
      }
    }
  }
  std::vector<std::unique_ptr<Node>> sorted;
  sorted.reserve(nodes_.size());
  for (size_t i : order) sorted.push_back(std::move(nodes_[i]));
  nodes_ = std::move(sorted);
  return absl::OkStatus();
}

std::string Function::UniqueName(absl::string_view stem) {
  std::string name(stem.empty() ? "v" : stem);
  if (auto made = stem_of_.find(name); made != stem_of_.end()) {
    name = made->second;
  }
  auto [it, added] = next_suffix_.emplace(name, 1);
  while (!added) {
    name = absl::StrCat(it->first, "_", it->second++);
    added = next_suffix_.emplace(name, 1).second;
    if (added) stem_of_[name] = it->first;
  }
  reserved_.insert(name);
  return name;
}

// ---------------------------------------------------------------------- Module

Function* Module::AddFunction(absl::string_view name) {
  auto function = std::make_unique<Function>(std::string(name));
  Function* result = function.get();
  if (name == "main") {
    functions_.insert(functions_.begin(), std::move(function));
  } else {
    functions_.push_back(std::move(function));
  }
  return result;
}

Function* Module::Find(absl::string_view name) const {
  for (const auto& function : functions_) {
    if (function->name == name) return function.get();
  }
  return nullptr;
}

void Module::RemoveFunction(absl::string_view name) {
  const std::string removed(name);  // the name may be the function's own
  functions_.erase(std::remove_if(functions_.begin(), functions_.end(),
                                  [&](const std::unique_ptr<Function>& f) {
                                    return f->name == removed;
                                  }),
                   functions_.end());
}

tir::VarPtr Module::Symbol(absl::string_view name) {
  tir::VarPtr& symbol = symbols_[std::string(name)];
  if (symbol == nullptr) symbol = tir::MakeVar(name);
  return symbol;
}

tir::VarPtr Module::RunTimeSymbol(absl::string_view stem) {
  std::string name = absl::StrCat("?", stem);
  for (int i = 1; symbols_.count(name) > 0; ++i) {
    name = absl::StrCat("?", stem, "_", i);
  }
  return Symbol(name);
}

}  // namespace ingot::relay
