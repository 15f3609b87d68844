// Each pass on small modules: what it does, and that it keeps their meaning.
#include <string>

#include "absl/strings/str_cat.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/pass.h"
#include "compiler/relay/passes/test_support.h"
#include "compiler/relay/printer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::relay {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

// ------------------------------------------------------------------- manager

TEST(RunPassesTest, KnowsItsPasses) {
  for (int level : {0, 1, 2, 3}) {
    for (const std::string& name : DefaultPasses(level)) {
      EXPECT_NE(FindPass(AllPasses(), name), nullptr) << name;
    }
  }
  auto module = ParseForTest(Main("(%x: f32[2]) -> (%x) {}"));
  PassContext context = TestContext();
  const absl::Status status = RunPasses({"nothing"}, module.get(), &context);
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("fuse_ops"));
}

TEST(RunPassesTest, TellsOfEachPass) {
  auto module = ParseForTest(
      Main("(%x: f32[2]) -> (%y) { %y = relu(%x) %dead = neg(%x) }"));
  PassContext context = TestContext();
  std::vector<std::string> seen;
  PassOptions options;
  options.after = [&](const PassEvent& event) {
    seen.push_back(absl::StrCat(event.index, event.pass.name, event.changed));
    return absl::OkStatus();
  };
  ASSERT_TRUE(RunPasses({"eliminate_dead", "eliminate_dead"}, module.get(),
                        &context, options)
                  .ok());
  EXPECT_THAT(seen, ElementsAre("1eliminate_dead1", "2eliminate_dead0"));
}

// ----------------------------------------------------------------- the passes

TEST(EliminateCommonTest, KeepsTheFirst) {
  const auto ops = OpsAfter(Main(R"((%x: f32[2, 3]) -> (%c, %d) {
    %k = const f32[] {2}
    %l = const f32[] {2}
    %a = mul(%x, %k)
    %b = mul(%x, %l)
    %c = add(%a, %b)
    %d = clip(%x) {min=0.0}
    %e = clip(%x) {min=1.0}
    %f = add(%d, %e)
  })"),
                            {"eliminate_common"});
  EXPECT_THAT(ops, ElementsAre("mul", "add", "clip"));
}

TEST(FoldConstantsTest, ComputesWhatIsKnown) {
  const auto module = CheckKeepsMeaning(Main(R"((%x: f32[2, 2]) -> (%y, %i) {
    %a = const f32[2, 3] {1, 2, 3, 4, 5, 6}
    %b = const f32[2] {10, -20}
    %t = transpose(%a) {axes=[1, 0]}
    %s = slice(%t) {starts=[1], ends=[3], axes=[0]}
    %sum = add(%s, %b)
    %e = exp(%sum)
    %y = add(%x, %e)
    %p = pad(%a) {pads=[0, 1, 1, 0]}
    %c = concat(%p, %p) {axis=1}
    %r = reduce_sum(%c) {axes=[0], keepdims=0}
    %i = cast(%r) {dtype=i64}
  })"),
                                        {"fold_constants"});
  ASSERT_NE(module, nullptr);
  EXPECT_THAT(OpsOf(*module->main()), ElementsAre("add"));
  EXPECT_THAT(Print(*module),
              HasSubstr("%i = const i64[8] {0, 5, 7, 9, 0, 5, 7, 9}"));
}

TEST(FoldConstantsTest, DoesNotBlowUp) {
  EXPECT_THAT(OpsAfter(Main(R"(() -> (%y) {
    %a = const f32[1] {1}
    %y = expand(%a) {shape=[1000, 1000]}
  })"),
                       {"fold_constants"}),
              ElementsAre("expand"));
}

