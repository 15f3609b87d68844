// Inner loops that end where an axis of unknown length ends, and what is
// computed for them: text of the loops that are made, the interpreter
// for all sizes around a tile's.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
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
using testing::Not;

constexpr DataType kF32 = DataType::Float(32);

// y[i] = the sum of w[r] * p[i * step + r], p = x with two zeros around it.
struct Window {
  Window(const Expr& n, int64_t step) {
    const Tensor x = kernel.graph.Placeholder("x", kF32, {n});
    const Tensor w = kernel.graph.Placeholder("w", kF32, {I(3)});
    padded = kernel.graph.Compute("p", {n + 4}, [&](auto& i) {
      return tir::MakeSelect(
          tir::And(tir::Ge(i[0], I(2)), tir::Lt(i[0], n + 2)), x({i[0] - 2}),
          F(0));
    });
    kernel.inputs = {x, w};
    kernel.outputs = {
        kernel.graph.Reduce("y", {(n + 1) / I(step) + 1}, {I(3)},
                            Reducer::Sum(kF32), [&](auto& i, auto& r) {
                              return padded({i[0] * step + r[0]}) * w({r[0]});
                            })};
    auto made = Schedule::Create(kernel.graph, kernel.outputs);
    EXPECT_TRUE(made.ok()) << made.status();
    schedule.emplace(*std::move(made));
    out = schedule->Find(kernel.outputs[0]);
  }
  // The padded elements for each tile of so many results.
  void PadTiles(int64_t results) {
    const Loop tile = out->Split(out->axis(0), results, Tail::kShorten).first;
    Stage* const pad = schedule->Find(padded);
    pad->Specialize(pad->axis(0));
    pad->ComputeAt(out, tile);
  }
  std::string Text() const {
    auto f = Lower("f", kernel.graph, kernel.inputs, kernel.outputs, *schedule);
    return f.ok() ? tir::Print(tir::Simplify(*f)) : f.status().ToString();
  }

  Kernel kernel;
  Tensor padded;
  std::optional<Schedule> schedule;
  Stage* out = nullptr;
};

// Each part of the padding knows where it is.
TEST(ShortenTest, ATileIsOnTheStackAndHasNoConditions) {
  Window k(tir::MakeVar("n"), 1);
  k.PadTiles(8);
  EXPECT_THAT(k.Text(), HasSubstr("alloc %p: f32[10] stack"));
  EXPECT_THAT(k.Text(), HasSubstr("for i0i in [0, min(n - i0o * 8 + 2, 8))"));
  EXPECT_THAT(k.Text(), Not(HasSubstr("select")));
}

TEST(ShortenTest, TilesOfAllSizes) {
  for (const int64_t step : {1, 2, 3}) {
    for (const int64_t results : {1, 2, 5}) {
      const tir::VarPtr n = tir::MakeVar("n");
      Window k(n, step);
      k.PadTiles(results);
      for (int64_t size = 0; size <= 3 * results * step; ++size) {
        SCOPED_TRACE(absl::StrCat("size ", size, ", step ", step, ", results ",
                                  results));
        ExpectSame(k.kernel, *k.schedule, {{n.get(), size}});
      }
    }
  }
}

// A shorter tile has tiles of its own, the last of which may be shorter still.
TEST(ShortenTest, TilesOfTiles) {
  for (const Tail tail : {Tail::kPartition, Tail::kShorten, Tail::kGuard}) {
    const tir::VarPtr n = tir::MakeVar("n");
    Window k(n, 1);
    const Loop rest = k.out->Split(k.out->axis(0), 7, Tail::kShorten).second;
    const Loop inner = k.out->Split(rest, 3, tail).second;
    k.out->Unroll(inner);
    for (int64_t size = 0; size <= 22; ++size) {
      SCOPED_TRACE(absl::StrCat("size ", size));
      ExpectSame(k.kernel, *k.schedule, {{n.get(), size}});
    }
  }
}

// Squares of 2 x 2 elements of y[h, w], one after the other, across the ends of
// rows of them: sums of a square's rows and columns come from lists of squares.
TEST(ShortenTest, SquaresOneAfterTheOther) {
  const tir::VarPtr h = tir::MakeVar("h"), w = tir::MakeVar("w");
  const Expr rows = (h + 1) / I(2), columns = (w + 1) / I(2);
  Kernel k;
  const Tensor x = k.graph.Placeholder("x", kF32, {h, w});
  const Tensor whole =
      k.graph.Compute("p", {rows * 2, columns * 2}, [&](auto& i) {
        return tir::MakeSelect(tir::And(tir::Lt(i[0], h), tir::Lt(i[1], w)),
                               x({i[0], i[1]}), F(0));
      });
  const Tensor squares =
      k.graph.Compute("t", {rows * columns, I(2), I(2)}, [&](auto& i) {
        return whole({i[0] / columns * 2 + i[1], i[0] % columns * 2 + i[2]}) *
               F(2);
      });
  const Tensor y = k.graph.Compute("y", {h, w}, [&](auto& i) {
    const Expr square = i[0] / I(2) * columns + i[1] / I(2);
    const auto at = [&](int64_t a, int64_t b) {
      return squares({square, I(a), I(b)});
    };
    return tir::MakeSelect(tir::Eq(i[0] % I(2), I(0)), at(0, 0) + at(0, 1),
                           at(1, 0) - at(1, 1)) +
           squares({square, i[0] % I(2), i[1] % I(2)});
  });
  k.inputs = {x};
  k.outputs = {y};
  auto schedule = Schedule::Create(k.graph, k.outputs);
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  Stage* const out = schedule->Find(y);
  auto [row, yi] = out->Split(out->axis(0), 2, Tail::kGuard);
  auto [column, xi] = out->Split(out->axis(1), 2, Tail::kGuard);
  out->Reorder({row, column, yi, xi});
  auto [list, square] = out->Split(out->Fuse(row, column), 5, Tail::kShorten);
  schedule->Find(squares)->ComputeAt(out, list);
  out->Unroll(yi);
  const auto f = Lower("f", k.graph, k.inputs, k.outputs, *schedule);
  ASSERT_TRUE(f.ok()) << f.status();
  const std::string text = tir::Print(tir::Simplify(*f));
  EXPECT_THAT(text, HasSubstr("alloc %t: f32[5, 2, 2] stack"));
  // The results alone end within a square.
  const size_t first = text.find(" if ");
  EXPECT_EQ(first, text.rfind(" if ")) << text;
  EXPECT_LT(text.find("%t["), first) << text;
  for (int64_t height = 0; height <= 7; ++height) {
    for (int64_t width = 0; width <= 7; ++width) {
      SCOPED_TRACE(absl::StrCat(height, " x ", width));
      ExpectSame(k, *schedule, {{h.get(), height}, {w.get(), width}});
    }
  }
}

TEST(ShortenTest, KnownLengths) {
  for (int64_t size = 0; size <= 18; ++size) {
    Window k(I(size), 1);
    k.PadTiles(4);
    ExpectSame(k.kernel, *k.schedule);
  }
}

// The outer loop must be made first.
TEST(ShortenTest, InsideOutThereIsACondition) {
  const tir::VarPtr n = tir::MakeVar("n");
  Window k(n, 1);
  auto [outer, inner] = k.out->Split(k.out->axis(0), 4, Tail::kShorten);
  k.out->Reorder({inner, outer});
  EXPECT_THAT(k.Text(), HasSubstr("if "));
  for (int64_t size = 0; size <= 9; ++size) {
    ExpectSame(k.kernel, *k.schedule, {{n.get(), size}});
  }
}

}  // namespace
}  // namespace ingot::te
