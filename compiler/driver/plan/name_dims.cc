#include "compiler/driver/plan/name_dims.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "runtime/plan/types.h"

namespace ingot {
namespace {

// Plans whose expressions have fewer parts stay as they are.
constexpr int64_t kWorthNames = 500;

// The different expressions of a plan. Each is known by a number, which is
// larger than those of its operands.
class Expressions {
 public:
  // Adds an expression, to which something refers; returns its number.
  int Add(const DimExpr& expr) {
    ++parts_;
    Key key{expr.op(), expr.value(), -1, -1};
    std::vector<int> operands;
    for (const DimExpr& operand : expr.operands()) {
      operands.push_back(Add(operand));
    }
    if (operands.size() == 2) {
      key = {expr.op(), 0, operands[0], operands[1]};
    }
    auto [place, is_new] = numbers_.emplace(key, all_.size());
    if (is_new) {
      bool varies = expr.op() == DimExpr::SYMBOL;
      for (int operand : operands) varies |= all_[operand].varies;
      all_.push_back({expr.op(), expr.value(), std::move(operands), varies});
    } else {
      // It refers to these already.
      for (int operand : operands) --all_[operand].references;
    }
    ++all_[place->second].references;
    return place->second;
  }

  // The parts that all the added expressions have together.
  int64_t parts() const { return parts_; }

  // Makes symbols of the plan of those that several others refer to.
  void Name(Plan* plan) {
    absl::flat_hash_set<std::string> taken;
    for (const PlanSymbol& symbol : plan->symbols())
      taken.insert(symbol.name());
    int next = 0;
    for (Expression& e : all_) {
      // What has no symbols is to stay a constant.
      if (e.operands.empty() || !e.varies || e.references < 2) continue;
      std::string name;
      do {
        name = absl::StrCat("d", next++);
      } while (taken.contains(name));
      const int symbol = plan->symbols_size();
      PlanSymbol* named = plan->add_symbols();
      named->set_name(name);
      *named->mutable_value() = Written(e);
      e.symbol = symbol;
    }
  }

  // Writes expression `number` in terms of the names.
  DimExpr Rewritten(int number) const { return Written(all_[number]); }

 private:
  // The operation, its value, its operands.
  using Key = std::tuple<int, int64_t, int, int>;
  struct Expression {
    DimExpr::Op op;
    int64_t value;
    std::vector<int> operands;
    bool varies;  // has symbols
    int references = 0;
    int symbol = -1;  // that stands for it
  };

  DimExpr Written(const Expression& e) const {
    DimExpr expr;
    if (e.symbol >= 0) {
      expr.set_op(DimExpr::SYMBOL);
      expr.set_value(e.symbol);
      return expr;
    }
    expr.set_op(e.op);
    expr.set_value(e.value);
    for (int operand : e.operands) {
      *expr.add_operands() = Written(all_[operand]);
    }
    return expr;
  }

  int64_t parts_ = 0;
  absl::flat_hash_map<Key, int> numbers_;
  std::vector<Expression> all_;
};

// Gives the tensors among `ends` types of their own, so that those of others
// may be written otherwise.
void KeepTypes(const absl::flat_hash_set<uint32_t>& ends, Plan* plan) {
  absl::flat_hash_set<uint32_t> inside;
  for (int t = 0; t < plan->tensors_size(); ++t) {
    if (ends.contains(static_cast<uint32_t>(t))) continue;
    inside.insert(plan->tensors(t).type());
  }
  absl::flat_hash_map<uint32_t, uint32_t> copies;
  for (int t = 0; t < plan->tensors_size(); ++t) {
    PlanTensor* tensor = plan->mutable_tensors(t);
    if (!ends.contains(static_cast<uint32_t>(t)) ||
        !inside.contains(tensor->type())) {
      continue;
    }
    const auto [copy, is_new] = copies.emplace(
        tensor->type(), static_cast<uint32_t>(plan->types_size()));
    if (is_new) {
      const PlanType type = PlanTypeOf(*plan, *tensor);
      *plan->add_types() = type;
    }
    tensor->set_type(copy->second);
  }
}

absl::flat_hash_set<uint32_t> EndsOf(const Plan& plan) {
  absl::flat_hash_set<uint32_t> ends;
  for (const auto* list : {&plan.inputs(), &plan.outputs(), &plan.states()}) {
    ends.insert(list->begin(), list->end());
  }
  return ends;
}

// The expressions that may be written otherwise, those of types once for each
// tensor that is not among `ends`.
std::vector<DimExpr*> Inside(const absl::flat_hash_set<uint32_t>& ends,
                             Plan* plan) {
  std::vector<DimExpr*> inside;
  for (int t = 0; t < plan->tensors_size(); ++t) {
    if (ends.contains(static_cast<uint32_t>(t))) continue;
    PlanType* type =
        plan->mutable_types(static_cast<int>(plan->tensors(t).type()));
    for (DimExpr& dim : *type->mutable_shape()) inside.push_back(&dim);
  }
  for (PlanStorage& storage : *plan->mutable_storage()) {
    for (DimExpr& bytes : *storage.mutable_bytes()) inside.push_back(&bytes);
  }
  return inside;
}

}  // namespace

void NameDims(Plan* plan) {
  const absl::flat_hash_set<uint32_t> ends = EndsOf(*plan);
  const std::vector<DimExpr*> inside = Inside(ends, plan);
  Expressions expressions;
  std::vector<int> numbers;
  for (const DimExpr* expr : inside) numbers.push_back(expressions.Add(*expr));
  if (expressions.parts() < kWorthNames) return;
  KeepTypes(ends, plan);
  expressions.Name(plan);
  for (size_t i = 0; i < inside.size(); ++i) {
    *inside[i] = expressions.Rewritten(numbers[i]);
  }
}

}  // namespace ingot
