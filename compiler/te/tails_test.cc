// An outer loop of unknown extent leaves elements over, which smaller and
// smaller tiles take.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "compiler/te/lower.h"
#include "compiler/te/schedule.h"
#include "compiler/te/testing/check.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/printer.h"
#include "compiler/tir/visitor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::te {
namespace {

using testing::HasSubstr;
using testing::Not;

// A square of n elements in tiles that are written out.
class TailsTest : public testing::Test {
 protected:
  TailsTest() {
    const DataType f32 = DataType::Float(32);
    const Tensor x = kernel_.graph.Placeholder("x", f32, {n_});
    kernel_.inputs = {x};
    kernel_.outputs = {
        kernel_.graph.Compute("y", {n_}, [&](auto& i) { return x(i) * x(i); })};
  }

  // The loops in tiles of `factor`; they must compute the same as without.
  std::string Tiled(int64_t factor) {
    auto schedule = Schedule::Create(kernel_.graph, kernel_.outputs);
    EXPECT_TRUE(schedule.ok()) << schedule.status();
    Stage* out = schedule->Find(kernel_.outputs[0]);
    auto [outer, inner] = out->Split(out->axis(0), factor, Tail::kPartition);
    out->Unroll(inner);
    for (int64_t size = 0; size <= 3 * factor; ++size) {
      ExpectSame(kernel_, *schedule, {{n_.get(), size}});
    }
    auto f =
        Lower("f", kernel_.graph, kernel_.inputs, kernel_.outputs, *schedule);
    return f.ok() ? tir::Print(tir::Simplify(*f)) : f.status().ToString();
  }

  // The sizes of the tiles of `factor` that `size` elements are taken in, each
  // once however often it is taken.
  std::vector<int64_t> TilesOf(int64_t factor, int64_t size) {
    auto schedule = Schedule::Create(kernel_.graph, kernel_.outputs);
    EXPECT_TRUE(schedule.ok()) << schedule.status();
    Stage* out = schedule->Find(kernel_.outputs[0]);
    auto [outer, inner] = out->Split(out->axis(0), factor, Tail::kPartition);
    out->Unroll(inner);
    auto f =
        Lower("f", kernel_.graph, kernel_.inputs, kernel_.outputs, *schedule);
    EXPECT_TRUE(f.ok()) << f.status();
    if (!f.ok()) return {};
    const std::string text = tir::Print(tir::Simplify(
        tir::Substitute(f->body, {{n_.get(), tir::MakeInt(size)}})));
    std::vector<int64_t> tiles;
    for (int64_t tile = factor; tile > 1; --tile) {
      if (absl::StrContains(text, absl::StrCat("i0i in [0, ", tile, ")"))) {
        tiles.push_back(tile);
      }
    }
    return tiles;
  }

