// Regions of several operators: fusion, layouts between them, buffers that are
// used again.

#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "backends/dnnl/region_test_support.h"
#include "compiler/relay/parser.h"
#include "compiler/relay/pattern.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/thread_pool.h"

namespace ingot::dnnl_backend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> Ops(const Graph& graph) {
  std::vector<std::string> ops;
  for (const Node& node : graph.nodes) ops.push_back(node.op);
  return ops;
}

// The post-ops of a node, as text: "+x relu".
std::string Posts(const Node& node) {
  std::string text;
  for (const PostOp& post : node.post_ops) {
    absl::StrAppend(
        &text, text.empty() ? "" : " ",
        post.add.empty() ? post.algorithm : absl::StrCat("+", post.add));
  }
  return text;
}

// A region that calls one composite, whose body is `body` on %x (and %r), %w
// and %b.
std::string Composite(const std::string& x, const std::string& w,
                      const std::string& b, const std::string& y,
                      const std::string& body) {
  return absl::Substitute(R"(
module {
  func @main(%x: $0, %r: $3) -> (%y) attrs {target="dnnl"} {
    %w = const $1 random(1)
    %b = const $2 random(2)
    %y = @body(%x, %w, %b, %r) : $3
  }
  func @body(%x: $0, %w: $1, %b: $2, %r: $3) -> (%z) attrs {composite="c"} {
$4
  }
})",
                          x, w, b, y, body);
}

TEST(DnnlRegion, FusesConvolutions) {
  const auto conv = [](const std::string& rest) {
    return Composite("f32[1, 16, 9, 9]", "f32[24, 16, 3, 3]",
                     "f32[1, 24, 1, 1]", "f32[1, 24, 9, 9]",
                     "%c = conv2d(%x, %w) {pads=[1, 1, 1, 1]}\n" + rest);
  };
  struct Case {
    const char* body;
    const char* posts;
    size_t operands;
  };
  for (const Case& c : {
           Case{"%z = add(%c, %b)", "", 3},
           Case{"%z = relu(%c)", "relu", 2},
           Case{"%d = add(%b, %c)\n%z = clip(%d) {max=6.0, min=0.0}", "clip",
                3},
           Case{"%d = add(%c, %b)\n%e = add(%d, %r)\n%z = relu(%e)", "+r relu",
                3},
           Case{"%e = add(%r, %c)\n%z = hard_swish(%e)", "+r hardswish", 2},
           Case{"%z = hard_sigmoid(%c) {alpha=0.3}", "linear clip", 2},
       }) {
    const Graph graph = ExpectRegionMeans(conv(c.body));
    ASSERT_THAT(Ops(graph), ElementsAre("convolution"));
    EXPECT_EQ(Posts(graph.nodes[0]), c.posts);
    EXPECT_EQ(graph.nodes[0].inputs.size(), c.operands);
  }
}

TEST(DnnlRegion, FusesProducts) {
  for (const char* product : {"dense", "matmul"}) {
    const bool dense = std::string(product) == "dense";
    for (const char* rest :
         {"%z = gelu(%c)", "%d = add(%c, %b)\n%z = gelu(%d)",
          "%d = add(%c, %b)\n%z = add(%r, %d)",
          "%d = add(%c, %b)\n%e = add(%d, %r)\n%z = relu(%e)"}) {
      const Graph graph = ExpectRegionMeans(Composite(
          "f32[2, 5, 12]", dense ? "f32[20, 12]" : "f32[12, 20]", "f32[20]",
          "f32[2, 5, 20]", absl::StrCat("%c = ", product, "(%x, %w)\n", rest)));
      ASSERT_THAT(Ops(graph), ElementsAre("inner_product"));
    }
  }
  const Graph graph = ExpectRegionMeans(
      Composite("f32[3, 5, 12]", "f32[3, 12, 20]", "f32[20]", "f32[3, 5, 20]",
                "%c = matmul(%x, %w)\n%d = add(%c, %b)\n%e = add(%d, %r)\n"
                "%z = tanh(%e)"));
  ASSERT_THAT(Ops(graph), ElementsAre("matmul"));
  EXPECT_EQ(Posts(graph.nodes[0]), "+r tanh");
  ExpectRegionMeans(Composite("f32[3, 5, 12]", "f32[3, 12, 20]", "f32[1]",
                              "f32[3, 5, 20]",
                              "%c = matmul(%x, %w)\n%z = mul(%c, %b)"));
}

