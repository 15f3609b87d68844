#include "compiler/tir/arith/simplify.h"

#include <map>
#include <random>
#include <string>
#include <vector>

#include "compiler/tir/ir.h"
#include "compiler/tir/numeric.h"
#include "compiler/tir/visitor.h"
#include "gtest/gtest.h"

namespace ingot::tir {
namespace {

using Values = std::map<const Var*, int64_t>;

// Evaluates integers; false if something is undefined.
bool Evaluate(const Expr& e, const Values& values, int64_t* result) {
  int64_t a, b;
  switch (e->kind) {
    case ExprKind::kIntImm:
      return AsConstInt(e, result);
    case ExprKind::kVar:
      *result = values.at(As<Var>(e));
      return true;
    case ExprKind::kUnary:
      if (!Evaluate(As<Unary>(e)->a, values, &a)) return false;
      *result = As<Unary>(e)->op == UnaryOp::kNot ? a == 0 : -a;
      return true;
    case ExprKind::kSelect: {
      const auto* node = As<Select>(e);
      int64_t t, f;
      if (!Evaluate(node->condition, values, &a) ||
          !Evaluate(node->on_true, values, &t) ||
          !Evaluate(node->on_false, values, &f)) {
        return false;
      }
      *result = a != 0 ? t : f;
      return true;
    }
    default: {
      const auto* node = As<Binary>(e);
      return Evaluate(node->a, values, &a) && Evaluate(node->b, values, &b) &&
             EvalIntBinary(node->op, node->a->dtype, a, b, result);
    }
  }
}

std::string Text(const Expr& e) {
  if (const auto* imm = As<IntImm>(e)) return std::to_string(imm->value);
  if (const auto* var = As<Var>(e)) return var->name;
  if (const auto* unary = As<Unary>(e)) return "neg(" + Text(unary->a) + ")";
  if (const auto* select = As<Select>(e)) {
    return "select(" + Text(select->condition) + "," + Text(select->on_true) +
           "," + Text(select->on_false) + ")";
  }
  static const char* const kNames[] = {
      "+",  "-",  "*", "/",  "rem", "//", "%", "min", "max", "&&", "||",
      "==", "!=", "<", "<=", ">",   ">=", "&", "|",   "^",   "<<", ">>"};
  const auto* node = As<Binary>(e);
  return "(" + Text(node->a) + kNames[static_cast<int>(node->op)] +
         Text(node->b) + ")";
}

class SimplifyTest : public testing::Test {
 protected:
  SimplifyTest() {
    bounds_.Set(As<Var>(i), 0, 15);
    bounds_.Set(As<Var>(j), 0, 7);
    bounds_.Set(As<Var>(n), 0, INT64_MAX);
    bounds_.Set(As<Var>(m), 0, INT64_MAX);
  }

  std::string S(const Expr& e) { return Text(Simplify(e, &bounds_)); }
  static Expr C(int64_t v) { return MakeInt(v); }

