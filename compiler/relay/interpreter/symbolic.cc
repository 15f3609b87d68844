#include "compiler/relay/interpreter/symbolic.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/relay/op.h"
#include "compiler/te/te.h"

namespace ingot::relay {
namespace {

using tir::As;

// Scalars computed for one call: some milliseconds.
constexpr int64_t kMostScalars = 1 << 17;

std::optional<int64_t> SmallCount(absl::Span<const int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape) {
    if (extent < 0 || (extent > 0 && count > kMostKnownElements / extent)) {
      return std::nullopt;
    }
    count *= extent;
  }
  return count;
}

// Runs the definitions of one te graph. A result is unknown as a whole where
// the evaluator gives up, element by element where formulas leave it open.
class Evaluator {
 public:
  explicit Evaluator(const te::Graph& graph) : graph_(graph) {}

  void SetPlaceholder(const te::Tensor& tensor, const Partial* operand) {
    if (operand != nullptr) operands_[tensor.buffer.get()] = operand;
  }

  // Null where the tensor cannot be evaluated.
  const Partial* ValueOf(const tir::BufferNode* buffer) {
    auto operand = operands_.find(buffer);
    if (operand != operands_.end()) return operand->second;
    auto found = computed_.find(buffer);
    if (found == computed_.end()) {
      const te::Operation* operation = graph_.Find(buffer);
      found = computed_.emplace(buffer, Compute(operation, *buffer)).first;
    }
    return found->second.has_value() ? &*found->second : nullptr;
  }

 private:
  using Indices = std::vector<int64_t>;

  std::optional<Partial> Compute(const te::Operation* operation,
                                 const tir::BufferNode& buffer) {
    const auto shape = ConstShape(buffer.shape);
    if (operation == nullptr || !shape ||
        (operation->kind != te::OperationKind::kCompute &&
         operation->kind != te::OperationKind::kReduce)) {
      return std::nullopt;
    }
    const std::optional<int64_t> count = SmallCount(*shape);
    if (!count) return std::nullopt;
    Partial result{buffer.dtype, *shape, {}};
    Indices at(shape->size(), 0);
    for (int64_t i = 0; i < *count && budget_ > 0; ++i) {
      BindAll(operation->axis, at);
      result.values.push_back(operation->kind == te::OperationKind::kCompute
                                  ? Eval(operation->value)
                                  : Reduce(*operation));
      Advance(*shape, &at);
    }
    if (budget_ <= 0) return std::nullopt;
    return result;
  }

  Scalar Reduce(const te::Operation& operation) {
    const auto extents = ConstShape(operation.reduce_extent);
    if (!extents) return Scalar();
    const DataType t = operation.value->dtype;
    const tir::VarPtr so_far = tir::MakeVar("so_far", t);
    const tir::VarPtr term = tir::MakeVar("term", t);
    const tir::Expr joined = operation.reducer.combine(so_far, term);
    Scalar total = Eval(operation.reducer.identity);
    const std::optional<int64_t> count = SmallCount(*extents);
    if (!count) return Scalar();
    Indices at(extents->size(), 0);
    for (int64_t i = 0; i < *count && budget_ > 0; ++i) {
      BindAll(operation.reduce_axis, at);
      bound_[term.get()] = Eval(operation.value);
      bound_[so_far.get()] = total;
      total = Eval(joined);
      Advance(*extents, &at);
    }
    bound_.erase(term.get());
    bound_.erase(so_far.get());
    return total;
  }

  void BindAll(const std::vector<tir::VarPtr>& axes, const Indices& at) {
    for (size_t d = 0; d < axes.size(); ++d) {
      bound_[axes[d].get()] = Scalar::Int(at[d]);
    }
  }

  // The next index in row-major order.
  static void Advance(absl::Span<const int64_t> shape, Indices* at) {
    for (size_t d = shape.size(); d-- > 0;) {
      if (++(*at)[d] < shape[d]) return;
      (*at)[d] = 0;
    }
  }

