#include "compiler/tir/arith/bounds.h"

#include <cstdint>
#include <optional>

#include "compiler/tir/ir.h"
#include "gtest/gtest.h"

namespace ingot::tir {
namespace {

class BoundsTest : public testing::Test {
 protected:
  bool NonNegative(const Expr& e) const {
    return bounds_.ProveNonNegative(bounds_.ToAffine(e));
  }
  static Expr C(int64_t v) { return MakeInt(v); }

  // Dimensions, so at least 0.
  VarPtr n = MakeVar("n"), m = MakeVar("m");
  VarPtr i = MakeVar("i"), j = MakeVar("j");
  Bounds bounds_ = Bounds::Dimensions();
};

TEST_F(BoundsTest, SymbolicBoundsOfSymbolicBounds) {
  bounds_.Set(i.get(), Affine(0), Affine::Atom(n) - Affine(1));
  bounds_.Set(j.get(), Affine::Atom(i), Affine::Atom(i) + Affine::Atom(m));
  EXPECT_TRUE(NonNegative(n - 1 - Expr(i)));
  EXPECT_FALSE(NonNegative(n - 2 - Expr(i)));
  EXPECT_TRUE(NonNegative(Expr(n) + m - 1 - j));
  EXPECT_TRUE(NonNegative(Expr(j) - i));
  EXPECT_FALSE(NonNegative(Expr(i) - j));
}

TEST_F(BoundsTest, Quotients) {
  const Expr q = n / C(8);
  // 8 * (n // 8) is at most n, and more than n - 8.
  EXPECT_TRUE(NonNegative(n - q * 8));
  EXPECT_TRUE(NonNegative(q * 8 - n + 7));
  EXPECT_FALSE(NonNegative(q * 8 - n + 6));
  EXPECT_FALSE(NonNegative(n - q * 8 - 1));
  // The last element of the whole tiles.
  bounds_.Set(i.get(), Affine(0), bounds_.ToAffine(q) - Affine(1));
  bounds_.Set(j.get(), 0, 7);
  EXPECT_TRUE(NonNegative(n - 1 - (Expr(i) * 8 + j)));
  EXPECT_FALSE(NonNegative(n - 2 - (Expr(i) * 8 + j)));
}

TEST_F(BoundsTest, MinimaAndMaxima) {
  bounds_.Set(i.get(), Affine(0), bounds_.ToAffine(Min(n, m) - 1));
  EXPECT_TRUE(NonNegative(n - 1 - Expr(i)));
  EXPECT_TRUE(NonNegative(m - 1 - Expr(i)));
  EXPECT_FALSE(NonNegative(n - 2 - Expr(i)));
  EXPECT_TRUE(NonNegative(Max(n, m) - n));
  EXPECT_FALSE(NonNegative(Min(n, m) - n));
}

TEST_F(BoundsTest, Decides) {
  bounds_.Set(i.get(), Affine(0), Affine::Atom(n) - Affine(1));
  const Expr inside = Lt(i, n), outside = Ge(i, n), unknown = Lt(i, C(4));
  EXPECT_EQ(bounds_.Decide(inside), true);
  EXPECT_EQ(bounds_.Decide(outside), false);
  EXPECT_EQ(bounds_.Decide(unknown), std::nullopt);
  EXPECT_EQ(bounds_.Decide(And(unknown, outside)), false);
  EXPECT_EQ(bounds_.Decide(And(unknown, inside)), std::nullopt);
  EXPECT_EQ(bounds_.Decide(Or(unknown, inside)), true);
  EXPECT_EQ(bounds_.Decide(MakeUnary(UnaryOp::kNot, inside)), false);
  EXPECT_EQ(bounds_.Decide(Ne(i, n)), true);
  const Expr f = MakeVar("f", DataType::Float(32));
  EXPECT_EQ(bounds_.Decide(Lt(f, f)), std::nullopt);
}

// Coefficients whose product wraps prove nothing: 2^62 * 4 is 0.
TEST_F(BoundsTest, HugeCoefficientsProveNothing) {
  const Expr q = (n * (int64_t{1} << 40)) / C(2);
  EXPECT_FALSE(NonNegative(C(-1) - q * (int64_t{1} << 30)));
  bounds_.Set(i.get(), Affine(0), Affine::Atom(n) * (int64_t{1} << 62));
  EXPECT_FALSE(NonNegative(C(-1) - Expr(i) * 4));
}

// A load may give any number, and arithmetic on it may wrap.
TEST_F(BoundsTest, DataProvesNothing) {
  const Buffer data = MakeBuffer("data", DataType::Int(64), {C(4)});
  const Expr loaded = MakeLoad(data, {C(0)});
  EXPECT_FALSE(NonNegative(loaded));
  EXPECT_FALSE(NonNegative(loaded + 1 - loaded % C(4)));
  EXPECT_TRUE(NonNegative(Max(Min(loaded, C(3)), C(0))));
  // Bounds that no value can pass are known all the same.
  EXPECT_EQ(bounds_.ToAffine(Max(Min(loaded, C(2)), C(3))).AsConst(), 3);
  EXPECT_EQ(bounds_.ToAffine(Min(Max(loaded, C(3)), C(2))).AsConst(), 2);
  EXPECT_EQ(bounds_.ToAffine(Max(Min(loaded, C(3)), C(2))).AsConst(),
            std::nullopt);
}

TEST(AffineTest, PartsOfASum) {
  const VarPtr x = MakeVar("x"), y = MakeVar("y");
  const Affine a = Affine::Atom(x) * 4 + Affine::Atom(y) * 6 - Affine(8);
  EXPECT_EQ(a.CoefficientOf(x.get()), 4);
  EXPECT_EQ(a.CoefficientOf(MakeVar("x").get()), 0);
  EXPECT_TRUE(a.IsMultipleOf(2));
  EXPECT_FALSE(a.IsMultipleOf(4));
  EXPECT_EQ(CoefficientGcd(a), 2);
  EXPECT_EQ(a.AsConst(), std::nullopt);
  EXPECT_EQ((a - a).AsConst(), 0);
  EXPECT_TRUE(Affine::Atom(x) + Affine::Atom(y) ==
              Affine::Atom(y) + Affine::Atom(x));
  EXPECT_FALSE(Affine::Atom(x) == Affine::Atom(y));
  EXPECT_EQ(Affine::Atom(MakeInt(5)).AsConst(), 5);
  // A product is no multiple of one variable alone.
  EXPECT_EQ(Multiply(Affine::Atom(x), Affine::Atom(y)).CoefficientOf(x.get()),
            0);
}

}  // namespace
}  // namespace ingot::tir
