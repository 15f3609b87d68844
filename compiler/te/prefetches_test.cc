// Requests of loops for memory that later iterations read.
#include "compiler/te/lower.h"
#include "compiler/te/schedule.h"
#include "compiler/te/testing/check.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/printer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::te {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr DataType kF32 = DataType::Float(32);

// c[p, j] = sum of x[k] * w[p, k, j], w being in panels of 32 columns.
struct Product {
  explicit Product(Expr depth) {
    x = kernel.graph.Placeholder("x", kF32, {depth});
    w = kernel.graph.Placeholder("w", kF32, {I(4), depth, I(32)});
    Tensor c = kernel.graph.Reduce("c", {I(4), I(32)}, {depth},
                                   Reducer::Sum(kF32), [&](auto& i, auto& r) {
                                     return x({r[0]}) * w({i[0], r[0], i[1]});
                                   });
    kernel.inputs = {x, w};
    kernel.outputs = {c};
    auto made = Schedule::Create(kernel.graph, kernel.outputs);
    EXPECT_TRUE(made.ok()) << made.status();
    schedule.emplace(*std::move(made));
    stage = schedule->Find(c);
    stage->Reorder({stage->axis(0), stage->reduce_axis(0), stage->axis(1)});
  }

  std::string Text() const {
    auto f = Lower("f", kernel.graph, kernel.inputs, kernel.outputs, *schedule);
    return f.ok() ? "\n" + tir::Print(tir::Simplify(*f))
                  : f.status().ToString();
  }

  Kernel kernel;
  Tensor x, w;
  std::optional<Schedule> schedule;
  Stage* stage;
};

TEST(PrefetchesTest, OfWhatALaterIterationReads) {
  Product product(I(100));
  product.stage->Prefetch(product.w, product.stage->reduce_axis(0), 1024);
  EXPECT_EQ(product.Text(), R"(
func @f(%x: f32[100], %w: f32[4, 100, 32]) -> (%c: f32[4, 32]) {
  for i0 in [0, 4) {
    for i1 in [0, 32) {
      %c[i0, i1] = 0.0f
    }
    for r0 in [0, 100) {
      prefetch %w[i0, r0, 0] bytes [1024, +128)
      for i1 in [0, 32) {
        %c[i0, i1] = muladd(%x[r0], %w[i0, r0, i1], %c[i0, i1])
      }
    }
  }
}
)");
}

TEST(PrefetchesTest, InALoopOfParts) {
  Product product(I(100));
  auto [outer, inner] = product.stage->Split(product.stage->reduce_axis(0), 4);
  product.stage->Unroll(inner);
  product.stage->Prefetch(product.w, outer, 512);
  EXPECT_THAT(product.Text(),
              HasSubstr("prefetch %w[i0, r0o * 4, 0] bytes [512, +512)"));
}

// An iteration asks for each of two panels that it reads, for the first of
// four.
TEST(PrefetchesTest, OfTwoPlaces) {
  for (const int64_t panels : {2, 4}) {
    Product product(I(100));
    Stage* const stage = product.stage;
    auto [outer, panel] = stage->Split(stage->axis(0), panels);
    stage->Reorder({outer, stage->reduce_axis(0), panel, stage->axis(1)});
    stage->Prefetch(product.w, stage->reduce_axis(0), 1024);
    const std::string text = product.Text();
    EXPECT_THAT(text, HasSubstr("prefetch %w[")) << panels;
    const size_t second = text.find("prefetch", text.find("prefetch %w[") + 1);
    EXPECT_EQ(second != std::string::npos, panels == 2) << text;
    if (panels != 2) continue;
    EXPECT_THAT(text, HasSubstr("prefetch %w[i0o * 2, r0, 3200] bytes [1024, "
                                "+128)"));
  }
}

TEST(PrefetchesTest, NoneWhereFewResultsUseIt) {
  // c[i, p, j], of 7 rows: tiles of 4, then one row after the other.
  Graph graph;
  const Tensor x = graph.Placeholder("x", kF32, {I(7), I(100)});
  const Tensor w = graph.Placeholder("w", kF32, {I(4), I(100), I(32)});
  const Tensor c =
      graph.Reduce("c", {I(7), I(4), I(32)}, {I(100)}, Reducer::Sum(kF32),
                   [&](auto& i, auto& r) {
                     return x({i[0], r[0]}) * w({i[1], r[0], i[2]});
                   });
  auto schedule = Schedule::Create(graph, {c});
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  Stage* stage = schedule->Find(c);
  auto [tile, row] = stage->Split(stage->axis(0), 4, Tail::kPartition);
  stage->Reorder(
      {stage->axis(1), tile, stage->reduce_axis(0), row, stage->axis(2)});
  stage->Prefetch(w, stage->reduce_axis(0), 1024, 4);
  auto f = Lower("f", graph, {x, w}, {c}, *schedule);
  ASSERT_TRUE(f.ok()) << f.status();
  const std::string text = tir::Print(tir::Simplify(*f));
  const size_t first = text.find("prefetch %w");
  ASSERT_NE(first, std::string::npos) << text;
  EXPECT_EQ(text.find("prefetch", first + 1), std::string::npos) << text;
}

