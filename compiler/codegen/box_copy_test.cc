// Which loops of one thread are copies of boxes, and of which.
#include "compiler/codegen/box_copy.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "compiler/tir/parser.h"
#include "compiler/tir/printer.h"
#include "compiler/tir/verifier.h"
#include "compiler/tir/visitor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::codegen {
namespace {

using ::testing::ElementsAre;

// Copies 16 terms of 128 columns, in two boxes.
constexpr char kCopy[] =
    R"(func @f(%x: f16[3, 100, 200], %w: f16[8]) -> (%y: f16[1]) {
  block b in [0, 6) {
    alloc %tile: f16[2, 16, 64] shared
    thread t in [0, 1) {
      tensorized r in [0, 16) {
        for c in [0, 2) {
          for e in [0, 64) {
            %tile[c, r, e] = select(b * 128 + c * 64 + e < 200, %x[2, b * 16 + r, b * 128 + c * 64 + e], f16(0.0))
          }
        }
      }
    }
    thread t_1 in [0, 1) {
      %y[0] = %tile[0, 0, 0]
    }
  }
}
)";

class FirstThreads final : public tir::StmtVisitor {
 public:
  const tir::For* found = nullptr;

 private:
  void VisitFor(const tir::For& node) override {
    if (found == nullptr && node.for_kind == tir::ForKind::kThread) {
      found = &node;
    }
    StmtVisitor::VisitFor(node);
  }
};

std::optional<BoxCopy> CopyIn(const std::string& text) {
  const auto func = tir::Parse(text);
  EXPECT_TRUE(func.ok()) << func.status();
  if (!func.ok()) return std::nullopt;
  const absl::Status verified = tir::Verify(*func);
  EXPECT_TRUE(verified.ok()) << verified;
  FirstThreads threads;
  threads.Visit(func->body);
  return ReadBoxCopy(*threads.found, *func);
}

std::string With(const char* from, const char* to) {
  EXPECT_NE(std::string(kCopy).find(from), std::string::npos) << from;
  return absl::StrReplaceAll(kCopy, {{from, to}});
}

std::vector<std::string> PlaceOf(const BoxCopy::Box& box) {
  std::vector<std::string> place;
  for (const tir::Expr& index : box.from) place.push_back(tir::Print(index));
  return place;
}

TEST(BoxCopy, IsOfWholeRows) {
  const std::optional<BoxCopy> copy = CopyIn(kCopy);
  ASSERT_TRUE(copy.has_value());
  EXPECT_EQ(copy->map.argument, 0u);
  EXPECT_THAT(copy->map.box, ElementsAre(1, 16, 64));
  ASSERT_EQ(copy->boxes.size(), 2u);
  EXPECT_THAT(PlaceOf(copy->boxes[0]), ElementsAre("2", "b * 16", "b * 128"));
  EXPECT_THAT(PlaceOf(copy->boxes[1]),
              ElementsAre("2", "b * 16", "b * 128 + 64"));
  EXPECT_EQ(copy->boxes[0].to, 0);
  EXPECT_EQ(copy->boxes[1].to, 16 * 64);
  EXPECT_EQ(copy->Bytes(), 2 * 16 * 64 * 2);
  EXPECT_TRUE(CopyIn(With("tensorized r in [0, 16) {",
                          "let n: i64 = b\n      tensorized r in [0, 16) {"))
                  .has_value());
}

// The device gives zeros beyond the end of a dimension, and nowhere else.
TEST(BoxCopy, HasZerosBeyondTheEndAlone) {
  const char* const select =
      "select(b * 128 + c * 64 + e < 200, %x[2, b * 16 + r, b * 128 + c * 64 + "
      "e], f16(0.0))";
  EXPECT_TRUE(CopyIn(With(select, "%x[2, r, c * 64 + e]")).has_value());
  EXPECT_TRUE(
      CopyIn(With("e < 200,", "e < 200 && b * 16 + r < 100,")).has_value());
  EXPECT_FALSE(CopyIn(With("e < 200,", "e < 199,")).has_value());
  EXPECT_FALSE(CopyIn(With("e < 200,", "e < 200 || r < 3,")).has_value());
  EXPECT_FALSE(CopyIn(With("e < 200,", "e < 200 && r < 100,")).has_value());
  EXPECT_FALSE(CopyIn(With("f16(0.0)", "f16(1.0)")).has_value());
  EXPECT_FALSE(CopyIn(With("f16(0.0)", "f16(-0.0)")).has_value());
}

TEST(BoxCopy, IsNothingElse) {
  // Several threads would copy, or the nest is not marked.
  EXPECT_FALSE(
      CopyIn(With("thread t in [0, 1)", "thread t in [0, 2)")).has_value());
  EXPECT_FALSE(CopyIn(With("tensorized r", "for r")).has_value());
  // Rows that are no multiples of 16 bytes.
  EXPECT_FALSE(
      CopyIn(With("f16[3, 100, 200]", "f16[3, 100, 204]")).has_value());
  // Not neighbours in the tensor, in memory, or in one row.
  EXPECT_FALSE(CopyIn(With("+ c * 64 + e]", "+ c * 64 + e * 2]")).has_value());
  EXPECT_FALSE(
      CopyIn(With("%x[2, b * 16 + r,", "%x[2, b * 16 + r * 2,")).has_value());
  EXPECT_FALSE(
      CopyIn(With("%tile[c, r, e]", "%tile[c, e % 16, r]")).has_value());
  EXPECT_FALSE(
      CopyIn(With("%x[2, b * 16 + r,", "%x[2, b * 16 + r // 2,")).has_value());
  EXPECT_FALSE(
      CopyIn(With("%x[2, b * 16 + r,", "%x[r, b * 16 + r,")).has_value());
  // Eight rows are swizzled together.
  EXPECT_FALSE(
      CopyIn(absl::StrReplaceAll(kCopy, {{"r in [0, 16)", "r in [0, 12)"},
                                         {"[2, 16, 64]", "[2, 12, 64]"}}))
          .has_value());
  // Written by the function itself.
  EXPECT_FALSE(
      CopyIn(
          absl::StrReplaceAll(
              kCopy, {{"(%x: f16[3, 100, 200], %w: f16[8])", "(%w: f16[8])"},
                      {"(%y: f16[1])", "(%x: f16[3, 100, 200], %y: f16[1])"}}))
          .has_value());
  // Something is computed.
  EXPECT_FALSE(CopyIn(With("%x[2, b * 16 + r, b * 128 + c * 64 + e]",
                           "-%x[2, b * 16 + r, b * 128 + c * 64 + e]"))
                   .has_value());
}

}  // namespace
}  // namespace ingot::codegen