// Products have a short cut, other sums of that size have none.
TEST(FoldConstantsTest, LargeProducts) {
  EXPECT_THAT(OpsAfter(Main(R"((%x: f32[300, 260]) -> (%y, %z) {
    %a = const f32[300, 280] random(1)
    %w = const f32[260, 280] random(2)
    %p = dense(%a, %w)
    %y = add(%x, %p)
    %z = reduce_sum(%a) {axes=[0], keepdims=0}
  })"),
                       {"fold_constants"}),
              ElementsAre("add", "reduce_sum"));
}

TEST(FoldConstantsTest, LayoutsOfAllKinds) {
  for (const char* layouts :
       {"src=\"OIHW\", dst=\"OIHW4i8o\"", "src=\"OIHW\", dst=\"OIHW8o\"",
        "src=\"OIHW\", dst=\"HWIO\"", "src=\"OIHW\", dst=\"IOHW2o3i\""}) {
    // The transform of an input, computed by the operator's definition, minus
    // that of a constant with the same elements.
    const std::string body = absl::StrCat(
        "(%x: f32[11, 6, 2, 3]) -> (%d) { %zero = const f32[] {0}"
        " %w = const f32[11, 6, 2, 3] random(3)"
        " %z = mul(%x, %zero) %xw = add(%z, %w)"
        " %a = layout_transform(%xw) {",
        layouts, "} %b = layout_transform(%w) {", layouts,
        "} %d = sub(%a, %b) }");
    EXPECT_THAT(OpsAfter(Main(body), {"fold_constants"}),
                ElementsAre("mul", "add", "layout_transform", "sub"));
  }
}

TEST(FoldBatchNormTest, IntoAConvolution) {
  const auto module = CheckKeepsMeaning(Main(R"((%x: f32[1, 3, 5, 5]) -> (%y) {
    %w = const f32[4, 3, 3, 3] random(1)
    %bias = const f32[4, 1, 1] random(2)
    %s = const f32[4] random(3)
    %b = const f32[4] random(4)
    %m = const f32[4] random(5)
    %v = const f32[4] {1, 0.5, 2, 0.25}
    %c = conv2d(%x, %w) {pads=[1, 1, 1, 1]}
    %cb = add(%c, %bias)
    %n = batch_norm(%cb, %s, %b, %m, %v)
    %y = relu(%n)
  })"),
                                        {"fold_batch_norm"});
  ASSERT_NE(module, nullptr);
  EXPECT_THAT(OpsOf(*module->main()), ElementsAre("conv2d", "add", "relu"));
}

TEST(FoldBatchNormTest, IntoOtherProducts) {
  EXPECT_THAT(OpsAfter(Main(R"((%x: f32[1, 4, 3, 3]) -> (%y) {
    %w = const f32[4, 3, 2, 2] random(1)
    %f = const f32[1, 6, 1, 1] random(2)
    %c = conv_transpose2d(%x, %w) {groups=2, strides=[2, 2]}
    %y = mul(%c, %f)
  })"),
                       {"fold_batch_norm"}),
              ElementsAre("conv_transpose2d"));
  EXPECT_THAT(OpsAfter(Main(R"((%x: f32[2, 3, 4]) -> (%y, %z) {
    %w = const f32[4, 5] random(1)
    %v = const f32[6, 4] random(2)
    %f = const f32[5] random(3)
    %g = const f32[6] random(4)
    %h = const f32[] {0.5}
    %a = matmul(%x, %w)
    %b = mul(%a, %f)
    %y = mul(%b, %h)
    %d = dense(%x, %v)
    %z = mul(%d, %g)
  })"),
                       {"fold_batch_norm"}),
              ElementsAre("matmul", "dense"));
}

TEST(FoldBatchNormTest, LeavesWhatOthersRead) {
  EXPECT_THAT(OpsAfter(Main(R"((%x: f32[1, 3, 4, 4]) -> (%y, %c) {
    %w = const f32[2, 3, 1, 1] random(1)
    %f = const f32[2, 1, 1] random(2)
    %row = const f32[4] random(3)
    %c = conv2d(%x, %w)
    %a = mul(%c, %f)
    %y = mul(%a, %row)
  })"),
                       {"fold_batch_norm"}),
              ElementsAre("conv2d", "mul", "mul"));
}

