// The verbs that change definitions, as the interpreter runs what they make.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/te/lower.h"
#include "compiler/te/schedule.h"
#include "compiler/te/testing/check.h"
#include "compiler/tir/printer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::te {
namespace {

constexpr DataType kF32 = DataType::Float(32);

std::string Text(const Kernel& k, const Schedule& s) {
  auto f = Lower("f", k.graph, k.inputs, k.outputs, s);
  return f.ok() ? "\n" + tir::Print(*f) : f.status().ToString();
}

Schedule Make(const Kernel& k) {
  auto s = Schedule::Create(k.graph, k.outputs);
  EXPECT_TRUE(s.ok()) << s.status();
  return *std::move(s);
}

TEST(ScheduleTransformTest, SplitReductionOfAnyLength) {
  for (int64_t n : {3, 8, 21, 64}) {
    Kernel k;
    Tensor x = k.graph.Placeholder("x", kF32, {I(5), I(n)});
    k.inputs = {x};
    auto x_of = [&](auto& i, auto& r) { return x({i[0], r[0]}); };
    k.outputs = {k.graph.Reduce("s", {I(5)}, {I(n)}, Reducer::Sum(kF32), x_of)};
    Schedule s = Make(k);
    s.SplitReduction(s.stages()[0], 8);
    ExpectSame(k, s);
  }
}

// 64 parts are joined to 2 and these to one; the elements that no whole round
// has are not read.
TEST(ScheduleTransformTest, ShareReductionOfAnyAxes) {
  for (const std::vector<int64_t>& terms : std::vector<std::vector<int64_t>>{
           {3}, {64}, {100}, {2, 5, 7}, {3, 1, 70}, {40, 1, 1}, {2, 300}}) {
    for (const int64_t parts : {2, 16, 64}) {
      Kernel k;
      std::vector<Expr> shape = {I(5)}, extents;
      for (const int64_t n : terms) extents.push_back(I(n));
      shape.insert(shape.end(), extents.begin(), extents.end());
      Tensor x = k.graph.Placeholder("x", kF32, shape);
      k.inputs = {x};
      auto x_of = [&](auto& i, auto& r) {
        Indices at = i;
        at.insert(at.end(), r.begin(), r.end());
        return x(at);
      };
      k.outputs = {
          k.graph.Reduce("s", {I(5)}, extents, Reducer::Max(kF32), x_of)};
      Schedule s = Make(k);
      EXPECT_EQ(s.ShareReduction(s.stages()[0], parts).size(),
                parts == 64 ? 3u : 2u);
      ExpectSame(k, s);
    }
  }
}

TEST(ScheduleTransformTest, ReduceInChunksOfAnAxis) {
  for (const int64_t chunks : {2, 3, 12}) {
    Kernel k;
    Tensor x = k.graph.Placeholder("x", kF32, ConstShape({5, 12, 3}));
    k.inputs = {x};
    k.outputs = {k.graph.Reduce("s", {I(5)}, {I(12), I(3)}, Reducer::Max(kF32),
                                [&](auto& i, auto& r) {
                                  return x({i[0], r[0], r[1]});
                                })};
    Schedule s = Make(k);
    EXPECT_EQ(s.ReduceInChunks(s.stages()[0], 0, chunks)->output().rank(), 2);
    ExpectSame(k, s);
    if (chunks != 3) continue;
    Schedule last = Make(k);
    last.ReduceInChunks(last.stages()[0], 1, chunks);
    ExpectSame(k, last);
  }
  Kernel k;
  Tensor x = k.graph.Placeholder("x", kF32, ConstShape({7}));
  k.inputs = {x};
  k.outputs = {k.graph.Reduce("s", {I(1)}, {I(7)}, Reducer::Sum(kF32),
                              [&](auto&, auto& r) { return x({r[0]}); })};
  Schedule s = Make(k);
  s.ReduceInChunks(s.stages()[0], 0, 2);
  EXPECT_FALSE(s.status().ok());
}

TEST(ScheduleTransformTest, JoinReduceAxes) {
  Kernel k;
  Tensor x = k.graph.Placeholder("x", kF32, ConstShape({5, 12, 3, 2}));
  k.inputs = {x};
  k.outputs = {k.graph.Reduce("s", {I(5)}, {I(12), I(3), I(2)},
                              Reducer::Max(kF32), [&](auto& i, auto& r) {
                                return x({i[0], r[0], r[1], r[2]});
                              })};
  Schedule s = Make(k);
  Stage* const stage = s.stages()[0];
  s.JoinReduceAxes(stage);
  ExpectSame(k, s);
  ASSERT_EQ(stage->reduce_axes().size(), 1u);
  stage->Split(stage->reduce_axis(0), 8, Tail::kGuard);
  ExpectSame(k, s);
}

TEST(ScheduleTransformTest, JoinAxesOfAReduction) {
  for (const auto& [first, last] : {std::pair(0, 1), {1, 2}, {0, 2}}) {
    Kernel k;
    Tensor x = k.graph.Placeholder("x", kF32, ConstShape({3, 9, 7, 2}));
    k.inputs = {x};
    k.outputs = {k.graph.Reduce(
        "s", ConstShape({3, 4, 5}), {I(2), I(3)}, Reducer::Sum(kF32),
        [&](auto& i, auto& r) {
          return x({i[0], i[1] * I(2) + r[1], i[2] + r[1], r[0]});
        })};
    Schedule s = Make(k);
    Stage* const joined = s.JoinAxes(s.stages()[0], first, last);
    EXPECT_EQ(joined->output().rank(), 3 - (last - first));
    ExpectSame(k, s);
    // Nor do loops over a tile of the joined axes change anything.
    Stage* const stage = s.Find(k.outputs[0]);
    std::vector<Loop> axes(stage->axes().begin() + first,
                           stage->axes().begin() + last + 1);
    const auto [tile, inside] =
        stage->Split(stage->Fuse(axes), 4, Tail::kGuard);
    (void)inside;
    joined->ComputeAt(stage, tile);
    ExpectSame(k, s);
  }
  Kernel k;
  Tensor x = k.graph.Placeholder("x", kF32, ConstShape({7}));
  k.inputs = {x};
  k.outputs = {k.graph.Reduce("s", {I(7)}, {I(1)}, Reducer::Sum(kF32),
                              [&](auto& i, auto&) { return x({i[0]}); })};
  Schedule s = Make(k);
  s.JoinAxes(s.stages()[0], 0, 1);
  EXPECT_FALSE(s.status().ok());
}

// Loops written by hand stand for a stage and for those that only it read.
TEST(ScheduleTransformTest, LoopsWrittenByHand) {
  Kernel k;
  Tensor a = k.graph.Placeholder("a", DataType::Float(32), ConstShape({8}));
  Tensor b =
      k.graph.Compute("b", a.shape(), [&](auto& i) { return a(i) + F(1); });
  Tensor c =
      k.graph.Compute("c", a.shape(), [&](auto& i) { return b(i) * F(2); });
  k.inputs = {a};
  k.outputs = {c};
  Schedule s = Make(k);
  const tir::VarPtr i = tir::MakeVar("i");
  const tir::Stmt loops =
      tir::MakeFor(i, I(0), I(8), tir::ForKind::kSerial,
                   tir::MakeStore(c.buffer, {i}, (a({i}) + F(1)) * F(2)));
  s.WriteLoops(s.Find(c), loops);
  EXPECT_EQ(s.Find(b), nullptr);
  EXPECT_EQ(Text(k, s), R"(
func @f(%a: f32[8]) -> (%c: f32[8]) {
  for i in [0, 8) {
    %c[i] = (%a[i] + 1.0f) * 2.0f
  }
}
)");
  ExpectSame(k, s);

  Schedule split = Make(k);
  Stage* stage = split.Find(c);
  stage->Split(stage->axis(0), 2);
  split.WriteLoops(stage, loops);
  EXPECT_FALSE(split.status().ok());
}

// A copy of another type stands for the conversions, and for no other loads.
TEST(ScheduleTransformTest, CacheReadCopiesConversions) {
  constexpr DataType kF16 = DataType::Float(16), kI64 = DataType::Int(64);
  Kernel k;
  Tensor x = k.graph.Placeholder("x", kF16, {I(4)});
  k.inputs = {x};
  k.outputs = {k.graph.Compute("y", {I(4)}, [&](auto& i) {
    return tir::MakeCast(kF32, x({i[0]})) +
           tir::MakeCast(kF32, tir::MakeCast(kI64, x({i[0]})));
  })};
  Schedule s = Make(k);
  Stage* y = s.Find(k.outputs[0]);
  const Expr load = x({y->op().axis[0]});
  s.CacheRead(y, *tir::As<tir::Load>(load), "wide", {I(4)},
              [&](auto& i) { return tir::MakeCast(kF32, x(i)); },
              {y->op().axis[0]});
  EXPECT_THAT(Text(k, s),
              testing::HasSubstr("%y[i0] = %wide[i0] + f32(i64(%x[i0]))"));
  ExpectSame(k, s);
}

}  // namespace
}  // namespace ingot::te
