// Which loops become loops over lanes, and what they are then.
#include "compiler/codegen/lane_loops.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "compiler/tir/parser.h"
#include "compiler/tir/printer.h"
#include "compiler/tir/verifier.h"
#include "gtest/gtest.h"

namespace ingot::codegen {
namespace {

constexpr char kHead[] =
    "func @f(%x: f32[n], %z: f32[40, 3]) -> (%y: f32[n], %w: f32[40, 2])";

// Returns a body as it is on a machine with vectors of 256 bits, in one line;
// nothing where it stays the same.
std::string LanesOf(const std::string& body) {
  const auto func = tir::Parse(absl::StrCat(kHead, " { ", body, " }"));
  EXPECT_TRUE(func.ok()) << func.status();
  if (!func.ok()) return "";
  const tir::PrimFunc lanes = MakeLaneLoops(*func, 256);
  EXPECT_TRUE(tir::Verify(lanes).ok()) << tir::Print(lanes);
  return lanes.body == func->body ? "" : tir::Print(lanes);
}

TEST(LaneLoops, HaveWholeVectorsAndTheRest) {
  EXPECT_EQ(LanesOf("for i in [0, n) { %y[i] = exp(%x[i]) }"),
            absl::StrCat(kHead, R"( {
  for io in [0, n / 8) {
    vectorized i in [io * 8, +8) {
      %y[i] = exp(%x[i])
    }
  }
  for i in [n / 8 * 8, +n - n / 8 * 8) {
    %y[i] = exp(%x[i])
  }
}
)"));
}

TEST(LaneLoops, OfConstantExtentsEndInShorterVectors) {
  EXPECT_EQ(LanesOf("for i in [0, 14) { %y[i] = tanh(%x[i]) }"),
            absl::StrCat(kHead, R"( {
  for io in [0, 1) {
    vectorized i in [io * 8, +8) {
      %y[i] = tanh(%x[i])
    }
  }
  vectorized i in [8, +4) {
    %y[i] = tanh(%x[i])
  }
  for i in [12, +2) {
    %y[i] = tanh(%x[i])
  }
}
)"));
}

TEST(LaneLoops, StoreElementsInTurns) {
  EXPECT_NE(LanesOf("for i in [0, 40) { %w[i, 0] = exp(%z[i, 0]) "
                    "%w[i, 1] = exp(%z[i, 2]) }"),
            "");
  EXPECT_EQ(LanesOf("for i in [0, 40) { %w[i, 0] = exp(%z[i, 0]) }"), "");
}

TEST(LaneLoops, KeepTheOrderOfTheirStatements) {
  EXPECT_NE(LanesOf("for i in [0, 16) { let v: f32 = exp(%x[i]) "
                    "%y[i] = v  %y[i] = %y[i] * v }"),
            "");
}

TEST(LaneLoops, AreNoneWhereIterationsDepend) {
  EXPECT_EQ(LanesOf("for i in [0, 16) { %y[i + 1] = exp(%y[i]) }"), "");
  EXPECT_EQ(LanesOf("for i in [0, 16) { %y[0] = %y[0] + exp(%x[i]) }"), "");
  EXPECT_EQ(
      LanesOf("for i in [0, 16) { %y[i] = exp(%x[i])  %y[i + 1] = 0.0f }"), "");
}

TEST(LaneLoops, AreNoneWhereCHasNoVectors) {
  // Others of GCC's are as good.
  EXPECT_EQ(LanesOf("for i in [0, 16) { %y[i] = %x[i] * 2.0f }"), "");
  EXPECT_EQ(LanesOf("for i in [0, 3) { %y[i] = exp(%x[i]) }"), "");
  EXPECT_EQ(LanesOf("for i in [0, n % 8) { %y[i] = exp(%x[i]) }"), "");
  EXPECT_EQ(LanesOf("for i in [0, 16) { %y[i] = exp(%x[i // 2]) }"), "");
  EXPECT_EQ(LanesOf("for i in [0, 16) { %y[i] = exp(%x[i64(%x[i])]) }"), "");
  EXPECT_EQ(LanesOf("for i in [0, 16) { if (%x[i] > 0.0f) { "
                    "%y[i] = exp(%x[i]) } }"),
            "");
}

}  // namespace
}  // namespace ingot::codegen