  const tir::VarPtr n_ = tir::MakeVar("n");
  Kernel kernel_;
};

// One or two elements more than a number of tiles are no tile of their own.
TEST_F(TailsTest, OfTwoHalvesWhereOneOrTwoAreLeft) {
  using testing::ElementsAre;
  EXPECT_THAT(TilesOf(6, 5), ElementsAre(5));
  EXPECT_THAT(TilesOf(6, 6), ElementsAre(6));
  EXPECT_THAT(TilesOf(6, 7), ElementsAre(4, 3));
  EXPECT_THAT(TilesOf(6, 8), ElementsAre(4));
  EXPECT_THAT(TilesOf(6, 9), ElementsAre(6, 3));
  EXPECT_THAT(TilesOf(6, 11), ElementsAre(6, 5));
  EXPECT_THAT(TilesOf(6, 13), ElementsAre(6, 4, 3));
  EXPECT_THAT(TilesOf(6, 14), ElementsAre(6, 4));
  EXPECT_THAT(TilesOf(7, 8), ElementsAre(5, 3));
  EXPECT_THAT(TilesOf(7, 9), ElementsAre(5, 4));
  EXPECT_THAT(TilesOf(5, 11), ElementsAre(5, 4, 2));
  EXPECT_THAT(TilesOf(4, 5), ElementsAre(3, 2));
  EXPECT_THAT(TilesOf(4, 6), ElementsAre(3));
  EXPECT_THAT(TilesOf(3, 5), ElementsAre(3, 2));
}

TEST_F(TailsTest, OfAFourthWhereManyAreLeft) {
  const std::string text = Tiled(40);
  EXPECT_THAT(text, HasSubstr("unrolled i0i in [0, 40)"));
  EXPECT_THAT(text, HasSubstr("unrolled i0i in [0, 10)"));
  EXPECT_THAT(text, HasSubstr("unrolled i0i in [0, 2)"));
  for (const int64_t other : {9, 8, 7, 6, 5, 4, 3}) {
    EXPECT_THAT(text, Not(HasSubstr(absl::StrCat("i0i in [0, ", other, ")"))));
  }
}

TEST_F(TailsTest, OfJustAsManyWhereFewAreLeft) {
  for (const int64_t factor : {2, 3, 4, 5, 6, 7}) {
    const std::string text = Tiled(factor);
    for (int64_t size = 2; size <= factor; ++size) {
      EXPECT_THAT(text, HasSubstr(absl::StrCat("i0i in [0, ", size, ")")));
    }
  }
  const std::string text = Tiled(28);
  for (const int64_t size : {28, 7, 6, 5, 4, 3, 2}) {
    EXPECT_THAT(text, HasSubstr(absl::StrCat("i0i in [0, ", size, ")")));
  }
}

// Tiles of 4 x 6 of m x n elements, the columns outside: where columns are
// left over, rows are left over in twos.
TEST_F(TailsTest, OfHalfInTheCornerOfTwo) {
  const tir::VarPtr m = tir::MakeVar("m");
  Kernel k;
  const Tensor x = k.graph.Placeholder("x", DataType::Float(32), {m, n_});
  k.inputs = {x};
  k.outputs = {
      k.graph.Compute("y", {m, n_}, [&](auto& i) { return x(i) * x(i); })};
  auto schedule = Schedule::Create(k.graph, k.outputs);
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  Stage* out = schedule->Find(k.outputs[0]);
  auto [rows, row] = out->Split(out->axis(0), 4, Tail::kPartition);
  auto [columns, column] = out->Split(out->axis(1), 6, Tail::kPartition);
  out->Reorder({columns, rows, row, column});
  out->Unroll(row);
  out->Unroll(column);
  for (int64_t height = 0; height <= 8; ++height) {
    for (int64_t width = 0; width <= 13; ++width) {
      ExpectSame(k, *schedule, {{m.get(), height}, {n_.get(), width}});
    }
  }
  const auto f = Lower("f", k.graph, k.inputs, k.outputs, *schedule);
  ASSERT_TRUE(f.ok()) << f.status();
  const std::string text = tir::Print(tir::Simplify(*f));
  const auto count = [&text](absl::string_view tile) {
    return std::vector<std::string>(absl::StrSplit(text, tile)).size() - 1;
  };
  // Rows of whole tiles and of what is left of these: of 6 columns, and of 5,
  // 4, 3, 2 and 1.
  EXPECT_EQ(count("unrolled i0i in [0, 4)"), 6);
  EXPECT_EQ(count("unrolled i0i in [0, 3)"), 1);
  EXPECT_EQ(count("unrolled i0i in [0, 2)"), 6);
}

// Tiles of 4 rows, each of which is 3 parts of 2 columns. The loop over both is
// cut where the rows' whole tiles end.
class FusedTailsTest : public TailsTest {
 protected:
  std::string Fused(int64_t rows, bool parallel) {
    Kernel k;
    const Tensor x = k.graph.Placeholder("x", DataType::Float(32),
                                         {tir::MakeInt(rows), tir::MakeInt(6)});
    k.inputs = {x};
    k.outputs = {
        k.graph.Compute("y", x.shape(), [&](auto& i) { return x(i) * x(i); })};
    auto schedule = Schedule::Create(k.graph, k.outputs);
    EXPECT_TRUE(schedule.ok()) << schedule.status();
    Stage* out = schedule->Find(k.outputs[0]);
    auto [tiles, row] = out->Split(out->axis(0), 4, Tail::kPartition);
    auto [parts, column] = out->Split(out->axis(1), 2);
    out->Reorder({tiles, parts, row, column});
    const Loop both = out->Fuse(tiles, parts);
    if (parallel) out->Parallel(both);
    ExpectSame(k, *schedule);
    auto f = Lower("f", k.graph, k.inputs, k.outputs, *schedule);
    return f.ok() ? tir::Print(tir::Simplify(*f)) : f.status().ToString();
  }
};

TEST_F(FusedTailsTest, OneLoopAfterTheOther) {
  const std::string text = Fused(11, /*parallel=*/false);
  EXPECT_THAT(text, HasSubstr("for i0o_i1o in [0, 6)"));
  EXPECT_THAT(text, HasSubstr("for i0o_i1o in [0, 3)"));
  EXPECT_THAT(text, HasSubstr("for i0i in [0, 3)"));
  EXPECT_THAT(text, Not(HasSubstr("if ")));
}

TEST_F(FusedTailsTest, IterationsOfALoopThatThreadsShare) {
  const std::string text = Fused(7, /*parallel=*/true);
  EXPECT_THAT(text, HasSubstr("parallel i0o_i1o in [0, 6)"));
  EXPECT_THAT(text, HasSubstr("if i0o_i1o < 3"));
  EXPECT_THAT(text, HasSubstr("for i0i in [0, 4)"));
  EXPECT_THAT(text, HasSubstr("for i0i in [0, 3)"));
}

TEST_F(FusedTailsTest, AreNoneWhereTilesDivide) {
  EXPECT_THAT(Fused(8, /*parallel=*/true),
              HasSubstr("parallel i0o_i1o in [0, 6)"));
}

}  // namespace
}  // namespace ingot::te
