// Tests which operators end in one kernel, and that kernels mean the same.
#include <string>

#include "absl/strings/str_cat.h"
#include "compiler/relay/op.h"
#include "compiler/relay/passes/test_support.h"
#include "compiler/relay/printer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::relay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The functions that main calls and the operators left in it, in order.
std::vector<std::string> CallsAfterFusion(absl::string_view body,
                                          const char* passes = "fuse_ops") {
  const auto module = CheckKeepsMeaning(
      absl::StrCat("module { func @main", body, " }"), {passes}, 1e-5);
  if (module == nullptr) return {"(failed)"};
  std::vector<std::string> calls;
  for (const auto& node : module->main()->nodes()) {
    if (node->kind == NodeKind::kCallFunction) calls.push_back(node->callee);
    if (node->kind == NodeKind::kOp) calls.push_back(node->op->name);
  }
  return calls;
}

TEST(FuseOpsTest, ConvolutionTakesWhatFollows) {
  EXPECT_THAT(CallsAfterFusion(R"((%x: f32[1, 3, 6, 6]) -> (%y) {
    %w = const f32[4, 3, 3, 3] random(1)
    %b = const f32[4, 1, 1] random(2)
    %c = conv2d(%x, %w)
    %a = add(%c, %b)
    %y = relu(%a)
  })"),
              ElementsAre("fused_conv2d_add_relu"));
}

TEST(FuseOpsTest, ResidualsJoinTheFirstConvolution) {
  EXPECT_THAT(CallsAfterFusion(R"((%x: f32[1, 4, 6, 6]) -> (%y) {
    %w = const f32[4, 4, 1, 1] random(1)
    %v = const f32[4, 4, 1, 1] random(2)
    %c = conv2d(%x, %w)
    %r = relu(%c)
    %d = conv2d(%r, %v)
    %s = add(%d, %r)
    %y = relu(%s)
  })"),
              ElementsAre("fused_conv2d_relu", "fused_conv2d_add_relu"));
}

TEST(FuseOpsTest, ResampledRowsAreInMemoryBeforeTheyAreReordered) {
  EXPECT_THAT(CallsAfterFusion(R"((%x: f32[1, 1, 2, 2, 4]) -> (%y, %z) {
    %r = resize(%x) {mode="linear", sizes=[1, 1, 4, 4, 4]}
    %y = layout_transform(%r) {dst="NCHW", src="NCHW4c"}
    %s = resize(%x) {mode="linear", sizes=[1, 1, 4, 6, 4]}
    %z = slice(%s) {axes=[2], ends=[2], starts=[0]}
  })"),
              ElementsAre("resize", "layout_transform", "fused_resize_slice"));
}

TEST(FuseOpsTest, BytesOfUnknownExtentsAreReadAsBytes) {
  EXPECT_THAT(
      CallsAfterFusion(R"((%a: u8[1, 4, h, 2], %b: u8[1, 4, k, 1]) -> (%y) {
    %s = const f32[] {0.5}
    %r = resize(%b) {sizes=[1, 4, k, 2]}
    %d = dequantize(%a, %s)
    %e = dequantize(%r, %s)
    %y = add(%d, %e)
  })"),
      ElementsAre("resize", "fused_dequantize_dequantize_add"));
}

TEST(FuseOpsTest, DiamondsAreOneStep) {
  EXPECT_THAT(CallsAfterFusion(R"((%x: f32[1, 4, 6, 6]) -> (%y) {
    %w = const f32[4, 4, 1, 1] random(1)
    %c = conv2d(%x, %w)
    %g = sigmoid(%c)
    %s = mul(%c, %g)
    %three = const f32[] {3}
    %t = add(%s, %three)
    %h = clip(%t) {min=0.0, max=6.0}
    %y = mul(%s, %h)
  })"),
              ElementsAre("fused_conv2d_sigmoid_mul_add_clip_mul"));
}