  Scalar Eval(const tir::Expr& e) {
    if (--budget_ <= 0) return Scalar();
    switch (e->kind) {
      case tir::ExprKind::kIntImm:
        return Scalar::Int(As<tir::IntImm>(e)->value);
      case tir::ExprKind::kFloatImm:
        return Scalar::Float(As<tir::FloatImm>(e)->value);
      case tir::ExprKind::kVar: {
        auto bound = bound_.find(As<tir::Var>(e));
        // A variable that is no index is a dimension.
        return bound != bound_.end() ? bound->second
                                     : Scalar::Formula(e->dtype, e);
      }
      case tir::ExprKind::kUnary: {
        const auto& unary = *As<tir::Unary>(e);
        return EvalUnary(unary.op, e->dtype, Eval(unary.a));
      }
      case tir::ExprKind::kBinary: {
        const auto& binary = *As<tir::Binary>(e);
        return EvalBinary(binary.op, binary.a->dtype, Eval(binary.a),
                          Eval(binary.b));
      }
      case tir::ExprKind::kSelect: {
        const auto& select = *As<tir::Select>(e);
        const Scalar condition = Eval(select.condition);
        if (condition.kind != Scalar::kConstant) return Scalar();
        return Eval(condition.integer != 0 ? select.on_true : select.on_false);
      }
      case tir::ExprKind::kCast: {
        const auto& cast = *As<tir::Cast>(e);
        return EvalCast(e->dtype, cast.value->dtype, Eval(cast.value));
      }
      case tir::ExprKind::kLoad:
        return Load(*As<tir::Load>(e));
      case tir::ExprKind::kCall: {
        const auto& call = *As<tir::Call>(e);
        std::vector<Scalar> args;
        for (const tir::Expr& arg : call.args) args.push_back(Eval(arg));
        return EvalCall(call.intrinsic, call.args[0]->dtype, args);
      }
      case tir::ExprKind::kRamp:
      case tir::ExprKind::kBroadcast:
        break;  // no definition has vectors
    }
    return Scalar();
  }

  Scalar Load(const tir::Load& load) {
    std::vector<Scalar> indices;
    for (const tir::Expr& index : load.indices) indices.push_back(Eval(index));
    // The indices that are bound now are bound otherwise while another tensor
    // is computed.
    std::map<const tir::Var*, Scalar> saved;
    saved.swap(bound_);
    const Partial* from = ValueOf(load.buffer.get());
    saved.swap(bound_);
    if (from == nullptr) return Scalar();
    int64_t linear = 0;
    for (size_t d = 0; d < indices.size(); ++d) {
      const Scalar& index = indices[d];
      if (index.kind != Scalar::kConstant || index.integer < 0 ||
          index.integer >= from->shape[d]) {
        return Scalar();
      }
      linear = linear * from->shape[d] + index.integer;
    }
    return from->values[linear];
  }

  const te::Graph& graph_;
  std::map<const tir::BufferNode*, const Partial*> operands_;
  std::map<const tir::BufferNode*, std::optional<Partial>> computed_;
  std::map<const tir::Var*, Scalar> bound_;
  int64_t budget_ = kMostScalars;
};

// Whether all results are small and of known shape.
bool HasSmallResults(const Node& node) {
  for (const TensorType& type : node.outputs) {
    const auto shape = ConstShape(type.shape);
    if (type.is_sequence || !shape || !SmallCount(*shape)) return false;
  }
  return true;
}

}  // namespace

std::optional<std::vector<Partial>> EvaluateSymbolic(
    const Node& node, absl::Span<const Partial* const> operands) {
  if (node.kind != NodeKind::kOp || !HasSmallResults(node)) return std::nullopt;
  if (node.IsView()) {
    // Nothing is known of the bits of a formula.
    if (operands.empty() || operands[0] == nullptr ||
        operands[0]->dtype != node.outputs[0].dtype) {
      return std::nullopt;
    }
    Partial view = *operands[0];
    view.shape = *ConstShape(node.outputs[0].shape);
    const std::optional<int64_t> count = SmallCount(view.shape);
    if (*count != static_cast<int64_t>(view.values.size())) return std::nullopt;
    return std::vector<Partial>{std::move(view)};
  }
  if (node.IsExecutorStep() || node.op->compute == nullptr) return std::nullopt;
  te::Graph graph;
  std::vector<te::Tensor> inputs;
  Evaluator evaluator(graph);
  for (size_t i = 0; i < operands.size(); ++i) {
    inputs.emplace_back();
    if (node.inputs[i].node == nullptr) continue;
    const TensorType& type = node.inputs[i].type();
    inputs.back() =
        graph.Placeholder(absl::StrCat("in", i), type.dtype, type.shape);
    evaluator.SetPlaceholder(inputs.back(), operands[i]);
  }
  const absl::StatusOr<std::vector<te::Tensor>> outputs = node.op->compute(
      ComputeContext{graph, inputs, node.attrs, node.outputs, node.op->name});
  if (!outputs.ok()) return std::nullopt;
  std::vector<Partial> results;
  for (const te::Tensor& output : *outputs) {
    const Partial* value = evaluator.ValueOf(output.buffer.get());
    if (value == nullptr) return std::nullopt;
    results.push_back(*value);
  }
  return results;
}

}  // namespace ingot::relay