struct SimplifyCase {
  const char* body;
  std::vector<std::string> ops;
};

class SimplifyTest : public ::testing::TestWithParam<SimplifyCase> {};

TEST_P(SimplifyTest, KeepsMeaning) {
  EXPECT_EQ(OpsAfter(Main(GetParam().body), {"simplify"}), GetParam().ops);
}

INSTANTIATE_TEST_SUITE_P(
    All, SimplifyTest,
    ::testing::Values(
        SimplifyCase{"(%x: f32[2, 3]) -> (%y) { %o = const f32[3] {1, 1, 1} "
                     "%z = const f32[] {0} %a = mul(%o, %x) %b = add(%a, %z) "
                     "%c = sub(%b, %z) %y = div(%c, %o) }",
                     {}},
        SimplifyCase{"(%x: f32[3]) -> (%y) { %z = const f32[2, 1] {0, 0} "
                     "%y = add(%x, %z) }",
                     {"add"}},
        SimplifyCase{"(%x: f32[4]) -> (%y) { %a = const f32[4] {1, 2, 3, 4} "
                     "%b = const f32[] {4} %c = sub(%x, %a) %d = div(%c, %b) "
                     "%e = mul(%d, %b) %y = sub(%e, %a) }",
                     {"add"}},
        SimplifyCase{"(%x: f32[4]) -> (%y) { %a = const f32[] {2} "
                     "%b = const f32[] {-1} %c = pow(%x, %a) %d = exp(%c) "
                     "%y = pow(%d, %b) }",
                     {"mul", "exp", "reciprocal"}},
        // Neither a scale nor what is rounded is divided inexactly.
        SimplifyCase{"(%x: f32[]) -> (%y) { %c = const f32[] {255} "
                     "%y = div(%x, %c) }",
                     {"div"}},
        SimplifyCase{"(%x: f32[4]) -> (%y) { %c = const f32[] {255} "
                     "%a = div(%x, %c) %y = round(%a) }",
                     {"div", "round"}},
        SimplifyCase{"(%x: f32[4]) -> (%y) { %c = const f32[] {1e15} "
                     "%a = mul(%x, %c) %y = mul(%a, %c) }",
                     {"mul"}},
        SimplifyCase{"(%x: f32[4]) -> (%y) { %c = const f32[] {1e30} "
                     "%a = mul(%x, %c) %y = mul(%a, %c) }",
                     {"mul", "mul"}},
        SimplifyCase{"(%x: f32[4]) -> (%y) { %c = const f32[] {1e-30} "
                     "%a = mul(%x, %c) %y = mul(%a, %c) }",
                     {"mul", "mul"}},
        SimplifyCase{"(%x: f32[4]) -> (%y) { %c = const f32[] {3e38} "
                     "%a = add(%x, %c) %y = add(%a, %c) }",
                     {"add", "add"}},
        SimplifyCase{"(%x: f32[2, 3, 4]) -> (%y) { "
                     "%a = transpose(%x) {axes=[2, 0, 1]} "
                     "%b = transpose(%a) {axes=[1, 2, 0]} "
                     "%y = transpose(%b) {axes=[1, 0, 2]} }",
                     {"transpose"}},
        SimplifyCase{"(%x: f32[2, 1, 4]) -> (%y) { "
                     "%y = transpose(%x) {axes=[1, 0, 2]} }",
                     {"reshape"}},
        SimplifyCase{"(%x: f32[n, 4, 1]) -> (%y) { %a = squeeze(%x) {axes=[2]} "
                     "%b = unsqueeze(%a) {axes=[0]} %c = identity(%b) "
                     "%y = reshape(%c) {shape=[n * 4]} }",
                     {"reshape"}},
        SimplifyCase{"(%x: f32[n, 4]) -> (%y) { %a = unsqueeze(%x) {axes=[0]} "
                     "%y = squeeze(%a) {axes=[0]} }",
                     {}},
        SimplifyCase{"(%x: f32[6, 4]) -> (%y) { "
                     "%a = slice(%x) {starts=[1, 0], ends=[5, 4], axes=[0, 1]} "
                     "%y = slice(%a) {starts=[2], ends=[4], axes=[0]} }",
                     {"slice"}},
        SimplifyCase{"(%x: f32[6]) -> (%y) { "
                     "%y = slice(%x) {starts=[5], ends=[-1], axes=[0], "
                     "steps=[-1]} }",
                     {"slice"}},
        SimplifyCase{"(%x: f32[2, 3]) -> (%y) { %a = concat(%x, %x) {axis=0} "
                     "%b = concat(%a, %x) {axis=0} %y = concat(%b) {axis=1} }",
                     {"concat"}},
        SimplifyCase{"(%x: f32[5]) -> (%y) { %a = clip(%x) {min=0.0} "
                     "%b = relu(%a) %s = const f32[] {0.5} "
                     "%c = minimum(%b, %s) %y = clip(%c) {min=0.25, max=6.0} }",
                     {"clip"}},
        SimplifyCase{"(%x: f32[5]) -> (%y) { %y = cast(%x) {dtype=f32} }", {}},
        SimplifyCase{"(%x: f32[1, 2, 5, 5]) -> (%y) { "
                     "%w = const f32[2, 2, 3, 3] random(1) "
                     "%a = pad(%x) {pads=[0, 0, 1, 0, 0, 0, 1, 2]} "
                     "%y = conv2d(%a, %w) {pads=[0, 1, 0, 1]} }",
                     {"conv2d"}},
        SimplifyCase{"(%x: f32[1, 2, 5, 5]) -> (%y) { %r = relu(%x) "
                     "%a = pad(%r) {pads=[0, 0, 1, 0, 0, 0, 1, 1]} "
                     "%y = max_pool2d(%a) {kernel=[3, 3], strides=[2, 2]} }",
                     {"relu", "max_pool2d"}},
        SimplifyCase{"(%x: f32[1, 2, 5, 5]) -> (%y) { "
                     "%a = pad(%x) {pads=[0, 0, 1, 0, 0, 0, 1, 1]} "
                     "%y = max_pool2d(%a) {kernel=[3, 3], strides=[2, 2]} }",
                     {"pad", "max_pool2d"}},
        SimplifyCase{"(%x: f32[1, 2, 5, 5]) -> (%y) { "
                     "%a = pad(%x) {pads=[0, 0, 1, 1, 0, 0, 1, 1]} "
                     "%y = avg_pool2d(%a) {kernel=[3, 3]} }",
                     {"avg_pool2d"}},
        SimplifyCase{"(%x: f32[1, 2, 5]) -> (%y) { "
                     "%w = const f32[2, 2, 1, 3] random(1) "
                     "%a = pad(%x) {pads=[0, 0, 2, 0, 0, 0]} "
                     "%b = unsqueeze(%a) {axes=[2]} %y = conv2d(%b, %w) }",
                     {"reshape", "conv2d"}},
        SimplifyCase{"(%x: f32[2, 3, 4]) -> (%y) { "
                     "%c = const f32[3] random(1) "
                     "%t = transpose(%x) {axes=[2, 0, 1]} %y = mul(%t, %c) }",
                     {"mul", "transpose"}},
        SimplifyCase{"(%x: f32[2, 3, 4, 4]) -> (%y) { "
                     "%y = reduce_mean(%x) {axes=[2, 3], keepdims=0} }",
                     {"global_avg_pool2d", "reshape"}},
        SimplifyCase{"(%x: f32[2, 3, 4, 4]) -> (%y) { "
                     "%y = max_pool2d(%x) {kernel=[4, 4], strides=[2, 2]} }",
                     {"global_max_pool2d"}},
        SimplifyCase{"(%x: f32[2, 3], %v: f32[4, 3]) -> (%y) { "
                     "%t = transpose(%v) {axes=[1, 0]} %y = matmul(%x, %t) }",
                     {"dense"}},
        SimplifyCase{"(%x: f32[2, 3, 8]) -> (%y) { "
                     "%two = const f32[] {2} %eps = const f32[] {1e-5} "
                     "%g = const f32[8] random(1) %b = const f32[8] random(2) "
                     "%m = reduce_mean(%x) {axes=[-1]} %d = sub(%x, %m) "
                     "%q = pow(%d, %two) %v = reduce_mean(%q) {axes=[-1]} "
                     "%e = add(%v, %eps) %s = sqrt(%e) %n = div(%d, %s) "
                     "%h = mul(%n, %g) %y = add(%h, %b) }",
                     {"layer_norm"}},
        SimplifyCase{"(%x: f32[2, 8]) -> (%y) { %one = const f32[] {1} "
                     "%r = const f32[] {1.41421356} %half = const f32[] {0.5} "
                     "%a = div(%x, %r) %b = erf(%a) %c = add(%b, %one) "
                     "%d = mul(%x, %c) %y = mul(%d, %half) }",
                     {"gelu"}}));