TEST(FuseOpsTest, OutputsAndOtherReadersEndAGroup) {
  EXPECT_THAT(CallsAfterFusion(R"((%x: f32[1, 4, 6, 6]) -> (%a, %y) {
    %w = const f32[4, 4, 1, 1] random(1)
    %c = conv2d(%x, %w)
    %a = relu(%c)
    %y = exp(%a)
  })"),
              ElementsAre("fused_conv2d_relu", "exp"));
}

TEST(FuseOpsTest, SmallOperandsAreNotComputedAgainAndAgain) {
  EXPECT_THAT(CallsAfterFusion(R"((%x: f32[1, 4, 6, 6]) -> (%y) {
    %g = global_avg_pool2d(%x)
    %s = sigmoid(%g)
    %t = mul(%x, %s)
    %y = relu(%t)
  })"),
              ElementsAre("fused_global_avg_pool2d_sigmoid", "fused_mul_relu"));
}

TEST(FuseOpsTest, ViewsStayOutside) {
  EXPECT_THAT(CallsAfterFusion(R"((%x: f32[n, 4]) -> (%y) {
    %a = exp(%x)
    %r = reshape(%a) {shape=[n, 2, 2]}
    %y = neg(%r)
  })"),
              ElementsAre("exp", "reshape", "neg"));
}

TEST(FuseOpsTest, ReductionsTakeCheapOperands) {
  EXPECT_THAT(
      CallsAfterFusion(R"((%x: f32[2, 3, 8], %r: f32[2, 3, 8]) -> (%y, %m) {
    %g = const f32[8] random(1)
    %scale = const f32[] {0.125}
    %a = add(%x, %r)
    %n = layer_norm(%a, %g)
    %s = mul(%n, %scale)
    %e = exp(%s)
    %y = softmax(%e) {axis=-1}
    %q = mul(%y, %y)
    %m = reduce_sum(%q) {axes=[1]}
  })"),
      ElementsAre("fused_add_layer_norm_mul_exp", "softmax",
                  "fused_mul_reduce_sum"));
}

TEST(FuseOpsTest, InjectiveChains) {
  EXPECT_THAT(CallsAfterFusion(R"((%x: f32[4, 6], %v: f32[4, 3]) -> (%y, %z) {
    %e = exp(%x)
    %t = transpose(%e) {axes=[1, 0]}
    %y = neg(%t)
    %s = slice(%x) {starts=[0], ends=[3], axes=[1]}
    %r = relu(%s)
    %c = concat(%r, %v) {axis=1}
    %z = exp(%c)
  })"),
              ElementsAre("fused_exp_transpose_neg", "fused_slice_relu",
                          "fused_concat_exp"));
}

TEST(FuseOpsTest, ProductsReadTransposedOperands) {
  EXPECT_THAT(
      CallsAfterFusion(R"((%x: f32[2, 5, 3, 4], %v: f32[2, 6, 3, 4]) -> (%y) {
    %scale = const f32[] {0.5}
    %q = transpose(%x) {axes=[0, 2, 1, 3]}
    %k = transpose(%v) {axes=[0, 2, 3, 1]}
    %s = matmul(%q, %k)
    %y = mul(%s, %scale)
  })"),
      ElementsAre("fused_transpose_transpose_matmul_mul"));
}

TEST(FuseOpsTest, EqualKernelsAreShared) {
  const auto module = CheckKeepsMeaning(R"(module {
    func @main(%x: f32[1, 4, 6, 6]) -> (%y) {
      %w = const f32[4, 4, 1, 1] random(1)
      %v = const f32[4, 4, 1, 1] random(2)
      %u = const f32[4, 4, 3, 3] random(3)
      %a = conv2d(%x, %w)
      %b = relu(%a)
      %c = conv2d(%b, %v)
      %d = relu(%c)
      %e = conv2d(%d, %u)
      %y = relu(%e)
    }
  })",
                                        {"fuse_ops"});
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->functions().size(), 3u);
  EXPECT_EQ(module->main()->nodes()[4]->callee, "fused_conv2d_relu");
  EXPECT_EQ(module->main()->nodes()[5]->callee, "fused_conv2d_relu");
  EXPECT_EQ(module->main()->nodes()[6]->callee, "fused_conv2d_relu_1");
  EXPECT_EQ(module->main()->nodes()[6]->name, "y");
}

