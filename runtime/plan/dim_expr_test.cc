#include "runtime/plan/dim_expr.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace ingot {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

DimExpr Const(int64_t value) {
  DimExpr expr;
  expr.set_value(value);
  return expr;
}

DimExpr Symbol(int64_t index) {
  DimExpr expr;
  expr.set_op(DimExpr::SYMBOL);
  expr.set_value(index);
  return expr;
}

DimExpr Binary(DimExpr::Op op, DimExpr a, DimExpr b) {
  DimExpr expr;
  expr.set_op(op);
  *expr.add_operands() = a;
  *expr.add_operands() = b;
  return expr;
}

int64_t Value(DimExpr::Op op, int64_t a, int64_t b) {
  const auto value = EvaluateDimExpr(Binary(op, Symbol(0), Symbol(1)), {a, b});
  EXPECT_TRUE(value.ok()) << value.status();
  return value.value_or(-99);
}

bool Fails(DimExpr::Op op, int64_t a, int64_t b) {
  return !EvaluateDimExpr(Binary(op, Const(a), Const(b)), {}).ok();
}

TEST(DimExpr, Arithmetic) {
  EXPECT_EQ(Value(DimExpr::ADD, 2, 3), 5);
  EXPECT_EQ(Value(DimExpr::SUB, 2, 3), -1);
  EXPECT_EQ(Value(DimExpr::MUL, -2, 3), -6);
  EXPECT_EQ(Value(DimExpr::MIN, -2, 3), -2);
  EXPECT_EQ(Value(DimExpr::MAX, -2, 3), 3);
}

TEST(DimExpr, DivisionRoundsDown) {
  EXPECT_EQ(Value(DimExpr::FLOOR_DIV, 7, 2), 3);
  EXPECT_EQ(Value(DimExpr::FLOOR_DIV, -7, 2), -4);
  EXPECT_EQ(Value(DimExpr::FLOOR_DIV, 7, -2), -4);
  EXPECT_EQ(Value(DimExpr::FLOOR_DIV, -7, -2), 3);
  EXPECT_EQ(Value(DimExpr::FLOOR_DIV, -6, 2), -3);
  EXPECT_EQ(Value(DimExpr::FLOOR_MOD, 7, 2), 1);
  EXPECT_EQ(Value(DimExpr::FLOOR_MOD, -7, 2), 1);
  EXPECT_EQ(Value(DimExpr::FLOOR_MOD, 7, -2), -1);
  EXPECT_EQ(Value(DimExpr::FLOOR_MOD, -6, 2), 0);
  EXPECT_EQ(Value(DimExpr::FLOOR_MOD, kMin, -1), 0);
  EXPECT_EQ(Value(DimExpr::FLOOR_DIV, 5, -1), -5);
}

TEST(DimExpr, OverflowAndZeroAreErrors) {
  EXPECT_TRUE(Fails(DimExpr::ADD, kMax, 1));
  EXPECT_TRUE(Fails(DimExpr::SUB, kMin, 1));
  EXPECT_TRUE(Fails(DimExpr::MUL, kMax, 2));
  EXPECT_TRUE(Fails(DimExpr::FLOOR_DIV, kMin, -1));
  EXPECT_TRUE(Fails(DimExpr::FLOOR_DIV, 1, 0));
  EXPECT_TRUE(Fails(DimExpr::FLOOR_MOD, 1, 0));
}

TEST(DimExpr, MalformedIsFound) {
  DimExpr one_operand;
  one_operand.set_op(DimExpr::ADD);
  *one_operand.add_operands() = Const(1);
  EXPECT_FALSE(CheckDimExpr(one_operand, 0).ok());
  EXPECT_FALSE(EvaluateDimExpr(one_operand, {}).ok());

  DimExpr unknown = Binary(static_cast<DimExpr::Op>(77), Const(1), Const(2));
  EXPECT_FALSE(CheckDimExpr(unknown, 0).ok());
  EXPECT_FALSE(EvaluateDimExpr(unknown, {}).ok());

  for (int64_t bad : {int64_t{-1}, int64_t{2}, kMin, kMax}) {
    EXPECT_FALSE(CheckDimExpr(Symbol(bad), 2).ok());
    EXPECT_FALSE(EvaluateDimExpr(Symbol(bad), {1, 2}).ok());
  }
  EXPECT_TRUE(CheckDimExpr(Symbol(1), 2).ok());

  DimExpr const_with_operand = Const(1);
  *const_with_operand.add_operands() = Const(1);
  EXPECT_FALSE(CheckDimExpr(const_with_operand, 0).ok());
}

TEST(DimExpr, TooDeepIsFound) {
  DimExpr deep = Const(1);
  for (int i = 0; i < kMaxDimExprDepth; ++i) {
    deep = Binary(DimExpr::ADD, deep, Const(1));
  }
  EXPECT_TRUE(CheckDimExpr(deep, 0).ok());
  EXPECT_EQ(*EvaluateDimExpr(deep, {}), kMaxDimExprDepth + 1);
  deep = Binary(DimExpr::ADD, deep, Const(1));
  EXPECT_FALSE(CheckDimExpr(deep, 0).ok());
  EXPECT_FALSE(EvaluateDimExpr(deep, {}).ok());
}

TEST(DimExpr, Prints) {
  const std::vector<std::string> names = {"N", "M"};
  const DimExpr sum = Binary(DimExpr::ADD, Symbol(0), Const(1));
  EXPECT_EQ(DimExprToString(sum, names), "N + 1");
  EXPECT_EQ(DimExprToString(Binary(DimExpr::MUL, sum, Symbol(1)), names),
            "(N + 1)*M");
  EXPECT_EQ(DimExprToString(Binary(DimExpr::ADD, Symbol(1), sum), names),
            "M + (N + 1)");
  EXPECT_EQ(DimExprToString(
                Binary(DimExpr::FLOOR_DIV,
                       Binary(DimExpr::MUL, Symbol(0), Const(2)), Const(3)),
                names),
            "N*2/3");
  EXPECT_EQ(DimExprToString(Binary(DimExpr::MAX, sum, Const(0)), names),
            "max(N + 1, 0)");
  EXPECT_EQ(DimExprToString(Symbol(9), names), "?9");
}

TEST(DimExpr, HasSymbols) {
  EXPECT_FALSE(HasSymbols(Const(3)));
  EXPECT_TRUE(HasSymbols(Binary(DimExpr::MUL, Const(3), Symbol(0))));
}

}  // namespace
}  // namespace ingot