  Expr i = MakeVar("i"), j = MakeVar("j"), n = MakeVar("n"), m = MakeVar("m"),
       x = MakeVar("x");
  Bounds bounds_;
};

TEST_F(SimplifyTest, Affine) {
  EXPECT_EQ(S(x - x), "0");
  EXPECT_EQ(S((i + j) - (j + i)), "0");
  EXPECT_EQ(S(i + j + i), "((i*2)+j)");
  EXPECT_EQ(S((i + 3) * 4 - 12), "(i*4)");
  EXPECT_EQ(S(n * m - m * n), "0");
  EXPECT_EQ(S((n + 1) * m), "((n*m)+m)");
  EXPECT_EQ(S(C(3) - i), "(3-i)");
  EXPECT_EQ(S(-(i - 3)), "(3-i)");
  EXPECT_EQ(S(j + i), "(i+j)");
}

TEST_F(SimplifyTest, DivisionByConstants) {
  EXPECT_EQ(S((i * 8 + j) / C(8)), "i");
  EXPECT_EQ(S((i * 8 + j) % C(8)), "j");
  EXPECT_EQ(S((i * 64 + j * 8 + 3) / C(64)), "i");
  EXPECT_EQ(S((x * 8 + j + 8) / C(8)), "(x+1)");
  EXPECT_EQ(S(x / C(4) / C(8)), "(x//32)");
  EXPECT_EQ(S(x % C(64) % C(8)), "(x%8)");
  EXPECT_EQ(S(x % C(64) / C(8)), "((x//8)%8)");
  EXPECT_EQ(S(x / C(8) * 8 + x % C(8)), "x");
  EXPECT_EQ(S(x / C(64) * 64 + x % C(64) / C(8) * 8 + x % C(8)), "x");
  EXPECT_EQ(S(MakeBinary(BinaryOp::kDiv, i * 8 + j, C(8))), "i");
  EXPECT_EQ(S(x * 4 / C(8)), "(x//2)");
  EXPECT_EQ(S(x * 4 % C(8)), "((x%2)*4)");
  // With 0 <= j < 8.
  EXPECT_EQ(S((x * 8 + j) / C(64)), "(x//8)");
  EXPECT_EQ(S((x * 8 + j) % C(64)), "(j+((x%8)*8))");
  EXPECT_EQ(S((x * 8 + j + 16) / C(64)), "((x+2)//8)");
  EXPECT_EQ(S((x * 4 + j) / C(64)), "((j+(x*4))//64)");
}

TEST_F(SimplifyTest, DivisionBySymbols) {
  Expr k = MakeVar("k");
  bounds_.SetLoop(As<Var>(k), MakeInt(0), m);
  EXPECT_EQ(S(n / n), "1");
  EXPECT_EQ(S(n * m / m), "n");
  EXPECT_EQ(S((i * m + k) / m), "i");
  EXPECT_EQ(S((i * m + k) % m), "k");
  EXPECT_EQ(S((n * m * 4) / (m * 2)), "(n*2)");
  EXPECT_EQ(S((n + 1) * m / (n + 1)), "m");
}

TEST_F(SimplifyTest, ComparisonsAndBounds) {
  EXPECT_EQ(S(Lt(i, C(16))), "1");
  EXPECT_EQ(S(Ge(i, C(16))), "0");
  EXPECT_EQ(S(Lt(i * 8 + j, C(128))), "1");
  EXPECT_EQ(S(Lt(i * 8 + j, C(127))), "(((i*8)+j)<127)");
  EXPECT_EQ(S(Lt(i * 8 + 3, C(20))), "(i<3)");
  EXPECT_EQ(S(Ge(i - 3, C(0))), "(i>=3)");
  EXPECT_EQ(S(Eq(i * 2, C(3))), "0");
  EXPECT_EQ(S(Eq(i, i)), "1");
  EXPECT_EQ(S(Lt(i + n, n + 4)), "(i<4)");
  EXPECT_EQ(S(Max(n, C(0))), "n");
  EXPECT_EQ(S(Max(n, C(1))), "(nmax1)");
  EXPECT_EQ(S(Min(i, C(15))), "i");
  EXPECT_EQ(S(Min(i, C(14))), "(imin14)");
  EXPECT_EQ(S(Min(Min(x, C(5)), C(3))), "(xmin3)");
  EXPECT_EQ(ConstUpperBound(i * 8 + j, &bounds_), 127);
  EXPECT_EQ(ConstLowerBound(i * 8 - j, &bounds_), -7);
  EXPECT_EQ(ConstUpperBound(n, &bounds_), std::nullopt);
  EXPECT_TRUE(Prove(Lt(i, n + 16), &bounds_));
  EXPECT_FALSE(Prove(Lt(i, n + 15), &bounds_));
  EXPECT_TRUE(ProveEqual(n * 2 + 2, (n + 1) * 2));
}

// A point of an image and its number, whatever that is a sum of.
TEST_F(SimplifyTest, JoinsQuotientsAndRemainders) {
  const Expr e = i * 8 + j * 3 + x + 5;
  const Expr row = MakeBinary(BinaryOp::kFloorDiv, e, C(14)),
             column = MakeBinary(BinaryOp::kFloorMod, e, C(14));
  EXPECT_EQ(S(row * 14 + column), S(e));
  EXPECT_EQ(S(row * 28 + column * 2 + 1), S(e * 2 + 1));
}

TEST_F(SimplifyTest, SymbolicLoops) {
  Expr k = MakeVar("k"), l = MakeVar("l");
  bounds_.SetLoop(As<Var>(k), MakeInt(0), n);
  bounds_.SetLoop(As<Var>(l), MakeInt(0), n - k);
  EXPECT_EQ(S(Lt(k, n)), "1");
  EXPECT_EQ(S(Lt(k + l, n)), "1");
  EXPECT_EQ(S(Lt(k * m + m - 1, n * m)), "1");
  bounds_.PushFact(Lt(x * 8 + j, m));
  EXPECT_EQ(S(Lt(x * 8 + j, m)), "1");
  EXPECT_EQ(S(Lt(x * 8 + j, m + 1)), "1");
  bounds_.PopFacts(0);
  EXPECT_EQ(S(Lt(x * 8 + j, m)), "((j+(x*8))<m)");
}

// A symbolic dimension may be 0, whatever its name and its use.
TEST_F(SimplifyTest, Dimensions) {
  const Bounds dimensions = Bounds::Dimensions();
  for (const char* name : {"d", "?d"}) {
    Expr d = MakeVar(name);
    EXPECT_TRUE(Prove(Ge(d, C(0)), &dimensions));
    EXPECT_FALSE(Prove(Ge(d, C(1)), &dimensions));
    EXPECT_FALSE(Prove(Ge(d, C(0))));
    EXPECT_EQ(ConstLowerBound(d * 3 + 2, &dimensions), 2);
  }
  // The parameters' of a kernel: an if that only an empty one needs stays.
  PrimFunc func;
  Expr d = MakeVar("d");
  Buffer y = MakeBuffer("y", DataType::Int(64), {d});
  func.params = {y};
  func.body = MakeIf(Gt(d, C(0)), MakeStore(y, {C(0)}, C(1)));
  EXPECT_EQ(Simplify(func).body->kind, StmtKind::kIfThenElse);
  func.body = MakeIf(Ge(d, C(0)), MakeStore(y, {C(0)}, C(1)));
  EXPECT_EQ(Simplify(func).body->kind, StmtKind::kStore);
}

// As where a slice of a table begins and ends at limited places.
TEST_F(SimplifyTest, LimitsOfLimited) {
  const Bounds dimensions = Bounds::Dimensions();
  const Expr d = MakeVar("d"), e = MakeVar("e");
  const auto text = [&](const Expr& x) {
    return Text(Simplify(x, &dimensions));
  };
  EXPECT_EQ(text(Max(Min(d, C(9)), Min(d + e, C(9)))), text(Min(d + e, C(9))));
  EXPECT_EQ(text(Min(Max(d, C(9)), Max(d + e, C(9)))), text(Max(d, C(9))));
  EXPECT_EQ(text(Max(Min(d, C(9)), Min(e, C(9)))), "((dmaxe)min9)");
  // Other limits, and one of another kind, stay.
  EXPECT_EQ(text(Max(Min(d, C(9)), Min(e, C(8)))), "((dmin9)max(emin8))");
  EXPECT_EQ(text(Max(Min(d, C(9)), Max(e, C(9)))), "(emax9)");
  EXPECT_EQ(text(Min(d * e, C(INT64_MAX))), text(d * e));
  EXPECT_EQ(text(Max(C(INT64_MIN), d - e)), text(d - e));
  EXPECT_NE(text(Min(d * e, C(INT64_MAX - 1))), text(d * e));
}

TEST_F(SimplifyTest, LoadedDataMayWrap) {
  Buffer b = MakeBuffer("b", DataType::Int(64), {MakeInt(4)});
  Buffer s = MakeBuffer("s", DataType::Int(8), {MakeInt(4)});
  Expr wide = MakeLoad(b, {MakeInt(0)});
  EXPECT_EQ(Simplify(wide * 8 / C(8))->kind, ExprKind::kBinary);
  EXPECT_EQ(Simplify(Lt(wide, wide + 1))->kind, ExprKind::kBinary);
  EXPECT_TRUE(IsConstInt(Simplify(wide - wide), 0));
  Expr narrow = MakeCast(DataType::Int(64), MakeLoad(s, {MakeInt(0)}));
  EXPECT_TRUE(Equal(Simplify(narrow * 8 / C(8)), narrow));
  EXPECT_TRUE(IsConstInt(Simplify(Lt(narrow, C(128))), 1));
}

TEST_F(SimplifyTest, SamePointerWhenCanonical) {
  Expr e = i * 8 + j + 3;
  EXPECT_EQ(Simplify(e, &bounds_), e);
  Expr c = Lt(i * 8 + j, C(100));
  EXPECT_EQ(Simplify(c, &bounds_), c);
}

// Random expressions over small variables: what the simplifier makes must have
// the same value wherever the original is defined.
TEST(SimplifyRandomTest, AgreesWithEvaluation) {
  std::mt19937 random(7);
  auto pick = [&random](int count) {
    return static_cast<int>(random() % static_cast<unsigned>(count));
  };
  for (int round = 0; round < 30000; ++round) {
    std::vector<VarPtr> vars;
    std::vector<std::pair<int64_t, int64_t>> ranges;
    Bounds bounds;
    for (int v = 0; v < 3; ++v) {
      vars.push_back(MakeVar(std::string(1, static_cast<char>('x' + v))));
      const int64_t low = pick(4) == 0 ? -pick(20) : 0;
      const int64_t high = low + pick(12);
      ranges.push_back({low, high});
      bounds.Set(vars[v].get(), low, high);
    }
    // A variable that depends on another: 0 <= last < x + 3.
    vars.push_back(MakeVar("last"));
    bounds.SetLoop(vars[3].get(), MakeInt(0), Expr(vars[0]) + 3);

    std::function<Expr(int)> number;
    std::function<Expr(int)> condition = [&](int depth) -> Expr {
      if (depth > 0 && pick(4) == 0) {
        return MakeBinary(pick(2) == 0 ? BinaryOp::kAnd : BinaryOp::kOr,
                          condition(depth - 1), condition(depth - 1));
      }
      if (depth > 0 && pick(6) == 0) {
        return MakeUnary(UnaryOp::kNot, condition(depth - 1));
      }
      static constexpr BinaryOp kOps[] = {BinaryOp::kEq, BinaryOp::kNe,
                                          BinaryOp::kLt, BinaryOp::kLe,
                                          BinaryOp::kGt, BinaryOp::kGe};
      return MakeBinary(kOps[pick(6)], number(depth - 1), number(depth - 1));
    };
    number = [&](int depth) -> Expr {
      if (depth <= 0 || pick(6) == 0) {
        return pick(3) == 0 ? MakeInt(pick(25) - 8) : Expr(vars[pick(4)]);
      }
      switch (pick(12)) {
        case 0:
        case 1:
        case 2:
          return number(depth - 1) + number(depth - 1);
        case 3:
          return number(depth - 1) - number(depth - 1);
        case 4:
          return number(depth - 1) * MakeInt(pick(17) - 4);
        case 5:
          return number(depth - 1) * number(depth - 1);
        case 6:
          return number(depth - 1) / MakeInt(1 << pick(4));
        case 7:
          return number(depth - 1) % MakeInt(pick(16) + 1);
        case 8:
          return MakeBinary(pick(2) == 0 ? BinaryOp::kMin : BinaryOp::kMax,
                            number(depth - 1), number(depth - 1));
        case 9: {
          static constexpr BinaryOp kOps[] = {BinaryOp::kDiv, BinaryOp::kMod,
                                              BinaryOp::kFloorDiv,
                                              BinaryOp::kFloorMod};
          return MakeBinary(kOps[pick(4)], number(depth - 1),
                            number(depth - 1));
        }
        case 10:
          return MakeSelect(condition(depth - 1), number(depth - 1),
                            number(depth - 1));
        default:
          return -number(depth - 1);
      }
    };
    const Expr e = pick(3) == 0 ? condition(4) : number(4);
    Expr fact = pick(2) == 0 ? condition(1) : nullptr;
    if (fact != nullptr) bounds.PushFact(fact);
    const Expr simple = Simplify(e, &bounds);
    const bool index = e->dtype == DataType::Int(64);
    const std::optional<int64_t> upper =
        index ? ConstUpperBound(e, &bounds) : std::nullopt;
    const std::optional<int64_t> lower =
        index ? ConstLowerBound(e, &bounds) : std::nullopt;
    for (int sample = 0; sample < 30; ++sample) {
      Values values;
      for (int v = 0; v < 3; ++v) {
        const auto [low, high] = ranges[v];
        values[vars[v].get()] = low + pick(static_cast<int>(high - low) + 1);
      }
      const int64_t extent = values[vars[0].get()] + 3;
      if (extent <= 0) continue;
      values[vars[3].get()] = pick(static_cast<int>(extent));
      int64_t holds = 1, want, got;
      if (fact != nullptr && (!Evaluate(fact, values, &holds) || !holds)) {
        continue;
      }
      if (!Evaluate(e, values, &want)) continue;
      ASSERT_TRUE(Evaluate(simple, values, &got))
          << Text(e) << " became the undefined " << Text(simple);
      ASSERT_EQ(want, got) << Text(e) << " became " << Text(simple);
      if (upper.has_value()) ASSERT_LE(want, *upper) << Text(e);
      if (lower.has_value()) ASSERT_GE(want, *lower) << Text(e);
    }
  }
}

TEST(SimplifyStmtTest, DecidesAndRemoves) {
  Expr i = MakeVar("i"), j = MakeVar("j");
  auto iv = std::static_pointer_cast<const Var>(i);
  auto jv = std::static_pointer_cast<const Var>(j);
  Buffer a = MakeBuffer("a", DataType::Float(32), {MakeInt(64)});
  Stmt store = MakeStore(a, {(i * 8 + j) / MakeInt(8) + j}, MakeFloat(1));
  Stmt loop = MakeFor(iv, MakeInt(0), MakeInt(8), ForKind::kSerial,
                      MakeFor(jv, MakeInt(5), MakeInt(1), ForKind::kSerial,
                              MakeIf(Lt(i * 8 + j, MakeInt(64)), store)));
  Stmt simple = Simplify(loop);
  const auto* outer = As<For>(simple);
  ASSERT_NE(outer, nullptr);
  const auto* only = As<Store>(outer->body);
  ASSERT_NE(only, nullptr);
  EXPECT_EQ(Text(only->indices[0]), "(i+5)");
  EXPECT_EQ(Simplify(simple), simple);
}

// The rules look at operands of remainders again, which must not double the
// work with each level.
TEST(SimplifyWorkTest, NestedRemaindersEnd) {
  const VarPtr n = MakeVar("n"), m = MakeVar("m");
  Expr e = n;
  for (int i = 0; i < 200; ++i) {
    e = e % MakeInt(i % 2 == 0 ? 7 : 5) + (i % 3 == 0 ? n : m);
    if (i % 5 == 0) e = e / MakeInt(3);
  }
  const Bounds bounds = Bounds::Dimensions();
  const Expr simple = Simplify(e, &bounds);
  const Values values = {{n.get(), 1234}, {m.get(), 77}};
  int64_t before, after;
  ASSERT_TRUE(Evaluate(e, values, &before));
  ASSERT_TRUE(Evaluate(simple, values, &after));
  EXPECT_EQ(before, after);
}

}  // namespace
}  // namespace ingot::tir