TEST(FuseOpsTest, SymbolsComeWithAnOperand) {
  const auto module = CheckKeepsMeaning(R"(module {
    func @main(%x: f32[n, 4], %k: f32[4]) -> (%y) {
      %r = reshape(%x) {shape=[n * 4]}
      %e = exp(%r)
      %y = expand(%k) {shape=[n, 4]}
    }
  })",
                                        {"eliminate_dead", "fuse_ops"});
  ASSERT_NE(module, nullptr);
  EXPECT_THAT(Print(*module), HasSubstr("%y = @expand(%k, %x)"));
}

TEST(FuseOpsTest, GroupsHaveALimit) {
  std::string body = "(%x: f32[4]) -> (%y) {\n%v0 = exp(%x)\n";
  for (int i = 0; i < 60; ++i) {
    // Every step reads the one before twice: without a limit, 2^60 operators.
    absl::StrAppend(&body, "%v", i + 1, " = mul(%v", i, ", %v", i, ")\n");
  }
  absl::StrAppend(&body, "%y = tanh(%v60) }");
  EXPECT_GT(CallsAfterFusion(body).size(), 5u);
}

TEST(FuseOpsTest, TargetsDoNotMix) {
  EXPECT_THAT(CallsAfterFusion(R"((%x: f32[4]) -> (%y) {
    %a = exp(%x) {target="a"}
    %b = neg(%a)
    %y = relu(%b)
  })"),
              ElementsAre("exp", "fused_neg_relu"));
}

// Whole pipelines on small networks made at random.
class RandomNetworkTest : public ::testing::TestWithParam<int> {};

class Network {
 public:
  explicit Network(int seed) : state_(seed * 7919 + 1) {}

  std::string Make() {
    values_ = {{"%x", 3 + Next(14)}};
    const int64_t inputs = values_[0].channels;
    for (int i = 0; i < 14; ++i) Step();
    std::string outputs = values_.back().name;
    for (const Plane& v : values_) {
      if (Next(6) == 0 && v.name != "%x" && v.name != values_.back().name) {
        absl::StrAppend(&outputs, ", ", v.name);
      }
    }
    return absl::StrCat("module { func @main(%x: f32[n, ", inputs,
                        ", 7, 7]) -> (", outputs, ") {\n", body_, "} }");
  }

 private:
  struct Plane {  // [n, channels, 7, 7]
    std::string name;
    int64_t channels;
  };

  uint32_t Next(uint32_t below) {
    state_ = state_ * 1664525 + 1013904223;
    return (state_ >> 8) % below;
  }
  std::string NewName() { return absl::StrCat("%v", count_++); }
  template <typename... Args>
  std::string Add(const Args&... args) {
    const std::string name = NewName();
    absl::StrAppend(&body_, name, " = ", args..., "\n");
    return name;
  }
  std::string Weights(const std::string& shape) {
    const std::string raw =
        Add("const f32[", shape, "] random(", Next(1000), ")");
    const std::string scale = Add("const f32[] {0.3}");
    return Add("mul(", raw, ", ", scale, ")");
  }

