#include "compiler/driver/plan/name_dims.h"

#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/plan/check.h"
#include "runtime/plan/dim_expr.h"
#include "runtime/plan/phases.h"
#include "runtime/plan/small_plan.h"
#include "runtime/plan/types.h"

namespace ingot {
namespace {

DimExpr Const(int64_t value) {
  DimExpr expr;
  expr.set_value(value);
  return expr;
}

DimExpr Binary(DimExpr::Op op, const DimExpr& a, const DimExpr& b) {
  DimExpr expr;
  expr.set_op(op);
  *expr.add_operands() = a;
  *expr.add_operands() = b;
  return expr;
}

// The small plan with so many tensors more, each half as long as the one before
// it, as layers with strides are.
Plan WithLayers(int layers) {
  Plan plan = SmallPlan();
  DimExpr dim;
  dim.set_op(DimExpr::SYMBOL);
  for (int i = 0; i < layers; ++i) {
    dim = Binary(DimExpr::FLOOR_DIV, Binary(DimExpr::ADD, dim, Const(3)),
                 Const(2));
    PlanTensor* tensor = plan.add_tensors();
    *tensor = plan.tensors(2);
    tensor->set_name("layer" + std::to_string(i));
    PlanType type = PlanTypeOf(plan, 2);
    type.clear_shape();
    *type.add_shape() = dim;
    tensor->set_type(static_cast<uint32_t>(plan.types_size()));
    *plan.add_types() = type;
    tensor->set_storage(static_cast<uint32_t>(plan.storage_size()));
    *plan.add_storage()->add_bytes() = Binary(DimExpr::MUL, dim, Const(4));
  }
  AssignPhases(&plan);
  return plan;
}

// The values of all shapes and sizes where the first symbol is 1000.
std::vector<int64_t> Values(const Plan& plan) {
  std::vector<int64_t> symbols = {1000};
  for (int i = 1; i < plan.symbols_size(); ++i) {
    symbols.push_back(*EvaluateDimExpr(plan.symbols(i).value(), symbols));
  }
  std::vector<int64_t> values;
  for (const PlanTensor& tensor : plan.tensors()) {
    for (const DimExpr& dim : PlanTypeOf(plan, tensor).shape()) {
      values.push_back(*EvaluateDimExpr(dim, symbols));
    }
  }
  for (const PlanStorage& storage : plan.storage()) {
    for (const DimExpr& bytes : storage.bytes()) {
      values.push_back(*EvaluateDimExpr(bytes, symbols));
    }
  }
  return values;
}

TEST(NameDims, NamesWhatALargePlanRepeats) {
  const Plan before = WithLayers(20);
  ASSERT_TRUE(CheckPlan(before).ok()) << CheckPlan(before);
  Plan plan = before;
  NameDims(&plan);
  EXPECT_TRUE(CheckPlan(plan).ok()) << CheckPlan(plan);
  EXPECT_EQ(Values(plan), Values(before));
  EXPECT_LT(plan.ByteSizeLong(), before.ByteSizeLong() / 3);
  // A layer's length, in terms of the one before it.
  ASSERT_EQ(plan.symbols_size(), 21);
  EXPECT_EQ(DimExprToString(plan.symbols(5).value(), SymbolNames(plan)),
            "(d3 + 3)/2");
  EXPECT_EQ(PlanTypeOf(plan, 7).shape(0).op(), DimExpr::SYMBOL);
}

TEST(NameDims, LeavesSmallPlansAndWhatPeopleRead) {
  Plan before = WithLayers(3);
  before.mutable_tensors(3)->set_type(before.tensors(2).type());
  Plan plan = before;
  NameDims(&plan);
  EXPECT_EQ(plan.SerializeAsString(), before.SerializeAsString());

  plan = WithLayers(20);
  const int last = plan.tensors_size() - 1;
  plan.add_outputs(static_cast<uint32_t>(last));
  const std::string shape = PlanTypeOf(plan, last).shape(0).SerializeAsString();
  NameDims(&plan);
  EXPECT_GT(plan.symbols_size(), 1);
  EXPECT_EQ(PlanTypeOf(plan, last).shape(0).SerializeAsString(), shape);
}

// The output keeps its shape where another tensor is of its type.
TEST(NameDims, LeavesTypesOfOutputs) {
  Plan plan = WithLayers(20);
  const int last = plan.tensors_size() - 1;
  plan.set_outputs(0, static_cast<uint32_t>(last));
  PlanTensor* other = plan.add_tensors();
  *other = plan.tensors(last);
  other->set_name("other");
  const std::string shape = PlanTypeOf(plan, last).shape(0).SerializeAsString();
  const std::vector<int64_t> values = Values(plan);
  NameDims(&plan);
  EXPECT_GT(plan.symbols_size(), 1);
  EXPECT_EQ(PlanTypeOf(plan, last).shape(0).SerializeAsString(), shape);
  EXPECT_NE(PlanTypeOf(plan, last + 1).shape(0).SerializeAsString(), shape);
  EXPECT_EQ(Values(plan), values);
}

// A constant's dimension must not become a symbol.
TEST(NameDims, LeavesWhatHasNoSymbols) {
  Plan plan = WithLayers(20);
  for (int t : {3, 4}) {
    *plan.mutable_types(static_cast<int>(plan.tensors(t).type()))->add_shape() =
        Binary(DimExpr::MUL, Const(2), Const(3));
  }
  NameDims(&plan);
  EXPECT_GT(plan.symbols_size(), 1);
  for (int t : {3, 4}) EXPECT_FALSE(HasSymbols(PlanTypeOf(plan, t).shape(1)));
}

}  // namespace
}  // namespace ingot
