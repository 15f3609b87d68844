// The graph IR: a model as typed operator calls.
//
// A Module holds functions; a Function is a list of nodes in topological
// order; a Node is an input, a constant, an operator call, a call of another
// function of the module, or a branch or loop whose bodies are functions of the
// module, and has one or more typed results. A Value names one result. Nodes
// are owned by their function and mutable: passes rewrite them in place, and
// `verifier.h` checks the whole after every pass.
//
// Dimensions are integer expressions (tir) over symbolic variables. Most are
// bound from the shapes of the inputs when a run begins. Those whose names
// start with '?' get their values while it goes on: from the elements of
// bind_dims' operand, or from the shape of the result of a branch, a loop or an
// operator on sequences. Any of them may be 0. A node that uses such a symbol
// has an operand that it is a dimension of.
//
// A value is a tensor or a sequence of tensors, of one data type and of any
// shapes, which only operators on sequences (ops/sequence.cc), branches, loops
// and functions take and give; kernels never do. Not thread-safe.
#ifndef INGOT_COMPILER_RELAY_IR_H_
#define INGOT_COMPILER_RELAY_IR_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/relay/sources.h"
#include "compiler/tir/ir.h"
#include "runtime/data_type.h"
#include "runtime/tensor.h"

namespace ingot::relay {

using Dim = tir::Expr;  // i64
using Shape = std::vector<Dim>;

struct TensorType {
  DataType dtype;
  Shape shape;
  // A sequence of tensors (runtime/tensor_sequence.h); it has no shape itself.
  bool is_sequence = false;
};

// The type of a sequence of such tensors.
TensorType SequenceType(DataType dtype);

// f32[1, n, 64]; symbolic variables by name. sequence<f32>.
std::string ToString(const TensorType& type);
// All dimensions as constants, or nothing if one is symbolic.
std::optional<std::vector<int64_t>> ConstShape(const Shape& shape);
// True when every dimension is provably equal.
bool SameShape(const Shape& a, const Shape& b);
Shape MakeShape(absl::Span<const int64_t> dims);

using AttrValue =
    std::variant<int64_t, double, std::string, std::vector<int64_t>,
                 std::vector<double>, std::vector<std::string>, DataType,
                 Shape /* symbolic integers, e.g. reshape's target */>;

struct OpDef;  // op.h

// Named attributes in name order: those that a call stores. Once they are bound
// to an operator, as every call's are, reading one that is not stored gives the
// default of the operator's definition.
class Attrs {
 public:
  Attrs();
  Attrs(std::initializer_list<std::pair<const std::string, AttrValue>> init);
  Attrs(const Attrs&);
  Attrs(Attrs&&) noexcept;
  Attrs& operator=(const Attrs&);
  Attrs& operator=(Attrs&&) noexcept;
  ~Attrs();

  void Set(absl::string_view name, AttrValue value);
  bool Has(absl::string_view name) const;  // whether it is stored
  void Erase(absl::string_view name);
  // The stored value, or the default. The definition has been checked against
  // what is stored when the node was made, so it is our bug, and ends the
  // process, when there is neither or the type is another one.
  template <typename T>
  const T& Get(absl::string_view name) const {
    return std::get<T>(At(name));
  }
  // The stored value; null where there is none.
  template <typename T>
  const T* Find(absl::string_view name) const {
    auto it = values_.find(std::string(name));
    return it == values_.end() ? nullptr : &std::get<T>(it->second);
  }
  // A list of one value for each dimension or the like, which are `count`: the
  // stored one or, where that is left out or empty, the default's only value
  // `count` times (AttrSpec::repeats).
  std::vector<int64_t> GetEach(absl::string_view name, size_t count) const;
  const std::map<std::string, AttrValue>& values() const { return values_; }

  // `op` must outlive the attributes and all copies of them.
  void BindTo(const OpDef& op) { op_ = &op; }
  const OpDef* op() const { return op_; }  // null: not bound

 private:
  const AttrValue& At(absl::string_view name) const;

  const OpDef* op_ = nullptr;
  std::map<std::string, AttrValue> values_;
};

// The target that a call is pinned to, or that owns a function; empty: none.
std::string TargetOf(const Attrs& attrs);

class Node;

// One result of a node.
struct Value {
  Node* node = nullptr;
  int index = 0;

  const TensorType& type() const;
  bool operator==(const Value& o) const {
    return node == o.node && index == o.index;
  }
  bool operator<(const Value& o) const {
    return node != o.node ? node < o.node : index < o.index;
  }
  explicit operator bool() const { return node != nullptr; }
};

enum class NodeKind {
  kInput,
  kConstant,
  kOp,
  kCallFunction,
  // One of two functions, which take all operands but the first, the condition
  // (bool, one element), and give the results. Attributes then, else: names;
  // a run that comes to one that is left out fails.
  kIf,
  // A function again and again. Operands: how often at most (i64), whether at
  // all (bool, one element), either of which may be left out; `carried` values;
  // the others, which stay. The function takes the number of the iteration
  // (i64[]), the carried values and the others, and gives whether to go on
  // (bool), the next carried values, and any number of further values, which
  // the loop's results hold stacked along a new first dimension, after the
  // carried ones. Attributes body (a name), carried (a count).
  kLoop,
};

class Node {
 public:
  NodeKind kind = NodeKind::kOp;
  // Unique in its function once verified; results print as %name or, of
  // several, %name#1. Comes from the model where the model has a name.
  std::string name;
  const OpDef* op = nullptr;  // kOp
  std::string callee;         // kCallFunction: a function of the module
  // Annotations of a kOp. {"target": "dnnl"} pins any call to the target of
  // that key, or kind. {"constant": …} of a kConstant inside a region: its key
  // among the constants that are loaded.
  Attrs attrs;
  std::vector<Value> inputs;        // an optional operand left out: null Value
  std::vector<TensorType> outputs;  // types of the results
  std::optional<Tensor> constant;   // kConstant
  // The model's nodes that this node computes, for people.
  Sources sources;