TEST(InferTypesTest, LearnsFromConstants) {
  auto module = ParseForTest(Main(R"((%x: f32[n, 4]) -> (%y) {
    %y = relu(%x) : f32[n, 4]
  })"));
  module->main()->inputs[0]->outputs[0].shape[0] = tir::MakeInt(7);
  ASSERT_TRUE(RunForTest({"infer_types"}, module.get()));
  EXPECT_THAT(Print(*module), HasSubstr("relu(%x) : f32[7, 4]"));
}

// Exporters write this for y = x, y[a:b, c:d] = u.
std::vector<std::string> OpsOfScatter(absl::string_view indices,
                                      absl::string_view reduction = "none") {
  return OpsAfter(
      Main(absl::StrCat("(%x: f32[3, 4, 2], %u: f32[2, 2, 2]) -> (%y) {",
                        " %i = const i64[2, 2, 2] {", indices,
                        "} %y = scatter_nd(%x, %i, %u) {reduction=\"",
                        reduction, "\"} }")),
      {"simplify"});
}

TEST(SimplifyTest, UpdatesOfABoxAreConcatenated) {
  // Rows 1 and 2 of columns 1 and 2.
  EXPECT_THAT(
      OpsOfScatter("1, 1, 1, 2, -1, 1, 2, -2"),
      ElementsAre("slice", "slice", "slice", "concat", "slice", "concat"));
  // The last column of a row, and the first of the next one.
  EXPECT_THAT(OpsOfScatter("1, 2, 1, 3, 2, 0, 2, 1"),
              ElementsAre("scatter_nd"));
  // Twice the same; another order.
  EXPECT_THAT(OpsOfScatter("1, 1, 1, 1, 2, 1, 2, 2"),
              ElementsAre("scatter_nd"));
  EXPECT_THAT(OpsOfScatter("1, 1, 2, 1, 1, 2, 2, 2"),
              ElementsAre("scatter_nd"));
  // A place that is not there is left out.
  EXPECT_THAT(OpsOfScatter("2, 1, 2, 2, 3, 1, 3, 2"),
              ElementsAre("scatter_nd"));
  EXPECT_THAT(OpsOfScatter("1, 1, 1, 2, 2, 1, 2, 2", "add"),
              ElementsAre("scatter_nd"));
}

