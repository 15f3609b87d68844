#include "compiler/tir/ir.h"

#include <cmath>
#include <limits>

#include "compiler/tir/numeric.h"
#include "compiler/tir/visitor.h"
#include "gtest/gtest.h"

namespace ingot::tir {
namespace {

int64_t IntValue(const Expr& e) {
  int64_t value = -999;
  EXPECT_TRUE(AsConstInt(e, &value));
  return value;
}

TEST(BuilderTest, FoldsConstants) {
  EXPECT_EQ(IntValue(MakeInt(3) + MakeInt(4)), 7);
  EXPECT_EQ(IntValue(MakeInt(-7) / MakeInt(2)), -4);
  EXPECT_EQ(IntValue(MakeInt(-7) % MakeInt(2)), 1);
  EXPECT_EQ(IntValue(MakeBinary(BinaryOp::kDiv, MakeInt(-7), MakeInt(2))), -3);
  EXPECT_EQ(IntValue(MakeBinary(BinaryOp::kMod, MakeInt(-7), MakeInt(2))), -1);
  const DataType u8 = DataType::UInt(8);
  EXPECT_EQ(IntValue(MakeInt(200, u8) + MakeInt(100, u8)), 44);
  const DataType i8 = DataType::Int(8);
  EXPECT_EQ(IntValue(MakeInt(100, i8) + MakeInt(100, i8)), -56);
  EXPECT_EQ(IntValue(Lt(MakeInt(-1, DataType::UInt(64)),
                        MakeInt(1, DataType::UInt(64)))),
            0);
}

TEST(BuilderTest, KeepsUndefinedOperations) {
  EXPECT_EQ((MakeInt(1) / MakeInt(0))->kind, ExprKind::kBinary);
  EXPECT_EQ((MakeInt(INT64_MIN) / MakeInt(-1))->kind, ExprKind::kBinary);
  EXPECT_EQ(MakeBinary(BinaryOp::kShl, MakeInt(1), MakeInt(64))->kind,
            ExprKind::kBinary);
}

TEST(BuilderTest, Identities) {
  Expr x = MakeVar("x");
  EXPECT_EQ(x + 0, x);
  EXPECT_EQ(x * 1, x);
  EXPECT_EQ(IntValue(x * 0), 0);
  EXPECT_EQ(x / MakeInt(1), x);
  Expr f = MakeVar("f", DataType::Float(32));
  EXPECT_EQ(f * MakeFloat(1), f);
  EXPECT_NE(f + MakeFloat(0), f);  // -0 + 0 is 0
  Expr p = MakeVar("p", DataType::Bool());
  EXPECT_EQ(And(p, MakeBool(true)), p);
  EXPECT_EQ(IntValue(Or(p, MakeBool(true))), 1);
}

TEST(BuilderTest, RampsStayRamps) {
  Expr i = MakeVar("i");
  Expr r = MakeRamp(i, MakeInt(1), 8);
  Expr sum = r * MakeInt(4, DataType::Int(64, 8)) + MakeBroadcast(i, 8);
  const auto* ramp = As<Ramp>(sum);
  ASSERT_NE(ramp, nullptr);
  EXPECT_TRUE(IsConstInt(ramp->stride, 4));
}

TEST(BuilderTest, Casts) {
  EXPECT_EQ(IntValue(MakeCast(DataType::Int(8), MakeFloat(1e9))), 127);
  EXPECT_EQ(IntValue(MakeCast(DataType::UInt(8), MakeFloat(-3))), 0);
  EXPECT_EQ(IntValue(MakeCast(DataType::Int(32), MakeFloat(NAN))), 0);
  EXPECT_EQ(IntValue(MakeCast(DataType::Int(64), MakeFloat(-2.9))), -2);
  EXPECT_EQ(IntValue(MakeCast(DataType::Int(64), MakeFloat(INFINITY))),
            std::numeric_limits<int64_t>::max());
  EXPECT_EQ(IntValue(MakeCast(DataType::Bool(), MakeFloat(0.5))), 1);
  const Expr cast =
      MakeCast(DataType::Float(16), MakeFloat(0.1, DataType::Float(64)));
  const auto* half = As<FloatImm>(cast);
  ASSERT_NE(half, nullptr);
  EXPECT_EQ(half->value, 0.0999755859375);
}

TEST(NumericTest, LargeIntegersRoundOnce) {
  // Half-way between two floats, with a bit that a double cannot hold.
  const int64_t value = (int64_t{1} << 60) + (int64_t{1} << 36) + 1;
  EXPECT_EQ(CastIntToFloat(DataType::Float(32), DataType::Int(64), value),
            static_cast<double>(static_cast<float>(value)));
  EXPECT_EQ(CastIntToFloat(DataType::Float(64), DataType::UInt(64), -1),
            18446744073709551616.0);
}

TEST(NumericTest, MinMaxOfNan) {
  const DataType t = DataType::Float(32);
  EXPECT_EQ(EvalFloatBinary(BinaryOp::kMax, t, NAN, 1), 1);
  EXPECT_TRUE(std::isnan(EvalFloatBinary(BinaryOp::kMax, t, 1, NAN)));
}

TEST(MutatorTest, SamePointerWhenNothingChanges) {
  VarPtr i = MakeVar("i");
  VarPtr unused = MakeVar("u");
  Buffer a = MakeBuffer("a", DataType::Float(32), {MakeInt(8)});
  Stmt loop = MakeFor(i, MakeInt(0), MakeInt(8), ForKind::kSerial,
                      MakeStore(a, {i}, MakeLoad(a, {i}) * MakeFloat(2)));
  EXPECT_EQ(Substitute(loop, {{unused.get(), MakeInt(1)}}), loop);
  Stmt changed = Substitute(loop, {{i.get(), MakeInt(3)}});
  EXPECT_NE(changed, loop);
  EXPECT_FALSE(Uses(changed, i.get()));
  EXPECT_TRUE(Uses(loop, i.get()));
}

TEST(MutatorTest, AllocationFollowsItsShape) {
  VarPtr n = MakeVar("n");
  Buffer w = MakeBuffer("w", DataType::Float(32), {n}, Scope::kWorkspace);
  Stmt s = MakeAllocate(w, MakeStore(w, {MakeInt(0)}, MakeFloat(1)));
  Stmt changed = Substitute(s, {{n.get(), MakeInt(4)}});
  const auto* allocate = As<Allocate>(changed);
  ASSERT_NE(allocate, nullptr);
  EXPECT_TRUE(IsConstInt(allocate->buffer->shape[0], 4));
  EXPECT_EQ(As<Store>(allocate->body)->buffer, allocate->buffer);
}

TEST(BuilderDeathTest, RefusesBadTypes) {
  EXPECT_DEATH(MakeInt(1) + MakeFloat(1), "types differ");
  EXPECT_DEATH(MakeSelect(MakeInt(1), MakeInt(1), MakeInt(2)), "bool");
}

}  // namespace
}  // namespace ingot::tir