  void Step() {
    const Plane x =
        values_[values_.size() - 1 - Next(values_.size() > 1 ? 2 : 1)];
    Plane y = x;
    const int64_t c = x.channels;
    switch (Next(12)) {
      case 0:
      case 1:
      case 2: {  // convolution, bias, batch norm
        y.channels = 4 + Next(22);
        const bool wide = Next(2) == 0;
        const std::string w = Weights(
            absl::StrCat(y.channels, ", ", c, wide ? ", 3, 3" : ", 1, 1"));
        y.name = Add("conv2d(", x.name, ", ", w, ") {",
                     wide ? "pads=[1, 1, 1, 1]" : "", "}");
        if (Next(2) == 0) {
          y.name = Add("add(", y.name, ", ",
                       Weights(absl::StrCat(y.channels, ", 1, 1")), ")");
        }
        if (Next(2) == 0) {
          const std::string n = absl::StrCat(y.channels);
          const std::string variance = Add("exp(", Weights(n), ")");
          y.name = Add("batch_norm(", y.name, ", ", Weights(n), ", ",
                       Weights(n), ", ", Weights(n), ", ", variance, ")");
        }
        break;
      }
      case 3: {
        const std::string w = Weights(absl::StrCat(c, ", 1, 3, 3"));
        y.name = Add("conv2d(", x.name, ", ", w,
                     ") {pads=[1, 1, 1, 1], groups=", c, "}");
        break;
      }
      case 4:
        y.name = Add("relu(", x.name, ")");
        break;
      case 5:
        y.name = Add("mul(", x.name, ", ", Add("sigmoid(", x.name, ")"), ")");
        break;
      case 6:
        for (const Plane& v : values_) {
          if (v.channels == c) y.name = Add("add(", x.name, ", ", v.name, ")");
        }
        break;
      case 7: {
        const Plane& v = values_[Next(values_.size())];
        if (c + v.channels > 60) return;
        y.channels = c + v.channels;
        y.name = Add("concat(", x.name, ", ", v.name, ") {axis=1}");
        break;
      }
      case 8:
        y.name = Add(Next(2) == 0 ? "max_pool2d(" : "avg_pool2d(", x.name,
                     ") {kernel=[3, 3], pads=[1, 1, 1, 1]}");
        break;
      case 9: {  // squeeze and excite
        const std::string g = Add("global_avg_pool2d(", x.name, ")");
        const std::string f = Add("reshape(", g, ") {shape=[n, ", c, "]}");
        const std::string d =
            Add("matmul(", f, ", ", Weights(absl::StrCat(c, ", ", c)), ")");
        const std::string s = Add("hard_sigmoid(", d, ")");
        const std::string r =
            Add("reshape(", s, ") {shape=[n, ", c, ", 1, 1]}");
        y.name = Add("mul(", x.name, ", ", r, ")");
        break;
      }
      case 10: {
        const std::string t =
            Add("transpose(", x.name, ") {axes=[0, 2, 3, 1]}");
        const std::string n =
            Add("layer_norm(", t, ", ", Weights(absl::StrCat(c)), ")");
        y.name = Add("transpose(", n, ") {axes=[0, 3, 1, 2]}");
        break;
      }
      default: {
        if (c < 4) return;
        y.channels = c / 2;
        y.name = Add("slice(", x.name, ") {axes=[1], starts=[", c - c / 2,
                     "], ends=[", c, "]}");
      }
    }
    values_.push_back(y);
  }

  uint32_t state_;
  int count_ = 0;
  std::string body_;
  std::vector<Plane> values_;
};

TEST_P(RandomNetworkTest, AllPassesKeepMeaning) {
  const std::string text = Network(GetParam()).Make();
  const auto module = CheckKeepsMeaning(text, DefaultPasses(2), 1e-4, 2);
  if (HasFailure()) ADD_FAILURE() << text;
  ASSERT_NE(module, nullptr);
  for (const auto& node : module->main()->nodes()) {
    if (node->kind == NodeKind::kOp) {
      EXPECT_EQ(node->op->fusion, FusionKind::kView) << node->name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomNetworkTest, ::testing::Range(0, 30));

}  // namespace
}  // namespace ingot::relay
