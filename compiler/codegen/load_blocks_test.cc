// Which loads are blocks of a transposition.
#include "compiler/codegen/load_blocks.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/tir/parser.h"
#include "compiler/tir/passes/passes.h"
#include "compiler/tir/visitor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::codegen {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class StoreFinder final : public tir::StmtVisitor {
 public:
  std::vector<const tir::Store*> stores;

 private:
  void VisitStore(const tir::Store& node) override { stores.push_back(&node); }
};

// The blocks that `body` loads, each as "rows x columns of the buffer at the
// store". Rows have at most 128 bits.
std::vector<std::string> BlocksOf(const std::string& body) {
  auto func = tir::Parse(absl::StrCat(
      "func @f(%x: f32[64, 100], %w: f32[64, 100]) -> (%y: f32[100, 64]) { "
      "for a in [0, 64) { for b in [0, 32) { ",
      body, " } } }"));
  EXPECT_TRUE(func.ok()) << func.status();
  if (!func.ok()) return {};
  for (auto* pass : {&tir::UnrollLoops, &tir::VectorizeLoops}) {
    func = (*pass)(*func);
    EXPECT_TRUE(func.ok()) << func.status();
    if (!func.ok()) return {};
  }
  StoreFinder finder;
  finder.Visit(func->body);
  std::vector<std::string> found;
  for (const auto& [first_store, block] :
       FindLoadBlocks(finder.stores, tir::Bounds::Dimensions(), 128)) {
    found.push_back(absl::StrCat(
        block.rows, " x ", block.columns.size(), " of ", block.buffer->name,
        " at ", first_store, block.guard == nullptr ? "" : ", guarded"));
  }
  return found;
}

TEST(LoadBlocks, AreCutFromNeighbours) {
  const auto transposed = [](int columns) {
    return BlocksOf(absl::StrCat("unrolled t in [0, ", columns,
                                 ") { vectorized v in [0, 8) { "
                                 "%y[a + t, b + v] = %x[b + v, a + t] } }"));
  };
  EXPECT_THAT(transposed(4), ElementsAre("8 x 4 of x at 0"));
  EXPECT_THAT(transposed(7), ElementsAre("8 x 4 of x at 0", "8 x 2 of x at 4"));
  EXPECT_THAT(transposed(8), ElementsAre("8 x 4 of x at 0", "8 x 4 of x at 4"));
}

TEST(LoadBlocks, AreOfTwoOperandsAndInSeveralPlaces) {
  EXPECT_THAT(
      BlocksOf("unrolled t in [0, 4) { vectorized v in [0, 4) { "
               "%y[a + t, b + v] = %x[b + v, a + t] * %w[b + v, a + t] + "
               "%x[b + v, a + t] } }"),
      ElementsAre("4 x 4 of x at 0", "4 x 4 of w at 0"));
}

TEST(LoadBlocks, AreNotWhatIsFewOrApart) {
  const auto load = [](const std::string& value) {
    return BlocksOf(absl::StrCat(
        "unrolled t in [0, 4) { vectorized v in [0, 4) { %y[a + t, b + v] = ",
        value, " } }"));
  };
  // Contiguous; one element; the same for all; every other column.
  EXPECT_THAT(load("%x[a + t, b + v]"), IsEmpty());
  EXPECT_THAT(load("%x[a + t, b]"), IsEmpty());
  EXPECT_THAT(load("%x[b + v, a]"), IsEmpty());
  EXPECT_THAT(load("%x[b + v, a + 2 * t]"), IsEmpty());
}

TEST(LoadBlocks, AreNotWhatIsStoredTo) {
  EXPECT_THAT(BlocksOf("unrolled t in [0, 4) { vectorized v in [0, 4) { "
                       "%y[a + t, b + v] = %y[b + v, a + t] } }"),
              IsEmpty());
  // Parts are other names for the same memory.
  EXPECT_THAT(BlocksOf("part %p: f32[64, 100] of %y at 0 "
                       "unrolled t in [0, 4) { vectorized v in [0, 4) { "
                       "%y[a + t, b + v] = %p[b + v, a + t] } }"),
              IsEmpty());
  EXPECT_THAT(BlocksOf("part %p: f32[100, 64] of %y at 0 "
                       "unrolled t in [0, 4) { vectorized v in [0, 4) { "
                       "%p[a + t, b + v] = %x[b + v, a + t] } }"),
              IsEmpty());
}

TEST(LoadBlocks, MayBeGuardedByRows) {
  const auto guarded = [](const std::string& value) {
    return BlocksOf(absl::StrCat(
        "unrolled t in [0, 4) { vectorized v in [0, 4) { %y[a + t, b + v] = ",
        value, " } }"));
  };
  EXPECT_THAT(guarded("select(b * 4 + v < 50, %x[b * 4 + v, a + t], 0.0f)"),
              ElementsAre("4 x 4 of x at 0, guarded"));
  // One condition for each column; two conditions; one that does not hold.
  EXPECT_THAT(guarded("select(a + t < 50, %x[b * 4 + v, a + t], 0.0f)"),
              IsEmpty());
  EXPECT_THAT(guarded("select(b * 4 + v < 50, select(a < 5, %x[b * 4 + v, a + "
                      "t], 1.0f), 0.0f)"),
              IsEmpty());
  EXPECT_THAT(guarded("select(b * 4 + v < 50, 0.0f, %x[b * 4 + v, a + t])"),
              IsEmpty());
}

}  // namespace
}  // namespace ingot::codegen
