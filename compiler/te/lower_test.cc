// The loops that each verb makes: exact text for the small cases, the
// interpreter for the rest.
#include "compiler/te/lower.h"

#include "compiler/te/schedule.h"
#include "compiler/te/testing/check.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/printer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::te {
namespace {

using testing::HasSubstr;

constexpr DataType kF32 = DataType::Float(32);

// out[i] = x[i] * x[i], of n elements.
Kernel Square(Expr n) {
  Kernel k;
  Tensor x = k.graph.Placeholder("x", kF32, {n});
  k.inputs = {x};
  k.outputs = {
      k.graph.Compute("out", {n}, [&](auto& i) { return x(i) * x(i); })};
  return k;
}

// c = a * b, d = max(c, 0).
Kernel MatmulRelu(Expr m, Expr n, Expr kk) {
  Kernel k;
  Tensor a = k.graph.Placeholder("a", kF32, {m, kk});
  Tensor b = k.graph.Placeholder("b", kF32, {kk, n});
  auto product = [&](auto& i, auto& r) {
    return a({i[0], r[0]}) * b({r[0], i[1]});
  };
  Tensor c = k.graph.Reduce("c", {m, n}, {kk}, Reducer::Sum(kF32), product);
  Tensor d = k.graph.Compute(
      "d", {m, n}, [&](auto& i) { return tir::Max(c(i), tir::MakeFloat(0)); });
  k.inputs = {a, b};
  k.outputs = {d};
  return k;
}

std::string Text(const Kernel& k, const Schedule& s) {
  auto f = Lower("f", k.graph, k.inputs, k.outputs, s);
  return f.ok() ? "\n" + tir::Print(tir::Simplify(*f)) : f.status().ToString();
}

Schedule Make(const Kernel& k) {
  auto s = Schedule::Create(k.graph, k.outputs);
  EXPECT_TRUE(s.ok()) << s.status();
  return *std::move(s);
}

TEST(LowerTest, PlainLoops) {
  Kernel k = MatmulRelu(I(4), I(6), I(8));
  Schedule s = Make(k);
  EXPECT_EQ(Text(k, s), R"(
func @f(%a: f32[4, 8], %b: f32[8, 6]) -> (%d: f32[4, 6]) workspace(%c: f32[4, 6]) {
  for i0 in [0, 4) {
    for i1 in [0, 6) {
      %c[i0, i1] = 0.0f
      for r0 in [0, 8) {
        %c[i0, i1] = muladd(%a[i0, r0], %b[r0, i1], %c[i0, i1])
      }
    }
  }
  for i0 in [0, 4) {
    for i1 in [0, 6) {
      %d[i0, i1] = max(%c[i0, i1], 0.0f)
    }
  }
}
)");
}

// Copying one operand leaves the other one alone, even where they are the same
// tensor.
TEST(LowerTest, CacheReadCopiesOneAccess) {
  Kernel k;
  Tensor x = k.graph.Placeholder("x", kF32, {I(4), I(4)});
  k.inputs = {x};
  k.outputs = {k.graph.Compute("y", {I(4), I(4)}, [&](auto& i) {
    return x({i[0], i[1]}) * x({i[1], i[0]});
  })};
  Schedule s = Make(k);
  Stage* y = s.Find(k.outputs[0]);
  const Operation op = y->op();
  const auto* right = tir::As<tir::Load>(tir::As<tir::Binary>(op.value)->b);
  const auto transposed = [&](auto& i) { return x({i[1], i[0]}); };
  s.CacheRead(y, *right, "copy", {I(4), I(4)}, transposed,
              {op.axis[0], op.axis[1]});
  EXPECT_THAT(Text(k, s), HasSubstr("%y[i0, i1] = %x[i0, i1] * %copy[i0, i1]"));
  ExpectSame(k, s);
  const auto diagonal = [&](auto& i) { return x({i[0], i[0]}); };
  s.CacheRead(y, *right, "more", {I(4)}, diagonal, {op.axis[0]});
  EXPECT_EQ(s.status().message(),
            "schedule of y: cache_read of what is not read");
}

TEST(LowerTest, PartitionMakesASmallerLastTile) {
  Kernel k = Square(I(20));
  Schedule s = Make(k);
  Stage* out = s.Find(k.outputs[0]);
  auto [o, i] = out->Split(out->axis(0), 8, Tail::kPartition);
  out->Vectorize(i);
  EXPECT_EQ(Text(k, s), R"(
func @f(%x: f32[20]) -> (%out: f32[20]) {
  for i0o in [0, 2) {
    vectorized i0i in [0, 8) {
      %out[i0o * 8 + i0i] = %x[i0o * 8 + i0i] * %x[i0o * 8 + i0i]
    }
  }
  vectorized i0i in [0, 4) {
    %out[i0i + 16] = %x[i0i + 16] * %x[i0i + 16]
  }
}
)");
}

// Threads that share few tiles would wait for what these leave over.
TEST(LowerTest, PartitionOfFewSharedTilesMakesTheRestInTurn) {
  for (const int64_t tiles : {1, 3, 15}) {
    Kernel k = Square(I(8 * tiles + 3));
    Schedule s = Make(k);
    Stage* out = s.Find(k.outputs[0]);
    auto [o, i] = out->Split(out->axis(0), 8, Tail::kPartition);
    out->Parallel(o);
    ExpectSame(k, s);
    if (tiles != 3) continue;
    EXPECT_EQ(Text(k, s), R"(
func @f(%x: f32[27]) -> (%out: f32[27]) {
  parallel i0o in [0, 4) {
    if i0o < 3 {
      for i0i in [0, 8) {
        %out[i0o * 8 + i0i] = %x[i0o * 8 + i0i] * %x[i0o * 8 + i0i]
      }
    } else {
      for i0i in [0, 3) {
        %out[i0i + 24] = %x[i0i + 24] * %x[i0i + 24]
      }
    }
  }
}
)");
  }
}

TEST(LowerTest, PartitionOfManySharedTilesMakesTheRestLast) {
  Kernel k = Square(I(8 * 16 + 3));
  Schedule s = Make(k);
  Stage* out = s.Find(k.outputs[0]);
  auto [o, i] = out->Split(out->axis(0), 8, Tail::kPartition);
  out->Parallel(o);
  ExpectSame(k, s);
  EXPECT_THAT(Text(k, s), HasSubstr("parallel i0o in [0, 16)"));
}

TEST(LowerTest, PartitionOfASymbolStepsThroughTheRest) {
  tir::VarPtr n = tir::MakeVar("n");
  Kernel k = Square(n);
  Schedule s = Make(k);
  Stage* out = s.Find(k.outputs[0]);
  auto [o, i] = out->Split(out->axis(0), 8, Tail::kPartition);
  out->Vectorize(i);
  EXPECT_EQ(Text(k, s), R"(
func @f(%x: f32[n]) -> (%out: f32[n]) {
  for i0o in [0, n // 8) {
    vectorized i0i in [0, 8) {
      %out[i0o * 8 + i0i] = %x[i0o * 8 + i0i] * %x[i0o * 8 + i0i]
    }
  }
  for i0o in [n // 8 * 8, +n - n // 8 * 8) {
    %out[i0o] = %x[i0o] * %x[i0o]
  }
}
)");
  for (int64_t size : {1, 7, 8, 21}) ExpectSame(k, s, {{n.get(), size}});
}

TEST(LowerTest, GuardAndShift) {
  for (Tail tail : {Tail::kGuard, Tail::kShiftInwards}) {
    Kernel k = Square(I(20));
    Schedule s = Make(k);
    Stage* out = s.Find(k.outputs[0]);
    out->Split(out->axis(0), 8, tail);
    std::string text = Text(k, s);
    if (tail == Tail::kGuard) {
      EXPECT_THAT(text, HasSubstr("for i0o in [0, 3)"));
      EXPECT_THAT(text, HasSubstr("if "));
    } else {
      EXPECT_THAT(text, HasSubstr("min("));
      EXPECT_THAT(text, Not(HasSubstr("if ")));
    }
    ExpectSame(k, s);
  }
}

TEST(LowerTest, TileInRegisters) {
  Kernel k = MatmulRelu(I(12), I(32), I(64));
  Schedule s = Make(k);
  Stage* out = s.Find(k.outputs[0]);
  Stage* acc = s.stages()[0];
  auto [io, ii] = out->Split(out->axis(0), 6);
  auto [jo, ji] = out->Split(out->axis(1), 16);
  out->Reorder({io, jo, ii, ji});
  out->Vectorize(ji);
  acc->ComputeAt(out, jo);
  acc->Reorder({acc->reduce_axis(0), acc->axis(0), acc->axis(1)});
  acc->Unroll(acc->axis(0));
  acc->Vectorize(acc->axis(1));
  EXPECT_EQ(Text(k, s), R"(
func @f(%a: f32[12, 64], %b: f32[64, 32]) -> (%d: f32[12, 32]) {
  for i0o in [0, 2) {
    for i1o in [0, 2) {
      alloc %c: f32[6, 16] stack
      unrolled i0 in [0, 6) {
        vectorized i1 in [0, 16) {
          %c[i0, i1] = 0.0f
        }
      }
      for r0 in [0, 64) {
        unrolled i0 in [0, 6) {
          vectorized i1 in [0, 16) {
            %c[i0, i1] = muladd(%a[i0o * 6 + i0, r0], %b[r0, i1o * 16 + i1], %c[i0, i1])
          }
        }
      }
      for i0i in [0, 6) {
        vectorized i1i in [0, 16) {
          %d[i0o * 6 + i0i, i1o * 16 + i1i] = max(%c[i0i, i1i], 0.0f)
        }
      }
    }
  }
}
)");
  ExpectSame(k, s);
}

TEST(LowerTest, AccumulateInsideAReduceLoop) {
  Kernel k = MatmulRelu(I(4), I(8), I(64));
  Schedule s = Make(k);
  Stage* acc = s.stages()[0];
  auto [ko, ki] = acc->Split(acc->reduce_axis(0), 16);
  acc->Reorder({ko, acc->axis(0), ki, acc->axis(1)});
  acc->AccumulateAt(acc->axis(0));
  EXPECT_THAT(Text(k, s), HasSubstr(R"(
  for r0o in [0, 4) {
    for i0 in [0, 4) {
      alloc %c.tile: f32[1, 8] stack
      for i1 in [0, 8) {
        %c.tile[0, i1] = %c[i0, i1]
      }
      for r0i in [0, 16) {
        for i1 in [0, 8) {
          %c.tile[0, i1] = muladd(%a[i0, r0o * 16 + r0i], %b[r0o * 16 + r0i, i1], %c.tile[0, i1])
        }
      }
      for i1 in [0, 8) {
        %c[i0, i1] = %c.tile[0, i1]
      }
    }
  })"));
  ExpectSame(k, s);
}

TEST(LowerTest, ReduceApartMakesASumOfSums) {
  Kernel k = MatmulRelu(I(4), I(8), I(64));
  Schedule s = Make(k);
  Stage* acc = s.stages()[0];
  auto [ko, ki] = acc->Split(acc->reduce_axis(0), 16);
  acc->ReduceApartAt(ko);
  EXPECT_THAT(Text(k, s), HasSubstr(R"(
      %c[i0, i1] = 0.0f
      for r0o in [0, 4) {
        alloc %c.tile: f32[1, 1] stack
        %c.tile[0, 0] = 0.0f
        for r0i in [0, 16) {
          %c.tile[0, 0] = muladd(%a[i0, r0o * 16 + r0i], %b[r0o * 16 + r0i, i1], %c.tile[0, 0])
        }
        %c[i0, i1] = %c[i0, i1] + %c.tile[0, 0]
      })"));
  ExpectSame(k, s);
}

// Whatever is left over, in one loop and in the loops inside of it.
TEST(LowerTest, ReduceApartOfAnyLength) {
  for (const int64_t length : {1, 15, 16, 17, 100}) {
    for (const Tail tail : {Tail::kPartition, Tail::kGuard}) {
      SCOPED_TRACE(length);
      Kernel k = MatmulRelu(I(3), I(5), I(length));
      Schedule s = Make(k);
      Stage* acc = s.stages()[0];
      auto [ko, ki] = acc->Split(acc->reduce_axis(0), 16, tail);
      acc->Reorder({ko, acc->axis(0), acc->axis(1), ki});
      acc->ReduceApartAt(acc->axis(0));
      ExpectSame(k, s);
    }
  }
}

// Outside of all reduce loops there is nothing to join.
TEST(LowerTest, ReduceApartOfEverythingIsTheWhole) {
  Kernel k = MatmulRelu(I(4), I(8), I(64));
  Schedule s = Make(k);
  Stage* acc = s.stages()[0];
  acc->ReduceApartAt(acc->axis(1));
  EXPECT_THAT(Text(k, s), HasSubstr("%c[i0, i1] = %c.tile[0, 0]"));
  ExpectSame(k, s);
}

TEST(LowerTest, SpecializeMakesPaddingIntoZerosAndCopies) {
  Kernel k;
  Tensor x = k.graph.Placeholder("x", kF32, {I(16)});
  k.inputs = {x};
  k.outputs = {k.graph.Compute("p", {I(19)}, [&](auto& i) {
    return tir::MakeSelect(tir::And(tir::Ge(i[0], I(1)), tir::Lt(i[0], I(17))),
                           x({i[0] - 1}), tir::MakeFloat(0));
  })};
  Schedule s = Make(k);
  Stage* out = s.Find(k.outputs[0]);
  out->Specialize(out->axis(0));
  EXPECT_EQ(Text(k, s), R"(
func @f(%x: f32[16]) -> (%p: f32[19]) {
  %p[0] = 0.0f
  for i0 in [0, 16) {
    %p[i0 + 1] = %x[i0]
  }
  for i0 in [0, 2) {
    %p[i0 + 17] = 0.0f
  }
}
)");
  ExpectSame(k, s);
}

TEST(LowerTest, SpecializeAtPlacesCutsWhatIsComputedInside) {
  Kernel k;
  Tensor x = k.graph.Placeholder("x", kF32, {I(16)});
  k.inputs = {x};
  Tensor sum = k.graph.Reduce(
      "sum", {I(16)}, {I(2)}, Reducer::Sum(kF32), [&](auto& i, auto& r) {
        const Expr at = i[0] - r[0];
        return tir::MakeSelect(tir::Ge(at, I(0)), x({at}), F(0));
      });
  k.outputs = {
      k.graph.Compute("y", {I(16)}, [&](auto& i) { return sum(i) * F(2); })};
  Schedule s = Make(k);
  Stage* out = s.Find(k.outputs[0]);
  out->Specialize(out->axis(0), {4});
  auto [o, i] = out->Split(out->axis(0), 4);
  Stage* acc = s.Find(sum);
  acc->ComputeAt(out, o);
  EXPECT_EQ(Text(k, s), R"(
func @f(%x: f32[16]) -> (%y: f32[16]) {
  {
    alloc %sum: f32[4] stack
    for i0 in [0, 4) {
      %sum[i0] = 0.0f
      for r0 in [0, 2) {
        %sum[i0] = %sum[i0] + select(r0 <= i0, %x[i0 - r0], 0.0f)
      }
    }
    for i0i in [0, 4) {
      %y[i0i] = %sum[i0i] * 2.0f
    }
  }
  for i0o in [0, 3) {
    alloc %sum: f32[4] stack
    for i0 in [0, 4) {
      %sum[i0] = 0.0f
      for r0 in [0, 2) {
        %sum[i0] = %sum[i0] + %x[i0o * 4 + i0 - r0 + 4]
      }
    }
    for i0i in [0, 4) {
      %y[i0o * 4 + i0i + 4] = %sum[i0i] * 2.0f
    }
  }
}
)");
  ExpectSame(k, s);
}

TEST(LowerTest, FusedPartsAreNamedOnce) {
  Kernel k = MatmulRelu(I(4), I(6), I(8));
  Schedule s = Make(k);
  Stage* out = s.Find(k.outputs[0]);
  out->Parallel(out->Fuse(out->axis(0), out->axis(1)));
  s.stages()[0]->ComputeAt(out, out->leaves()[0]);
  EXPECT_THAT(Text(k, s), HasSubstr(R"(
  parallel i0_i1 in [0, 24) {
    let i0: i64 = i0_i1 // 6
    let i1: i64 = i0_i1 % 6)"));
  ExpectSame(k, s);
}

TEST(LowerTest, StencilComputedAtRowsOfSymbolicHeight) {
  tir::VarPtr h = tir::MakeVar("h");
  Kernel k;
  Tensor x = k.graph.Placeholder("x", kF32, {h, I(10)});
  Tensor y =
      k.graph.Compute("y", {h, I(10)}, [&](auto& i) { return x(i) + x(i); });
  k.inputs = {x};
  auto below = [&](auto& i, auto& r) { return y({i[0] + r[0], i[1]}); };
  k.outputs = {
      k.graph.Reduce("s", {h - 2, I(10)}, {I(3)}, Reducer::Sum(kF32), below)};
  Schedule s = Make(k);
  Stage* out = s.Find(k.outputs[0]);
  auto [o, i] = out->Split(out->axis(0), 4);
  s.Find(y)->ComputeAt(out, o);
  EXPECT_THAT(Text(k, s), HasSubstr("alloc %y: f32[6, 10] stack"));
  for (int64_t size : {3, 6, 9, 17}) ExpectSame(k, s, {{h.get(), size}});
  (void)i;
}

TEST(LowerTest, GuardedConsumerGuardsItsProducer) {
  Kernel k;
  Tensor x = k.graph.Placeholder("x", kF32, {I(21)});
  Tensor y =
      k.graph.Compute("y", {I(21)}, [&](auto& i) { return x(i) + x(i); });
  k.inputs = {x};
  k.outputs = {k.graph.Compute(
      "z", {I(20)}, [&](auto& i) { return y({i[0]}) - y({i[0] + 1}); })};
  Schedule s = Make(k);
  Stage* out = s.Find(k.outputs[0]);
  auto [o, i] = out->Split(out->axis(0), 8, Tail::kGuard);
  s.Find(y)->ComputeAt(out, o);
  ExpectSame(k, s);
  (void)i;
}

TEST(LowerTest, MisuseIsReported) {
  Kernel k = MatmulRelu(I(4), I(6), I(8));
  Schedule s = Make(k);
  Stage* out = s.Find(k.outputs[0]);
  out->Split(out->axis(0), 2);
  out->Split(out->axis(0), 2);  // not a leaf any more
  EXPECT_THAT(Text(k, s), HasSubstr("split of a loop that is not a leaf"));

  Schedule t = Make(k);
  t.Find(k.outputs[0])->ComputeInline();
  EXPECT_THAT(Text(k, t), HasSubstr("an output cannot be inlined"));
}

TEST(LowerTest, AReaderOutsideTheLoopIsAnError) {
  Kernel k;
  Tensor x = k.graph.Placeholder("x", kF32, {I(8)});
  Tensor y = k.graph.Compute("y", {I(8)}, [&](auto& i) { return x(i) + x(i); });
  Tensor a = k.graph.Compute("a", {I(8)}, [&](auto& i) { return y(i); });
  Tensor b = k.graph.Compute("b", {I(8)}, [&](auto& i) { return y(i); });
  k.inputs = {x};
  k.outputs = {a, b};
  Schedule s = Make(k);
  s.Find(y)->ComputeAt(s.Find(a), s.Find(a)->axis(0));
  EXPECT_THAT(Text(k, s),
              HasSubstr("y is computed inside a but also read by b"));
}

TEST(LowerTest, ArgumentsAreChecked) {
  Kernel k = MatmulRelu(I(4), I(6), I(8));
  Schedule s = Make(k);
  auto missing = Lower("f", k.graph, {k.inputs[0]}, k.outputs, s);
  EXPECT_THAT(missing.status().ToString(), HasSubstr("c reads b"));
  auto twice = Lower("f", k.graph, k.inputs, {k.outputs[0], k.outputs[0]}, s);
  EXPECT_THAT(twice.status().ToString(), HasSubstr("named twice"));
  EXPECT_THAT(Schedule::Create(k.graph, {k.inputs[0]}).status().ToString(),
              HasSubstr("output a is not computed by the graph"));
}

}  // namespace
}  // namespace ingot::te
