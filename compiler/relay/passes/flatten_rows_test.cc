// Tests which kernels get one long row, and that they compute the same on it.
#include <string>

#include "absl/strings/str_cat.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/test_support.h"
#include "gtest/gtest.h"

namespace ingot::relay {
namespace {

// The type of the first operand of one of main's calls, or an error's text.
std::string TakenBy(absl::string_view main, int call = 0) {
  const auto module =
      CheckKeepsMeaning(absl::StrCat("module { func @main", main, " }"),
                        {"fuse_ops", "flatten_rows"}, 1e-5);
  if (module == nullptr) return "(failed)";
  for (const auto& node : module->main()->nodes()) {
    if (node->kind == NodeKind::kCallFunction && call-- == 0) {
      return ToString(node->inputs[0].type());
    }
  }
  return "(no call)";
}

// A convolution on blocks of 4 channels with what is fused to it.
std::string Blocked(absl::string_view kernel, absl::string_view attrs) {
  return TakenBy(absl::StrCat(
      "(%x: f32[2, 3, 5, 6, 4]) -> (%y) {\n", "  %w = const f32[2, 3, ", kernel,
      ", 4, 4] random(1)\n", "  %b = const f32[1, 2, 1, 1, 4] random(2)\n",
      "  %c = conv2d(%x, %w) {", attrs,
      " data_layout=\"NCHW4c\","
      " kernel_layout=\"OIHW4i4o\"}\n",
      "  %s = add(%c, %b)\n  %y = relu(%s)\n}"));
}

TEST(FlattenRowsTest, ConvolutionsOfPointsInBlocks) {
  EXPECT_EQ(Blocked("1, 1", ""), "f32[2, 3, 1, 30, 4]");
  EXPECT_EQ(Blocked("1, 1", "strides=[2, 2],"), "f32[2, 3, 5, 6, 4]");
  EXPECT_EQ(Blocked("1, 1", "pads=[0, 1, 0, 1],"), "f32[2, 3, 5, 6, 4]");
  EXPECT_EQ(Blocked("3, 1", ""), "f32[2, 3, 5, 6, 4]");
}

TEST(FlattenRowsTest, ResidualsOfBlocksAreFlattenedToo) {
  EXPECT_EQ(
      TakenBy(R"((%x: f32[1, 2, 3, 5, 8], %r: f32[1, 2, 3, 5, 8]) -> (%y) {
    %w = const f32[2, 2, 1, 1, 8, 8] random(1)
    %c = conv2d(%x, %w) {data_layout="NCHW8c", kernel_layout="OIHW8i8o"}
    %y = add(%c, %r)
  })"),
      "f32[1, 2, 1, 15, 8]");
}

TEST(FlattenRowsTest, GroupsInPlainLayout) {
  EXPECT_EQ(TakenBy(R"((%x: f32[1, 6, 4, 5]) -> (%y) {
    %w = const f32[9, 2, 1, 1] random(1)
    %y = conv2d(%x, %w) {groups=3}
  })"),
            "f32[1, 6, 1, 20]");
}

TEST(FlattenRowsTest, ProductsByOneMatrix) {
  EXPECT_EQ(TakenBy(R"((%x: f32[2, 3, 4, 5]) -> (%y) {
    %w = const f32[5, 7] random(1)
    %m = matmul(%x, %w)
    %y = relu(%m)
  })"),
            "f32[1, 1, 24, 5]");
  EXPECT_EQ(TakenBy(R"((%x: f32[2, 3, 5], %w: f32[2, 5, 7]) -> (%y) {
    %y = matmul(%x, %w)
  })"),
            "f32[2, 3, 5]");
}

TEST(FlattenRowsTest, RowsWhoseNumberIsNotKnown) {
  EXPECT_EQ(TakenBy(R"((%x: f32[n, 2, h, w, 8], %r: f32[n, 2, h, w, 8])
      -> (%y) {
    %k = const f32[2, 2, 1, 1, 8, 8] random(1)
    %c = conv2d(%x, %k) {data_layout="NCHW8c", kernel_layout="OIHW8i8o"}
    %y = add(%c, %r)
  })"),
            "f32[n, 2, 1, h * w, 8]");
  EXPECT_EQ(TakenBy(R"((%x: f32[batch, sequence, 5]) -> (%y) {
    %w = const f32[5, 7] random(1)
    %m = matmul(%x, %w)
    %y = relu(%m)
  })"),
            "f32[1, batch * sequence, 5]");
  // One dimension of rows is one already.
  EXPECT_EQ(TakenBy(R"((%x: f32[1, rows, 5]) -> (%y) {
    %w = const f32[5, 7] random(1)
    %y = matmul(%x, %w)
  })"),
            "f32[1, rows, 5]");
}

