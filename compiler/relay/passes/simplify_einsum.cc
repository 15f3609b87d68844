// The rule on einsum: a sum of products over named dimensions becomes products
// of matrices, element-wise products and sums, of two operands at a time.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "compiler/relay/dim.h"
#include "compiler/relay/einsum.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/rewrite.h"
#include "compiler/relay/passes/simplify.h"

namespace ingot::relay {
namespace {

using Ints = std::vector<int64_t>;
// Dimensions by number. Those of the result come first, in its order, then
// those that are summed over.
using Labels = std::vector<int>;

bool Has(const Labels& labels, int label) {
  return std::count(labels.begin(), labels.end(), label) != 0;
}

Labels operator+(Labels a, const Labels& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// An operand, whose dimensions that are broadcast, of one element, have no
// label.
struct Operand {
  Value value;
  Labels labels;
};

class Contraction {
 public:
  Contraction(RuleContext* context, Shape extents, int results,
              std::vector<Operand> operands)
      : c_(*context),
        extents_(std::move(extents)),
        results_(results),
        operands_(std::move(operands)) {}

  // Whether numbers that are narrower than sums are rounded at the end alone.
  bool RoundsOnce() const {
    if (operands_.size() > 2) return false;
    for (const Operand& operand : operands_) {
      if (operands_.size() == 2 && !Unshared(operand.labels, 0, 1).empty()) {
        return false;
      }
    }
    return true;
  }

  absl::StatusOr<Value> Run(const Shape& shape) {
    while (operands_.size() > 1) {
      const auto [a, b] = CheapestPair();
      INGOT_ASSIGN_OR_RETURN(Operand product, Join(a, b));
      operands_.erase(operands_.begin() + static_cast<int64_t>(b));
      operands_[a] = std::move(product);
    }
    INGOT_ASSIGN_OR_RETURN(const Operand sum, SumAlone(operands_[0], 0, 0));
    Labels order = sum.labels;
    std::sort(order.begin(), order.end());
    INGOT_ASSIGN_OR_RETURN(const Value turned, Turned(sum, order));
    return Reshaped(turned, shape);
  }

 private:
  Shape ShapeOf(const Labels& labels) const {
    Shape shape;
    for (const int label : labels) shape.push_back(extents_[label]);
    return shape;
  }

  Dim Elements(const Labels& labels) const {
    Dim product = tir::MakeInt(1);
    for (const int label : labels) product = product * extents_[label];
    return SimplifyDim(product);
  }

  // Whether the result or an operand other than these has the label.
  bool IsNeeded(int label, size_t a, size_t b) const {
    if (label < results_) return true;
    for (size_t i = 0; i < operands_.size(); ++i) {
      if (i != a && i != b && Has(operands_[i].labels, label)) return true;
    }
    return false;
  }

  // Those of the operand's labels, one of `a` and `b`, that nothing else has.
  Labels Unshared(const Labels& labels, size_t a, size_t b) const {
    Labels alone;
    for (const int label : labels) {
      const bool both = a != b && Has(operands_[a].labels, label) &&
                        Has(operands_[b].labels, label);
      if (!both && !IsNeeded(label, a, b)) alone.push_back(label);
    }
    return alone;
  }

  // Estimates the multiplications that a product of two operands takes, and
  // the elements that it has.
  std::pair<double, double> CostOf(size_t a, size_t b) const {
    constexpr int64_t kGuess = 64;  // of a symbol
    double products = 1, elements = 1;
    Labels all = operands_[a].labels + operands_[b].labels;
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    for (const int label : all) {
      int64_t extent = kGuess;
      tir::AsConstInt(extents_[label], &extent);
      products *= static_cast<double>(extent);
      if (IsNeeded(label, a, b)) elements *= static_cast<double>(extent);
    }
    return {products, elements};
  }

  std::pair<size_t, size_t> CheapestPair() const {
    std::pair<size_t, size_t> best = {0, 1};
    for (size_t b = 1; b < operands_.size(); ++b) {
      for (size_t a = 0; a < b; ++a) {
        if (CostOf(a, b) < CostOf(best.first, best.second)) best = {a, b};
      }
    }
    return best;
  }

  absl::StatusOr<Value> Reshaped(const Value& value, const Shape& shape) {
    if (SameShape(value.type().shape, shape)) return value;
    return c_.Add("reshape", {value}, {{"shape", shape}});
  }

  // The operand's value with its labels in this order and nothing else.
  absl::StatusOr<Value> Turned(const Operand& operand, const Labels& order) {
    INGOT_ASSIGN_OR_RETURN(Value value,
                           Reshaped(operand.value, ShapeOf(operand.labels)));
    if (operand.labels == order) return value;
    Ints axes;
    for (const int label : order) {
      axes.push_back(
          std::find(operand.labels.begin(), operand.labels.end(), label) -
          operand.labels.begin());
    }
    return c_.Add("transpose", {value}, {{"axes", axes}});
  }

  // Sums over the labels that nothing else has.
  absl::StatusOr<Operand> SumAlone(const Operand& operand, size_t a, size_t b) {
    const Labels alone = Unshared(operand.labels, a, b);
    if (alone.empty()) return operand;
    Operand sum;
    Ints axes;
    for (size_t d = 0; d < operand.labels.size(); ++d) {
      if (Has(alone, operand.labels[d])) {
        axes.push_back(static_cast<int64_t>(d));
      } else {
        sum.labels.push_back(operand.labels[d]);
      }
    }
    INGOT_ASSIGN_OR_RETURN(const Value value,
                           Reshaped(operand.value, ShapeOf(operand.labels)));
    INGOT_ASSIGN_OR_RETURN(sum.value,
                           c_.Add("reduce_sum", {value},
                                  {{"axes", axes}, {"keepdims", int64_t{0}}}));
    return sum;
  }

  absl::StatusOr<Operand> Join(size_t a, size_t b) {
    INGOT_ASSIGN_OR_RETURN(const Operand left, SumAlone(operands_[a], a, b));
    INGOT_ASSIGN_OR_RETURN(const Operand right, SumAlone(operands_[b], a, b));
    Labels batch, summed, rows, columns;
    for (const int label : left.labels) {
      if (!Has(right.labels, label)) {
        rows.push_back(label);
      } else {
        (IsNeeded(label, a, b) ? batch : summed).push_back(label);
      }
    }
    for (const int label : right.labels) {
      if (!Has(left.labels, label)) columns.push_back(label);
    }
    for (Labels* labels : {&batch, &rows, &columns}) {
      std::sort(labels->begin(), labels->end());
    }
    if (summed.empty()) return Multiply(left, right, batch + rows + columns);
    // The last of the result's dimensions should be columns.
    const bool is_result = operands_.size() == 2 && !rows.empty();
    if (is_result && (columns.empty() || rows.back() > columns.back())) {
      return Product(right, left, batch, columns, summed, rows);
    }
    return Product(left, right, batch, rows, summed, columns);
  }

  // The element-wise product.
  absl::StatusOr<Operand> Multiply(const Operand& left, const Operand& right,
                                   Labels labels) {
    std::sort(labels.begin(), labels.end());
    Operand product;
    product.labels = labels;
    std::vector<Value> factors;
    for (const Operand* factor : {&left, &right}) {
      Labels own;
      Shape shape;
      for (const int label : labels) {
        const bool has = Has(factor->labels, label);
        if (has) own.push_back(label);
        shape.push_back(has ? extents_[label] : tir::MakeInt(1));
      }
      INGOT_ASSIGN_OR_RETURN(const Value turned, Turned(*factor, own));
      INGOT_ASSIGN_OR_RETURN(const Value wide, Reshaped(turned, shape));
      factors.push_back(wide);
    }
    INGOT_ASSIGN_OR_RETURN(product.value, c_.Add("mul", factors));
    return product;
  }

  // The product of matrices, one for each element of the batch.
  absl::StatusOr<Operand> Product(const Operand& left, const Operand& right,
                                  const Labels& batch, const Labels& rows,
                                  const Labels& summed, const Labels& columns) {
    INGOT_ASSIGN_OR_RETURN(Value a, Turned(left, batch + rows + summed));
    INGOT_ASSIGN_OR_RETURN(Value b, Turned(right, batch + summed + columns));
    Shape shape = ShapeOf(batch);
    shape.push_back(Elements(rows));
    shape.push_back(Elements(summed));
    INGOT_ASSIGN_OR_RETURN(a, Reshaped(a, shape));
    shape.end()[-2] = shape.back();
    shape.back() = Elements(columns);
    INGOT_ASSIGN_OR_RETURN(b, Reshaped(b, shape));
    INGOT_ASSIGN_OR_RETURN(const Value made, c_.Add("matmul", {a, b}));
    Operand product;
    product.labels = batch + rows + columns;
    INGOT_ASSIGN_OR_RETURN(product.value,
                           Reshaped(made, ShapeOf(product.labels)));
    return product;
  }

  RuleContext& c_;
  const Shape extents_;  // of each label
  const int results_;    // labels of the result
  std::vector<Operand> operands_;
};

bool HasRepeats(Labels labels) {
  std::sort(labels.begin(), labels.end());
  return std::adjacent_find(labels.begin(), labels.end()) != labels.end();
}

// Not where an operand has a label twice, as a diagonal does, nor where
// extents of a label are only equal because a run checks that.
absl::StatusOr<Value> Einsum(RuleContext& c, const Node& node) {
  std::vector<Shape> shapes;
  for (const Value& input : node.inputs) shapes.push_back(input.type().shape);
  INGOT_ASSIGN_OR_RETURN(
      const EinsumPlan plan,
      PlanEinsum(node.attrs.Get<std::string>("equation"), shapes));
  const int results = static_cast<int>(plan.output.size());
  Shape extents = plan.output;
  extents.insert(extents.end(), plan.summed.begin(), plan.summed.end());
  std::vector<Operand> operands;
  for (size_t i = 0; i < shapes.size(); ++i) {
    Operand operand = {node.inputs[i], {}};
    for (size_t d = 0; d < shapes[i].size(); ++d) {
      const EinsumPlan::Source& source = plan.operands[i][d];
      if (source.broadcast) continue;
      const int label = source.index + (source.reduced ? results : 0);
      if (!SameShape({extents[label]}, {shapes[i][d]})) return Value{};
      operand.labels.push_back(label);
    }
    if (HasRepeats(operand.labels)) return Value{};
    operands.push_back(std::move(operand));
  }
  Contraction contraction(&c, extents, results, std::move(operands));
  const DataType t = node.outputs[0].dtype;
  if (t.is_float() && t.bits < 32 && !contraction.RoundsOnce()) return Value{};
  return contraction.Run(node.outputs[0].shape);
}

constexpr Rule kRules[] = {
    {"einsum in products of two", "einsum", 1, Einsum},
};

}  // namespace

absl::Span<const Rule> EinsumRules() { return kRules; }

}  // namespace ingot::relay
