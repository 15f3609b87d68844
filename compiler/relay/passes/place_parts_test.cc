// Tests which concatenations and slices move no byte.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/test_support.h"
#include "compiler/relay/states.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::relay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The operators in main that are not views, after fusion.
std::vector<std::string> PlacedIn(absl::string_view main) {
  const auto module =
      CheckKeepsMeaning(absl::StrCat("module { func @main", main, " }"),
                        {"fuse_ops", "place_parts"}, 1e-5);
  if (module == nullptr) return {"(failed)"};
  std::vector<std::string> placed;
  for (const auto& node : module->main()->nodes()) {
    if (node->IsKernel()) placed.push_back(node->op->name);
  }
  return placed;
}

TEST(PlacePartsTest, OuterDimensionsOfOneAreJoined) {
  EXPECT_THAT(PlacedIn(R"((%x: f32[1, 16, 4], %y: f32[1, 32, 4]) -> (%c) {
    %a = softmax(%x) {axis=1}
    %b = softmax(%y) {axis=1}
    %j = concat(%a, %b) {axis=1}
    %c = softmax(%j) {axis=1}
  })"),
              ElementsAre("concat"));
}

TEST(PlacePartsTest, RowsThatInterleaveAreNot) {
  EXPECT_THAT(PlacedIn(R"((%x: f32[2, 16, 4], %y: f32[2, 32, 4]) -> (%c) {
    %a = softmax(%x) {axis=1}
    %b = softmax(%y) {axis=1}
    %j = concat(%a, %b) {axis=1}
    %c = softmax(%j) {axis=1}
  })"),
              IsEmpty());
}

TEST(PlacePartsTest, JoinedPartsAreJoinedAgain) {
  EXPECT_THAT(PlacedIn(R"((%x: f32[16, 4], %y: f32[32, 4]) -> (%d) {
    %a = softmax(%x) {axis=0}
    %b = softmax(%y) {axis=0}
    %j = concat(%a, %b) {axis=0}
    %s = softmax(%j) {axis=0}
    %r = reshape(%s) {shape=[1, 192]}
    %q = reshape(%j) {shape=[1, 192]}
    %k = concat(%q, %r) {axis=0}
    %d = softmax(%k) {axis=0}
  })"),
              ElementsAre("concat", "concat"));
}

// An operand's bytes lie in one place.
TEST(PlacePartsTest, APartIsInOneConcatenationOnce) {
  EXPECT_THAT(PlacedIn(R"((%x: f32[16, 4]) -> (%b) {
    %a = softmax(%x) {axis=0}
    %j = concat(%a, %a) {axis=0}
    %b = softmax(%j) {axis=0}
  })"),
              IsEmpty());
  EXPECT_THAT(PlacedIn(R"((%x: f32[16, 4], %y: f32[16, 4]) -> (%c, %d) {
    %a = softmax(%x) {axis=0}
    %b = softmax(%y) {axis=0}
    %j = concat(%a, %b) {axis=0}
    %k = concat(%b, %a) {axis=0}
    %c = softmax(%j) {axis=0}
    %d = softmax(%k) {axis=0}
  })"),
              ElementsAre("concat"));
}

// They are where the caller has them, or where the caller wants them.
TEST(PlacePartsTest, InputsConstantsAndOutputsAreNoParts) {
  EXPECT_THAT(PlacedIn(R"((%x: f32[16, 4], %y: f32[16, 4]) -> (%b, %e, %f) {
    %a = softmax(%x) {axis=0}
    %j = concat(%a, %y) {axis=0}
    %b = softmax(%j) {axis=0}
    %d = softmax(%y) {axis=0}
    %e = softmax(%x) {axis=1}
    %k = concat(%d, %e) {axis=0}
    %f = softmax(%k) {axis=0}
  })"),
              IsEmpty());
}

TEST(PlacePartsTest, TheWholeMayBeAnOutput) {
  EXPECT_THAT(PlacedIn(R"((%x: f32[16, 4], %y: f32[16, 4]) -> (%j) {
    %a = softmax(%x) {axis=0}
    %b = softmax(%y) {axis=0}
    %j = concat(%a, %b) {axis=0}
  })"),
              ElementsAre("concat"));
}

TEST(PlacePartsTest, SlicesOfWholeRows) {
  EXPECT_THAT(PlacedIn(R"((%x: f32[1, 64, 4]) -> (%c, %d) {
    %a = slice(%x) {starts=[16], ends=[48], axes=[1]}
    %c = softmax(%a) {axis=1}
    %s = softmax(%x) {axis=1}
    %r = reshape(%s) {shape=[64, 4]}
    %b = slice(%r) {starts=[63, 0], ends=[62, 4], axes=[0, 1], steps=[-1, 1]}
    %d = softmax(%b) {axis=1}
  })"),
              ElementsAre("slice", "slice"));
}

TEST(PlacePartsTest, OtherSlicesAreKernels) {
  EXPECT_THAT(PlacedIn(R"((%x: f32[64, 4]) -> (%a, %e, %f) {
    %a = slice(%x) {starts=[16], ends=[48], axes=[0]}
    %c = slice(%x) {starts=[0], ends=[64], axes=[0], steps=[2]}
    %e = softmax(%c) {axis=0}
    %d = slice(%x) {starts=[0], ends=[2], axes=[1]}
    %f = softmax(%d) {axis=0}
  })"),
              IsEmpty());
}

// 5 rows of 1028 bytes do not begin where lines of caches do.
TEST(PlacePartsTest, LargePartsBeginAtLinesOfCaches) {
  const auto placed = [](int columns) {
    return PlacedIn(absl::StrCat("(%x: f32[9, ", columns, R"(]) -> (%b) {
      %a = slice(%x) {starts=[1], ends=[6], axes=[0]}
      %b = softmax(%a) {axis=1}
    })"));
  };
  EXPECT_THAT(placed(257), IsEmpty());
  EXPECT_THAT(placed(256), ElementsAre("slice"));
  EXPECT_THAT(placed(25), ElementsAre("slice"));
}

// A state changes while others still read what it was.
TEST(PlacePartsTest, StatesAreNotCut) {
  const std::string text = Main(R"((%x: f32[16, 4]) -> (%b, %next) {
    %a = slice(%x) {starts=[4], ends=[8], axes=[0]}
    %b = softmax(%a) {axis=1}
    %next = softmax(%x) {axis=1}
  })");
  for (const bool is_state : {false, true}) {
    const auto module = ParseForTest(text);
    const State state = {0, 1};
    if (is_state) SetStates(module->main(), {state});
    ASSERT_TRUE(
        RunForTest({"update_states", "fuse_ops", "place_parts"}, module.get()));
    EXPECT_EQ(CountOps(*module->main(), "slice"), is_state ? 0 : 1);
  }
}

}  // namespace
}  // namespace ingot::relay