// c[i, p, j] in tiles of 4 rows, of each panel one after the other, with the
// requests of Stage::PrefetchInTurns.
std::string TextInTurns(Expr rows, int64_t depth) {
  Kernel k;
  const Tensor x = k.graph.Placeholder("x", kF32, {rows, I(depth)});
  const Tensor w = k.graph.Placeholder("w", kF32, {I(3), I(depth), I(32)});
  const Tensor c =
      k.graph.Reduce("c", {rows, I(3), I(32)}, {I(depth)}, Reducer::Sum(kF32),
                     [&](auto& i, auto& r) {
                       return x({i[0], r[0]}) * w({i[1], r[0], i[2]});
                     });
  auto schedule = Schedule::Create(k.graph, {c});
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  Stage* out = schedule->Find(c);
  Stage* sum = schedule->CacheWrite(out);
  auto [tile, row] = out->Split(out->axis(0), 4, Tail::kPartition);
  out->Reorder({out->axis(1), tile, row, out->axis(2)});
  sum->ComputeAt(out, tile);
  sum->Reorder({sum->reduce_axis(0), sum->axis(0), sum->axis(1), sum->axis(2)});
  sum->PrefetchInTurns(w, sum->reduce_axis(0), 1024, 4);
  auto f = Lower("f", k.graph, {x, w}, {c}, *schedule);
  return f.ok() ? tir::Print(tir::Simplify(*f)) : f.status().ToString();
}

// Five tiles read 12,800 bytes each: 2,560 of the next ones are a tile's share,
// 25.6 for each of 100 terms, in whole elements 28. The tail of two rows asks
// for nothing.
TEST(PrefetchesTest, InTurnsOfTilesThatReadTheSame) {
  const std::string text = TextInTurns(I(22), 100);
  const size_t first = text.find("prefetch %w");
  EXPECT_THAT(text, HasSubstr("prefetch %w[i1, 0, i0o * 640 + r0 * 7] "
                              "bytes [12800, +28)"));
  EXPECT_EQ(text.find("prefetch", first + 1), std::string::npos) << text;
}

TEST(PrefetchesTest, InTurnsOfTheFirstOfAnyNumber) {
  EXPECT_THAT(TextInTurns(tir::MakeVar("n"), 100),
              HasSubstr("prefetch %w[i1, 0, r0 * 16 + min(i0o, 1) * 1600] "
                        "bytes [12800, +64)"));
}

// Tiles of two panels, each of 3 * 10 terms of 32 columns.
TEST(PrefetchesTest, InTurnsOfBlocksAndSeveralReduceLoops) {
  Kernel k;
  const Tensor x = k.graph.Placeholder("x", kF32, {I(6), I(20), I(3), I(10)});
  const Tensor w = k.graph.Placeholder("w", kF32, {I(8), I(3), I(10), I(32)});
  const Tensor c = k.graph.Reduce(
      "c", {I(8), I(6), I(20), I(32)}, {I(3), I(10)}, Reducer::Sum(kF32),
      [&](auto& i, auto& r) {
        return x({i[1], i[2], r[0], r[1]}) * w({i[0], r[0], r[1], i[3]});
      });
  auto schedule = Schedule::Create(k.graph, {c});
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  Stage* out = schedule->Find(c);
  Stage* sum = schedule->CacheWrite(out);
  auto [blocks, block] = out->Split(out->axis(0), 2);
  auto [tile, place] = out->Split(out->axis(2), 5);
  out->Reorder({blocks, out->axis(1), tile, block, place, out->axis(3)});
  sum->ComputeAt(out, tile);
  sum->Reorder({sum->reduce_axis(0), sum->reduce_axis(1), sum->axis(0),
                sum->axis(1), sum->axis(2), sum->axis(3)});
  sum->PrefetchInTurns(w, sum->reduce_axis(1), 1024);
  auto f = Lower("f", k.graph, {x, w}, {c}, *schedule);
  ASSERT_TRUE(f.ok()) << f.status();
  // Four tiles ask for 480 elements each, 16 for each of 30 terms.
  EXPECT_THAT(tir::Print(tir::Simplify(*f)),
              HasSubstr("prefetch %w[i0o * 2, 0, 0, i2o * 480 + r0 * 160 + r1 "
                        "* 16] bytes [7680, +64)"));
}