TEST(DnnlRegion, ResidualBlocksAddInPlace) {
  // The operand that is added dies here, lives on, is an output, is what the
  // convolution reads, is an input.
  for (const char* rest : {"%y = relu(%c) : f32[1, 16, 6, 6]",
                           "%y = add(%c, %a)", "%y = mul(%c, %a)"}) {
    for (const char* added : {"%a", "%s", "%x"}) {
      ExpectRegionMeans(absl::Substitute(R"(
module {
  func @main(%x: f32[1, 16, 6, 6]) -> (%y, %s) {
    %w = const f32[16, 16, 3, 3] random(1)
    %b = const f32[16, 1, 1] random(2)
    %a = relu(%x)
    %s = conv2d(%a, %w) {pads=[1, 1, 1, 1]}
    %c = @fused(%s, %w, %b, $0) : f32[1, 16, 6, 6]
    $1
  }
  func @fused(%p: f32[1, 16, 6, 6], %w: f32[16, 16, 3, 3], %b: f32[16, 1, 1], %r: f32[1, 16, 6, 6]) -> (%z) {
    %c = conv2d(%p, %w) {pads=[1, 1, 1, 1]}
    %d = add(%c, %b)
    %e = add(%d, %r)
    %z = relu(%e)
  }
})",
                                         added, rest));
    }
  }
}

TEST(DnnlRegion, BlocksBetweenAndPlainOutside) {
  ExpectRegionMeans(R"(
module {
  func @main(%x: f32[1, 3, 20, 20]) -> (%p, %g, %t, %d, %s1, %s2) {
    %w1 = const f32[20, 3, 3, 3] random(1)
    %w2 = const f32[20, 1, 3, 3] random(2)
    %w3 = const f32[12, 20, 1, 1] random(3)
    %w4 = const f32[5, 12] random(4)
    %a = conv2d(%x, %w1) {strides=[2, 2]}
    %b = sigmoid(%a)
    %c = conv2d(%b, %w2) {groups=20, pads=[1, 1, 1, 1]}
    %e = add(%c, %b)
    %p = max_pool2d(%e) {kernel=[3, 3], strides=[2, 2]}
    %f = conv2d(%p, %w3)
    %g = softmax(%f) {axis=1}
    %h = global_avg_pool2d(%g)
    %k = flatten(%h)
    %d = dense(%k, %w4)
    %cat = concat(%e, %c) {axis=1}
    %t = transpose(%cat) {axes=[0, 2, 3, 1]}
    %s1 = slice(%cat) {axes=[1], ends=[12], starts=[7]}
    %s2 = slice(%c) {axes=[2], ends=[5], starts=[3]}
  }
})");
}

// Blocks times one number a channel, row and more, computed and constant.
TEST(DnnlRegion, BroadcastsOntoBlocks) {
  for (int channels : {16, 12}) {
    ExpectRegionMeans(absl::Substitute(R"(
module {
  func @main(%x: f32[2, $0, 9, 9]) -> (%y, %z) {
    %w = const f32[$0, $0, 1, 1] random(1)
    %k = const f32[1, $0, 1, 1] random(2)
    %r = const f32[9, 1] random(3)
    %o = const f32[2, 1, 1, 1] random(4)
    %c = conv2d(%x, %w)
    %g = global_avg_pool2d(%c)
    %s = conv2d(%g, %w)
    %h = sigmoid(%s)
    %m = mul(%c, %h)
    %a = add(%m, %k)
    %b = mul(%a, %r)
    %d = sub(%b, %o)
    %y = conv2d(%d, %w)
    %z = maximum(%d, %x)
  }
})",
                                       channels));
  }
}

// Convolutions whose padding is too wide for oneDNN's kernels read padded data.
TEST(DnnlRegion, WidePadding) {
  for (int channels : {12, 16, 3}) {
    ExpectRegionMeans(absl::Substitute(R"(
module {
  func @main(%x: f32[1, $0, 20, 20]) -> (%y, %t) {
    %w = const f32[$0, $0, 3, 3] random(1)
    %a = relu(%x)
    %c = conv2d(%a, %w) {dilations=[5, 5], pads=[5, 5, 5, 5]}
    %d = conv2d(%c, %w) {dilations=[4, 6], pads=[4, 6, 4, 6]}
    %e = sigmoid(%d)
    %f = conv2d(%e, %w) {dilations=[5, 5], pads=[6, 7, 4, 3]}
    %y = add(%f, %a)
    %t = transpose(%y) {axes=[0, 2, 3, 1]}
  }
})",
                                       channels));
  }
}