TEST(SimplifyTest, GathersOfEqualStepsAreSlices) {
  const auto ops_of = [](absl::string_view type, absl::string_view indices) {
    return OpsAfter(
        Main(absl::StrCat("(%x: f32[2, 6]) -> (%y) { %i = const ", type, " {",
                          indices, "} %y = gather(%x, %i) {axis=-1} }")),
        {"simplify"});
  };
  EXPECT_THAT(ops_of("i32[]", "-1"), ElementsAre("slice", "reshape"));
  EXPECT_THAT(ops_of("i64[1, 2]", "1, 4"), ElementsAre("slice", "reshape"));
  EXPECT_THAT(ops_of("i64[3]", "1, 2, 3"), ElementsAre("slice"));
  EXPECT_THAT(ops_of("i64[6]", "0, 1, 2, 3, 4, 5"), ElementsAre());
  for (const char* others : {"3, 2, 1", "1, 1, 1", "1, 2, 4", "4, 5, 6"}) {
    EXPECT_THAT(ops_of("i64[3]", others), ElementsAre("gather"));
  }
}

// %t is what attention takes apart: [2, batch, 2 heads, 3 words, 2].
std::vector<std::string> OpsOfProjection(absl::string_view product,
                                         absl::string_view rest,
                                         absl::string_view outputs = "%y, %z") {
  return OpsAfter(
      Main(absl::StrCat("(%x: f32[n, 3, 5]) -> (", outputs, ") {", product,
                        " %b = const f32[8] random(2) %a = add(%b, %m)"
                        " %r = reshape(%a) {shape=[n, 3, 2, 2, 2]}"
                        " %t = transpose(%r) {axes=[2, 0, 3, 1, 4]}",
                        rest, "}")),
      {"simplify"});
}