// The kernel has a symbol of its own, of another name than its others: its text
// would mean another kernel if two had the same.
TEST(FlattenRowsTest, SymbolsOfTheSameName) {
  const auto module = CheckKeepsMeaning(
      R"(module { func @main(%x: f32[batch, n, rows], %w: f32[rows, 7])
      -> (%y) { %y = matmul(%x, %w) } })",
      {"fuse_ops", "flatten_rows"}, 1e-5);
  ASSERT_NE(module, nullptr);
  int kernels = 0;
  for (const auto& function : module->functions()) {
    if (!function->attrs.Has("primitive")) continue;
    ++kernels;
    EXPECT_EQ(ToString(function->inputs[0]->outputs[0]),
              "f32[1, rows_1, rows]");
  }
  EXPECT_EQ(kernels, 1);
}

// An input that only tells the kernel what its symbols are stays as it is.
TEST(FlattenRowsTest, InputsThatAreNotRead) {
  EXPECT_EQ(TakenBy(R"((%a: f32[n, 1, h, w]) -> (%y) {
    %x = avg_pool2d(%a) {kernel=[2, 1], strides=[2, 1]}
    %k = const f32[3, 1, 1, 1] random(1)
    %y = conv2d(%x, %k)
  })",
                    1),
            "f32[n, 1, 1, w * (h / 2)]");
}

// An element's place, where it decides, would be another on one long row.
TEST(FlattenRowsTest, PlacesThatCount) {
  EXPECT_EQ(TakenBy(R"((%x: f32[2, 3, 5]) -> (%y) {
    %w = const f32[5, 3] random(1)
    %m = matmul(%x, %w)
    %y = trilu(%m)
  })",
                    1),
            "f32[2, 3, 3]");
}

// All that say that they are elementwise compute the same on one long row.
TEST(FlattenRowsTest, ElementwiseOperators) {
  Function scratch("scratch");
  const Value x{scratch.AddInput(
      "x", {DataType::Float(32), MakeShape({2, 3, 3}), false})};
  int tried = 0;
  for (const OpDef* op : StandardOps().All()) {
    if (op->fusion != FusionKind::kElementwise ||
        !scratch.AddOp(op->name, "y", {x}, {}).ok()) {
      continue;
    }
    ++tried;
    SCOPED_TRACE(op->name);
    EXPECT_EQ(TakenBy(absl::StrCat("(%x: f32[2, 3, 5]) -> (%y) {\n",
                                   "  %w = const f32[5, 3] random(1)\n",
                                   "  %m = matmul(%x, %w)\n  %y = ", op->name,
                                   "(%m)\n}")),
              "f32[1, 6, 5]");
  }
  EXPECT_GT(tried, 20);
}

// Scales along a dimension of rows, which may be as many as the rows for all
// that is known of these.
TEST(FlattenRowsTest, OperandsAlongOneDimensionOfRows) {
  EXPECT_EQ(TakenBy(R"((%x: f32[batch, 3, 5]) -> (%y) {
    %w = const f32[5, 7] random(1)
    %s = const f32[3] {0.1, 0.2, 0.3}
    %m = matmul(%x, %w)
    %y = quantize(%m, %s) {dtype=i8, axis=1}
  })"),
            "f32[batch, 3, 5]");
  EXPECT_EQ(TakenBy(R"((%x: f32[batch, 3, 5], %p: f32[3]) -> (%y) {
    %w = const f32[5, 7] random(1)
    %m = matmul(%x, %w)
    %y = batch_norm(%m, %p, %p, %p, %p)
  })"),
            "f32[batch, 3, 5]");
}

}  // namespace
}  // namespace ingot::relay
