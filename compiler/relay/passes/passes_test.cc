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

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string Main(absl::string_view body) {
  return absl::StrCat("module { func @main", body, " }");
}

std::vector<std::string> OpsOf(const Function& function) {
  std::vector<std::string> ops;
  for (const auto& node : function.nodes()) {
    if (node->kind == NodeKind::kOp) ops.push_back(node->op->name);
  }
  return ops;
}

// The operators of main after `passes`, which must keep its meaning.
std::vector<std::string> OpsAfter(absl::string_view text,
                                  const std::vector<std::string>& passes,
                                  double tolerance = 1e-5) {
  const auto module = CheckKeepsMeaning(text, passes, tolerance);
  return module == nullptr ? std::vector<std::string>{"(failed)"}
                           : OpsOf(*module->main());
}

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

// ---------------------------------------------------------------- block_layout

TEST(BlockLayoutTest, ChainsStayInBlocks) {
  const auto module = CheckKeepsMeaning(Main(R"((%x: f32[n, 3, 9, 9]) -> (%y) {
    %w0 = const f32[16, 3, 3, 3] random(1)
    %w1 = const f32[16, 1, 3, 3] random(2)
    %w2 = const f32[24, 16, 1, 1] random(3)
    %w3 = const f32[24, 24, 3, 3] random(4)
    %b = const f32[16, 1, 1] random(5)
    %c0 = conv2d(%x, %w0) {strides=[2, 2], pads=[1, 1, 1, 1]}
    %a0 = add(%c0, %b)
    %r0 = relu(%a0)
    %c1 = conv2d(%r0, %w1) {groups=16, pads=[1, 1, 1, 1]}
    %r1 = clip(%c1) {min=0.0, max=6.0}
    %c2 = conv2d(%r1, %w2)
    %c3 = conv2d(%c2, %w3) {pads=[1, 1, 1, 1]}
    %s = add(%c3, %c2)
    %p = max_pool2d(%s) {kernel=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]}
    %g = global_avg_pool2d(%p)
    %y = reshape(%g) {shape=[n, 24]}
  })"),
                                        {"block_layout", "simplify"});
  ASSERT_NE(module, nullptr);
  EXPECT_THAT(
      OpsOf(*module->main()),
      ElementsAre("conv2d", "add", "relu", "conv2d", "clip", "conv2d", "conv2d",
                  "add", "max_pool2d", "global_avg_pool2d", "reshape"));
  EXPECT_THAT(Print(*module), HasSubstr("kernel_layout=\"OIHW8o\""));
  EXPECT_THAT(Print(*module), HasSubstr("kernel_layout=\"OIHW8i8o\""));
}

TEST(BlockLayoutTest, FillsUpOddChannels) {
  const auto module =
      CheckKeepsMeaning(Main(R"((%x: f32[1, 10, 5, 5]) -> (%y, %z) {
    %w0 = const f32[12, 10, 3, 3] random(1)
    %w1 = const f32[12, 1, 3, 3] random(2)
    %w2 = const f32[5, 12, 1, 1] random(3)
    %c0 = conv2d(%x, %w0)
    %s = sigmoid(%c0)
    %c1 = conv2d(%s, %w1) {groups=12, pads=[1, 1, 1, 1]}
    %l = log(%s)
    %m = add(%c1, %l)
    %y = conv2d(%m, %w2)
    %z = softmax(%s) {axis=1}
  })"),
                        {"block_layout"});
  ASSERT_NE(module, nullptr);
  // log of what fills up would be -inf, so it runs on plain data.
  EXPECT_THAT(Print(*module), Not(HasSubstr("log(%s)  : f32[1, 2")));
  EXPECT_EQ(CountOps(*module, "conv2d"), 3);
}

TEST(BlockLayoutTest, OperandsOfAllShapes) {
  const auto module =
      CheckKeepsMeaning(Main(R"((%x: f32[2, 8, 4, 4], %v: f32[2, 8, 4, 4],
                                %r: f32[4], %one: f32[1, 1, 4, 4]) -> (%y) {
    %w = const f32[16, 8, 1, 1] random(1)
    %k = const f32[8, 8, 1, 1] random(2)
    %slope = const f32[8, 1, 1] random(3)
    %scale = const f32[1, 8, 1, 1] random(4)
    %num = const f32[] {0.5}
    %c = conv2d(%x, %k)
    %a = prelu(%c, %slope)
    %b = mul(%scale, %a)
    %d = add(%b, %v)
    %e = mul(%d, %r)
    %f = sub(%e, %one)
    %g = mul(%f, %num)
    %pool = global_avg_pool2d(%g)
    %se = conv2d(%pool, %k)
    %gate = sigmoid(%se)
    %gated = mul(%gate, %g)
    %cat = concat(%gated, %c, %v) {axis=1}
    %cut = slice(%cat) {axes=[1, 2], starts=[8, 1], ends=[24, 4]}
    %pad = pad(%cut) {pads=[0, 0, 1, 0, 0, 0, 0, 1]}
    %up = resize(%pad) {sizes=[2, 16, 8, 10], mode="nearest"}
    %t = transpose(%w) {axes=[1, 0, 2, 3]}
    %y = conv2d(%up, %t)
  })"),
                        {"fold_constants", "block_layout", "simplify"});
  ASSERT_NE(module, nullptr);
  // x, v, and y again.
  EXPECT_EQ(CountOps(*module, "layout_transform"), 3);
}