TEST(SimplifyTest, PartsOfAProjectionAreProjections) {
  const std::string matmul =
      " %w = const f32[5, 8] random(1) %m = matmul(%x, %w)";
  const std::string halves =
      " %y = slice(%t) {axes=[0], starts=[0], ends=[1]}"
      " %z = slice(%t) {axes=[0], starts=[1], ends=[2]}";
  const auto is_apart =
      UnorderedElementsAre("matmul", "add", "reshape", "transpose", "matmul",
                           "add", "reshape", "transpose");
  EXPECT_THAT(OpsOfProjection(matmul, halves), is_apart);
  // Heads of what a matrix with its rows in columns gives.
  EXPECT_THAT(
      OpsOfProjection(" %w = const f32[8, 5] random(1) %m = dense(%x, %w)",
                      " %y = slice(%t) {axes=[0], starts=[1], ends=[2]}", "%y"),
      UnorderedElementsAre("dense", "add", "reshape", "transpose"));
  // Other readers need all of it.
  const auto stays = Contains("slice");
  EXPECT_THAT(OpsOfProjection(matmul, halves, "%y, %z, %t"), stays);
  EXPECT_THAT(OpsOfProjection(matmul, halves, "%y, %z, %m"), stays);
  // Overlapping parts would be computed twice; other axes are no columns.
  EXPECT_THAT(OpsOfProjection(matmul,
                              halves + " %v = slice(%t) {axes=[0], starts=[0], "
                                       "ends=[2]} %u = neg(%v)",
                              "%y, %z, %u"),
              stays);
  for (const char* axis : {"2", "3", "4"}) {
    EXPECT_THAT(OpsOfProjection(matmul,
                                absl::StrCat(" %y = slice(%t) {axes=[", axis,
                                             "], starts=[1], ends=[2]}"),
                                "%y"),
                stays)
        << axis;
  }
  // A matrix that is known only at run time; nothing turned.
  EXPECT_THAT(OpsOfProjection(" %k = slice(%x) {axes=[0], starts=[0], ends=[1]}"
                              " %v = reshape(%k) {shape=[3, 5]}"
                              " %w = transpose(%v) {axes=[1, 0]}"
                              " %c = concat(%w, %w, %w) {axis=1}"
                              " %e = slice(%c) {axes=[1], starts=[0], ends=[8]}"
                              " %m = matmul(%x, %e)",
                              halves),
              stays);
  EXPECT_THAT(
      OpsAfter(Main("(%x: f32[3, 5]) -> (%y) { %w = const f32[5, 8] random(1)"
                    " %m = matmul(%x, %w)"
                    " %y = slice(%m) {axes=[1], starts=[0], ends=[4]} }"),
               {"simplify"}),
      ElementsAre("matmul", "slice"));
}