  bool Is(absl::string_view op_name) const;  // a call of that operator
  bool IsControl() const {
    return kind == NodeKind::kIf || kind == NodeKind::kLoop;
  }
  // A call of an operator with that role (OpDef::role).
  bool IsKernel() const;
  bool IsView() const;
  bool IsExecutorStep() const;
  // A call of an operator that takes or gives sequences.
  bool TakesSequences() const;
  // Whether symbols that stand alone in its results' types get their values
  // from these.
  bool BindsResults() const { return IsControl() || TakesSequences(); }
  // The functions of the module that it names.
  std::vector<std::string> Callees() const;
};

class Function {
 public:
  explicit Function(std::string name) : name(std::move(name)) {}

  std::string name;
  // {"target": "dnnl"}: a region, and the key of the target that owns it.
  // {"composite": "conv2d_relu"}: a pattern of a target, called in its regions.
  // {"primitive": 1}: one kernel.
  Attrs attrs;
  std::vector<Node*> inputs;  // kInput nodes, in order
  std::vector<Value> outputs;
  std::vector<std::string>
      output_names;  // parallel to outputs; the model's names

  // In topological order. Passes that insert out of order call Sort().
  const std::vector<std::unique_ptr<Node>>& nodes() const { return nodes_; }

  // A name that is taken already gets a suffix (as UniqueName does it), in all
  // four; an empty one is made from the operator.
  Node* AddInput(absl::string_view name, TensorType type);
  Node* AddConstant(absl::string_view name, Tensor value);
  // Appends a call and infers its types (op.h). InvalidArgument or
  // Unimplemented name the node and say what is wrong with its operands.
  absl::StatusOr<Node*> AddOp(absl::string_view op, absl::string_view name,
                              std::vector<Value> inputs, Attrs attrs = {});
  Node* AddCall(absl::string_view callee, absl::string_view name,
                std::vector<Value> inputs, std::vector<TensorType> outputs);

  // A branch or a loop, whose attributes name its functions.
  Node* AddControl(NodeKind kind, absl::string_view name,
                   std::vector<Value> inputs, Attrs attrs,
                   std::vector<TensorType> outputs);

  // Every use of `from` (operands and outputs) becomes `to`.
  void ReplaceUses(Value from, Value to);
  // Users of each node, computed now; invalid after the next change.
  std::map<const Node*, std::vector<Node*>> Users() const;
  // Drops nodes that no output needs (inputs stay). Returns how many.
  int RemoveDead();
  // Restores topological order, stable; FailedPrecondition on a cycle.
  absl::Status Sort();
  // A name not used yet, made from `stem` (or what that was made from), and
  // kept for the caller: the next call gives another one.
  std::string UniqueName(absl::string_view stem);

 private:
  Node* Append(NodeKind kind, absl::string_view name);

  std::vector<std::unique_ptr<Node>> nodes_;
  // Every name given out, with the next suffix to try for it as a stem.
  std::map<std::string, int> next_suffix_;
  // The name that a name with a suffix was made from.
  std::map<std::string, std::string> stem_of_;
  // Names given out by UniqueName and not yet taken by a node.
  std::set<std::string> reserved_;
};

// A node of the model's own graph, for people.
struct ModelNode {
  std::string name;  // as in Node::sources
  std::string op;    // "Conv"
};

class Module {
 public:
  // The nodes that the frontend read, in the model's order; empty for a module
  // that came from text. A node that no Node::sources names any more was folded
  // away.
  std::vector<ModelNode> model_nodes;

  // What the model's maker wrote into it, by name, all of it UTF-8; empty for a
  // module that came from text.
  std::map<std::string, std::string> metadata;

  // The function that runs the model is called "main".
  Function* AddFunction(absl::string_view name);
  Function* Find(absl::string_view name) const;  // null when absent
  Function* main() const { return Find("main"); }
  void RemoveFunction(absl::string_view name);
  // In creation order; main first.
  const std::vector<std::unique_ptr<Function>>& functions() const {
    return functions_;
  }
  // Symbolic dimensions by name, one variable a name for the whole module.
  tir::VarPtr Symbol(absl::string_view name);
  // A new one, whose value is known only while the module runs.
  tir::VarPtr RunTimeSymbol(absl::string_view stem);
  const std::map<std::string, tir::VarPtr>& symbols() const { return symbols_; }

 private:
  std::vector<std::unique_ptr<Function>> functions_;
  std::map<std::string, tir::VarPtr> symbols_;
};

}  // namespace ingot::relay

#endif  // INGOT_COMPILER_RELAY_IR_H_