TEST(BlockLayoutTest, OneDimension) {
  const auto module = CheckKeepsMeaning(Main(R"((%x: f32[1, 8, 11]) -> (%y) {
    %w = const f32[8, 8, 3] random(1)
    %b = const f32[8, 1] random(2)
    %c = conv1d(%x, %w) {pads=[1, 1]}
    %a = add(%c, %b)
    %r = relu(%a)
    %d = conv1d(%r, %w) {dilations=[2]}
    %p = max_pool1d(%d) {kernel=[2], strides=[2]}
    %e = mul(%p, %b)
    %y = concat(%e, %e) {axis=2}
  })"),
                                        {"block_layout", "simplify"});
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(CountOps(*module, "layout_transform"), 2);
  EXPECT_EQ(CountOps(*module, "conv1d"), 0);
}

TEST(BlockLayoutTest, GroupsByWholeBlocksOnly) {
  EXPECT_THAT(OpsAfter(Main(R"((%x: f32[1, 16, 4, 4]) -> (%y) {
    %w = const f32[16, 4, 3, 3] random(1)
    %y = conv2d(%x, %w) {groups=4}
  })"),
                       {"block_layout"}),
              ElementsAre("conv2d"));
  EXPECT_THAT(OpsAfter(Main(R"((%x: f32[1, 16, 4, 4]) -> (%y) {
    %w = const f32[16, 8, 3, 3] random(1)
    %y = conv2d(%x, %w) {groups=2}
  })"),
                       {"block_layout"}),
              ElementsAre("layout_transform", "conv2d", "layout_transform"));
}

TEST(BlockLayoutTest, CutsInABlockWhatOneConvolutionGives) {
  const auto cut = [](absl::string_view before) {
    const auto module =
        CheckKeepsMeaning(Main(absl::StrCat(R"((%x: f32[1, 8, 4, 4]) -> (%y) {
          %w = const f32[16, 8, 1, 1] random(1)
          %v = const f32[8, 12, 1, 1] random(2)
          %c = conv2d(%x, %w) )",
                                            before, R"(
          %s = slice(%d) {axes=[1], starts=[0], ends=[12]}
          %r = relu(%s)
          %y = conv2d(%r, %v)
        })")),
                          {"block_layout", "simplify"});
    return module == nullptr ? -1 : CountOps(*module, "layout_transform");
  };
  EXPECT_EQ(cut("%d = pad(%c) {pads=[0, 0, 1, 1, 0, 0, 0, 0]}"), 2);
  // The part that is cut off may be infinite here where nothing else is.
  EXPECT_EQ(cut("%d = exp(%c)"), 4);
  EXPECT_EQ(cut("%d = max_pool2d(%c) {kernel=[2, 2]}"), 4);
}

// ---------------------------------------------------------------- pack_weights

TEST(PackWeightsTest, Products) {
  const auto module =
      CheckKeepsMeaning(Main(R"((%x: f32[2, 3, 10]) -> (%y, %z, %u) {
    %w = const f32[10, 37] random(1)
    %v = const f32[5, 10] random(2)
    %y = matmul(%x, %w)
    %z = dense(%x, %v)
    %u = matmul(%x, %w)
  })"),
                        {"pack_weights"});
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(CountOps(*module, "dense_packed"), 3);
  EXPECT_EQ(module->main()->nodes().size(), 1 + 2 + 3u);
}

// The panels in `text` after pack_weights, as the types of constants of four
// dimensions.
std::vector<std::string> PanelsOfSteps(absl::string_view text) {
  std::vector<std::string> panels;
  const auto module = CheckKeepsMeaning(Main(text), {"pack_weights"});
  if (module == nullptr) return panels;
  for (const auto& node : module->main()->nodes()) {
    if (node->kind != NodeKind::kConstant) continue;
    const TensorType& type = node->outputs[0];
    if (type.shape.size() == 4) panels.push_back(ToString(type));
  }
  return panels;
}

TEST(PackWeightsTest, RecurrentSteps) {
  // Vectors of 8 lanes: all of a gate in one panel.
  EXPECT_THAT(
      PanelsOfSteps(R"((%x: f32[3, 2, 96], %h: f32[2, 24]) -> (%y#0, %z#2) {
        %w = const f32[24, 96] random(1)
        %y = lstm(%x, %w, %h, _, %h)
        %z = lstm(%x, %w, %h, _, %h)
      })"),
      ElementsAre("f32[4, 24, 3, 8]"));
  // Eight accumulators at most.
  EXPECT_THAT(PanelsOfSteps(R"((%x: f32[2, 1, 80], %h: f32[1, 80]) -> (%y#1) {
        %w = const f32[80, 80] random(1)
        %y = rnn(%x, %w, %h)
      })"),
              ElementsAre("f32[2, 80, 5, 8]"));
  for (const char* order : {"0", "1"}) {
    EXPECT_THAT(
        PanelsOfSteps(absl::StrCat(R"((%x: f32[3, 2, 48], %h: f32[2, 16],
                                        %b: f32[16]) -> (%y#0, %y#1) {
        %w = const f32[16, 48] random(1)
        %y = gru(%x, %w, %h, _, %b) {linear_before_reset=)",
                                   order, "}}")),
        ElementsAre("f32[3, 16, 2, 8]"));
  }
  // No whole vectors, or only one.
  EXPECT_THAT(PanelsOfSteps(R"((%x: f32[2, 1, 20], %h: f32[1, 20]) -> (%y#1) {
        %w = const f32[20, 20] random(1)
        %y = rnn(%x, %w, %h)
      })"),
              IsEmpty());
  EXPECT_THAT(PanelsOfSteps(R"((%x: f32[2, 1, 8], %h: f32[1, 8]) -> (%y#1) {
        %w = const f32[8, 8] random(1)
        %y = rnn(%x, %w, %h)
      })"),
              IsEmpty());
}

}  // namespace
}  // namespace ingot::relay