// Only the middle of a dilated kernel is left on an image no larger than its
// steps, with as many zeros around as it still needs; where an element lies on
// the data once, or what is padded is not zero, the kernel stays.
TEST(SimplifyTest, TapsOfPaddingGo) {
  const struct {
    const char* attrs;
    const char* kernel;
  } kCases[] = {
      {"pads=[8, 8, 8, 8], dilations=[8, 8]", "[4, 3, 1, 1]"},
      {"pads=[8, 7, 8, 7], dilations=[8, 7]", "[4, 3, 1, 3]"},
      {"pads=[9, 0, 9, 0], dilations=[9, 1]", "[4, 3, 1, 3]"},
      {"pads=[7, 7, 7, 7], dilations=[7, 7]", "[4, 3, 3, 3]"},
      {"pads=[8, 8, 8, 8], dilations=[8, 8], pad_value=1", "[4, 3, 3, 3]"},
  };
  for (const auto& c : kCases) {
    const auto module = CheckKeepsMeaning(
        Main(absl::StrCat("(%x: f32[1, 3, 8, 8]) -> (%y) {\n",
                          "    %w = const f32[4, 3, 3, 3] random(1)\n",
                          "    %y = conv2d(%x, %w) {", c.attrs, "}\n  }")),
        {"simplify"});
    ASSERT_NE(module, nullptr) << c.attrs;
    EXPECT_THAT(Print(*module),
                ::testing::HasSubstr(absl::StrCat("const f32", c.kernel)))
        << c.attrs;
  }
}

// Kernels in blocks have other dimensions than their attributes count.
TEST(SimplifyTest, TapsOfBlockedKernelsStay) {
  const auto module = CheckKeepsMeaning(
      Main("(%x: f32[1, 2, 8, 8, 4]) -> (%y) {\n"
           "    %w = const f32[2, 1, 3, 3, 4] random(1)\n"
           "    %y = conv2d(%x, %w) {pads=[8, 8, 8, 8], dilations=[8, 8],"
           " groups=8, data_layout=\"NCHW4c\", kernel_layout=\"OIHW4o\"}\n  }"),
      {"simplify"});
  ASSERT_NE(module, nullptr);
  EXPECT_THAT(Print(*module), ::testing::HasSubstr("const f32[2, 1, 3, 3, 4]"));
}

TEST(SimplifyTest, DimensionsOfOneGoBeforeTransposes) {
  const auto text_after = [](absl::string_view body) {
    const auto module = CheckKeepsMeaning(
        Main(absl::StrCat("(%x: f32[2, 1, 3, n]) -> (%y) {", body, "}")),
        {"simplify"});
    return module == nullptr ? "" : Print(*module);
  };
  EXPECT_THAT(text_after(" %t = transpose(%x) {axes=[1, 3, 2, 0]}"
                         " %y = reshape(%t) {shape=[n, 3, 2]}"),
              AllOf(HasSubstr("reshape(%x) {shape=[2, 3, n]}"),
                    HasSubstr("{axes=[2, 1, 0]} : f32[n, 3, 2]")));
  // Dimensions that are joined, or put in, stay where they are.
  EXPECT_THAT(text_after(" %t = transpose(%x) {axes=[1, 3, 2, 0]}"
                         " %y = reshape(%t) {shape=[n, 6]}"),
              HasSubstr("transpose(%x)"));
  EXPECT_THAT(text_after(" %t = transpose(%x) {axes=[1, 3, 2, 0]}"
                         " %y = reshape(%t) {shape=[1, n, 3, 1, 2]}"),
              HasSubstr("transpose(%x)"));
}

}  // namespace
}  // namespace ingot::relay