// Each of two panels that lie apart is followed by the next one of its own, and
// the loop that takes turns is one of the stage itself.
TEST(PrefetchesTest, InTurnsOfTwoPlaces) {
  Graph graph;
  const Tensor x = graph.Placeholder("x", kF32, {I(20), I(100)});
  const Tensor w = graph.Placeholder("w", kF32, {I(2), I(3), I(100), I(32)});
  const Tensor c =
      graph.Reduce("c", {I(3), I(20), I(2), I(32)}, {I(100)},
                   Reducer::Sum(kF32), [&](auto& i, auto& r) {
                     return x({i[1], r[0]}) * w({i[2], i[0], r[0], i[3]});
                   });
  auto schedule = Schedule::Create(graph, {c});
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  Stage* stage = schedule->Find(c);
  auto [tile, row] = stage->Split(stage->axis(1), 4);
  stage->Reorder({stage->axis(0), tile, stage->reduce_axis(0), row,
                  stage->axis(2), stage->axis(3)});
  stage->PrefetchInTurns(w, stage->reduce_axis(0), 1024);
  auto f = Lower("f", graph, {x, w}, {c}, *schedule);
  ASSERT_TRUE(f.ok()) << f.status();
  const std::string text = tir::Print(tir::Simplify(*f));
  EXPECT_THAT(text, HasSubstr("prefetch %w[0, i0, 0, i1o * 640 + r0 * 7] "
                              "bytes [12800, +28)"));
  EXPECT_THAT(text, HasSubstr("prefetch %w[0, i0, 0, i1o * 640 + r0 * 7 + 9600]"
                              " bytes [12800, +28)"));
}

TEST(PrefetchesTest, ByItselfWhereThereIsOneTurn) {
  EXPECT_THAT(TextInTurns(I(4), 100),
              HasSubstr("prefetch %w[i1, r0, 0] bytes [1024, +128)"));
}

TEST(PrefetchesTest, ByItselfWhereTheNextOnesAreTooFar) {
  EXPECT_THAT(TextInTurns(I(20), 10000),
              HasSubstr("prefetch %w[i1, r0, 0] bytes [1024, +128)"));
}

// The place of an iteration's first element is not known to move at all, or not
// by how much.
TEST(PrefetchesTest, NoneWhereItIsNotKnownHowMuchAnIterationReads) {
  Product product(tir::MakeVar("n"));
  product.stage->Prefetch(product.w, product.stage->axis(0), 1024);
  EXPECT_THAT(product.Text(), Not(HasSubstr("prefetch")));
  Product same(I(100));
  same.stage->Prefetch(same.x, same.stage->axis(0), 1024);
  EXPECT_THAT(same.Text(), Not(HasSubstr("prefetch")));
}

TEST(PrefetchesTest, NoneOfACopyThatIsMadeForAPanel) {
  Product product(I(100));
  Stage* const sum = product.stage;
  const auto* load =
      tir::As<tir::Load>(tir::As<tir::Binary>(sum->op().value)->b);
  ASSERT_NE(load, nullptr);
  Stage* const copy = product.schedule->CacheRead(
      sum, *load, "copy", load->buffer->shape,
      [&](const Indices& i) { return tir::MakeLoad(load->buffer, i); },
      load->indices);
  copy->ComputeAt(sum, sum->axis(0));
  for (const bool in_turns : {false, true}) {
    if (in_turns) {
      sum->PrefetchInTurns(copy->output(), sum->reduce_axis(0), 1024);
    } else {
      sum->Prefetch(copy->output(), sum->reduce_axis(0), 1024);
    }
    EXPECT_THAT(product.Text(),
                AllOf(HasSubstr("%copy"), Not(HasSubstr("prefetch"))));
  }
}

TEST(PrefetchesTest, OnlyAtALoopThatIsMade) {
  Product product(I(100));
  const Loop whole = product.stage->reduce_axis(0);
  product.stage->Split(whole, 4);
  product.stage->Prefetch(product.w, whole, 1024);
  EXPECT_THAT(product.Text(), HasSubstr("prefetch at a loop, not a leaf"));
}

}  // namespace
}  // namespace ingot::te