TEST(DnnlRegion, Attention) {
  ExpectRegionMeans(R"(
module {
  func @main(%x: f32[1, 10, 24]) -> (%y) {
    %wq = const f32[24, 72] random(1)
    %wo = const f32[24, 24] random(2)
    %scale = const f32[1] fill(0.35)
    %g = const f32[24] random(3)
    %n = layer_norm(%x, %g, %g)
    %qkv = matmul(%n, %wq)
    %r = reshape(%qkv) {shape=[1, 10, 3, 3, 8]}
    %t = transpose(%r) {axes=[2, 0, 3, 1, 4]}
    %q0 = slice(%t) {axes=[0], ends=[1], starts=[0]}
    %k0 = slice(%t) {axes=[0], ends=[2], starts=[1]}
    %v0 = slice(%t) {axes=[0], ends=[3], starts=[2]}
    %q = reshape(%q0) {shape=[1, 3, 10, 8]}
    %k = reshape(%k0) {shape=[1, 3, 10, 8]}
    %v = squeeze(%v0) {axes=[0]}
    %kt = transpose(%k) {axes=[0, 1, 3, 2]}
    %s = matmul(%q, %kt)
    %ss = mul(%s, %scale)
    %p = softmax(%ss) {axis=3}
    %o = matmul(%p, %v)
    %ot = transpose(%o) {axes=[0, 2, 1, 3]}
    %or = reshape(%ot) {shape=[1, 10, 24]}
    %z = matmul(%or, %wo)
    %y = add(%z, %x)
  }
})");
}

TEST(DnnlRegion, OutputsOfAllKinds) {
  ExpectRegionMeans(R"(
module {
  func @main(%x: f32[2, 12]) -> (%a, %a, %x, %r, %w, %b) {
    %w = const f32[12, 2] random(1)
    %a = relu(%x)
    %r = reshape(%a) {shape=[4, 6]}
    %b = exp(%a)
  }
})");
}

TEST(DnnlRegion, OneNodePerLineWithKeys) {
  auto region = LoadRegionText(R"(
module {
  func @main(%x: f32[1, 4, 5, 5]) -> (%y) {
    %w = const f32[8, 4, 1, 1] random(1)
    %y = conv2d(%x, %w)
  }
})");
  ASSERT_TRUE(region.ok()) << region.status();
  EXPECT_EQ(region->json, R"({"format": "ingot-dnnl", "version": 1,
 "symbol": "region",
 "inputs": ["x"],
 "outputs": ["y"],
 "tensors": {
  "w": {"shape": [8, 4, 1, 1], "constant": "w"},
  "x": {"shape": [1, 4, 5, 5]},
  "y": {"shape": [1, 8, 5, 5]}
 },
 "nodes": [
  {"name": "y", "op": "convolution", "inputs": ["x", "w"], "output": "y", "attributes": {"dilations": [1, 1], "groups": 1, "pads": [0, 0, 0, 0], "strides": [1, 1]}}
 ]}
)");
}

TEST(DnnlRegion, RunsFromSeveralThreadsWithTheirPools) {
  auto region = LoadRegionText(R"(
module {
  func @main(%x: f32[2, 16, 24, 24]) -> (%y) {
    %w = const f32[32, 16, 3, 3] random(1)
    %a = conv2d(%x, %w)
    %y = tanh(%a)
  }
})");
  ASSERT_TRUE(region.ok()) << region.status();
  const relay::Function& main = *region->module->main();
  const std::vector<Tensor> inputs = RandomInputs(main, -1, 1);
  auto expected = CallRegion(region->function, main, inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      ThreadPool pool(1 + t % 2);
      const ScopedThreadPool scoped(&pool);
      for (int i = 0; i < 20; ++i) {
        auto got = CallRegion(region->function, main, inputs);
        ASSERT_TRUE(got.ok()) << got.status();
        for (int64_t k = 0; k < (*got)[0].NumElements(); ++k) {
          ASSERT_NEAR((*got)[0].data<float>()[k],
                      (*expected)[0].data<float>()[k], 1e-4);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(DnnlRegion, ChecksItsArguments) {
  auto region = LoadRegionText(R"(
module {
  func @main(%x: f32[2, 3]) -> (%y) {
    %y = relu(%x)
  }
})");
  ASSERT_TRUE(region.ok()) << region.status();
  Tensor x = *Tensor::Empty(DataType::Float(32), {2, 3});
  Tensor wrong = *Tensor::Empty(DataType::Float(32), {3, 2});
  Tensor ints = *Tensor::Empty(DataType::Int(32), {2, 3});
  const auto error = [&](const std::vector<DLTensor*>& args) {
    return std::string(region->function.Call(args).message());
  };
  EXPECT_THAT(error({x.dl()}), HasSubstr("region takes 2 arguments, not 1"));
  EXPECT_THAT(error({wrong.dl(), x.dl()}),
              HasSubstr("argument 0 must be a dense CPU tensor f32[2, 3]"));
  EXPECT_THAT(error({x.dl(), ints.dl()}), HasSubstr("argument 1 must be"));
  EXPECT_EQ(error({x.dl(), wrong.dl()}).empty(), false);
}

// The name of the first pattern that takes the last operator of main, and how
// many operators it takes.
std::string Matching(const std::string& text) {
  auto module = relay::ReadModule(
      absl::StrCat("module { func @main(%x: f32[1, 8, 4, 4], %r: f32[1, 8, 4, "
                   "4], %m: f32[2, 5, 6]) -> (%y) {\n"
                   "%w = const f32[8, 8, 1, 1] random(1)\n"
                   "%b = const f32[8, 1, 1] random(2)\n"
                   "%s = const f32[1] fill(0.5)\n"
                   "%v = const f32[6, 7] random(3)\n"
                   "%u = const f32[7] random(4)\n",
                   text, "\n} }"));
  if (!module.ok()) return std::string(module.status().message());
  const relay::Function& main = *(*module)->main();
  relay::Node* root = main.outputs[0].node;
  for (const CompositePattern& pattern : DnnlKind().patterns) {
    const std::vector<relay::Node*> nodes =
        relay::Match(pattern.pattern, root, main.Users(), main.outputs);
    if (!nodes.empty() && pattern.check(*ParseTarget("dnnl"), nodes).ok()) {
      return absl::StrCat(pattern.name, " ", nodes.size());
    }
  }
  return "";
}

TEST(DnnlRegion, PatternsTakeWhatFuses) {
  EXPECT_EQ(Matching("%c = conv2d(%x, %w)\n%y = relu(%c)"), "conv 2");
  EXPECT_EQ(Matching("%c = conv2d(%x, %w)\n%d = add(%c, %b)\n%y = clip(%d) "
                     "{max=6.0, min=0.0}"),
            "conv_sum 3");
  EXPECT_EQ(Matching("%c = conv2d(%x, %w)\n%d = add(%c, %b)\n%e = add(%r, "
                     "%d)\n%y = relu(%e)"),
            "conv_sum 4");
  EXPECT_EQ(Matching("%c = conv2d(%x, %w)\n%d = add(%c, %b)\n%y = mul(%d, %s)"),
            "conv_scaled 3");
  EXPECT_EQ(Matching("%c = matmul(%m, %v)\n%d = add(%c, %u)\n%y = gelu(%d)"),
            "product_sum 3");
  EXPECT_EQ(Matching("%t = transpose(%m) {axes=[0, 2, 1]}\n"
                     "%c = matmul(%m, %t)\n%y = mul(%c, %s)"),
            "product_scaled 2");
  EXPECT_EQ(Matching("%t = transpose(%m) {axes=[0, 2, 1]}\n"
                     "%y = matmul(%m, %t)"),
            "product 1");
  EXPECT_EQ(Matching("%a = mul(%x, %r)\n%y = relu(%a)"), "binary_activation 2");
  // A factor a channel is no post-op, and neither is a mean.
  EXPECT_THAT(Matching("%c = conv2d(%x, %w)\n%y = mul(%c, %b)"), IsEmpty());
  EXPECT_THAT(Matching("%c = conv2d(%x, %w)\n%y = global_avg_pool2d(%c)"),
              IsEmpty());
  EXPECT_THAT(Matching("%c = conv2d(%x, %w)\n%y = mul(%c, %c)"), IsEmpty());
}

}  // namespace
}  // namespace ingot::dnnl_backend
