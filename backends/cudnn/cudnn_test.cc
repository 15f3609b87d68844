// Convolutions by cuDNN as text, and models on a driver and libraries that are
// fakes of ours: the device's memory is this process's, and convolutions are
// computed when their stream comes to them.
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/device/testing/device_sets.h"
#include "backends/gpu/testing/open_fake_driver.h"
#include "backends/testing/run_model.h"
#include "compiler/relay/interpreter/evaluate.h"
#include "compiler/relay/ir.h"
#include "compiler/relay/parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;
using testing_support::CompileText;

std::string Main(const std::string& inputs, const std::string& body) {
  return absl::StrCat("module {\n  func @main(", inputs, ") -> (%y) {\n    ",
                      body, "\n  }\n}\n");
}

// What the target made; empty: nothing.
std::string ConvolutionsOf(const std::string& model) {
  const auto set = CompileText(model, "cudnn,llvm");
  EXPECT_TRUE(set.ok()) << set.status();
  if (!set.ok()) return "";
  for (const Artifact& artifact : set->artifacts()) {
    if (artifact.loader == "cudnn") return std::string(artifact.content.view());
  }
  return "";
}

constexpr char kBlockInputs[] =
    "%x: f32[2, 4, 9, 8], %w: f32[6, 4, 3, 3], %b: f32[6, 1, 1], "
    "%z: f32[2, 6, 5, 8]";
constexpr char kBlock[] =
    "%c = conv2d(%x, %w) {strides=[2, 1], pads=[1, 1, 1, 1]} "
    "%a = add(%c, %b) %s = add(%a, %z) %y = relu(%s)";

TEST(CudnnCode, IsALineForEachConvolution) {
  EXPECT_THAT(
      ConvolutionsOf(Main(kBlockInputs, kBlock)),
      HasSubstr("\nconvolution: data: 0 2 4 9 8 kernel: 1 6 4 3 3 result: 4 2 "
                "6 5 8 strides: 2 1 pads: 1 1 dilations: 1 1 groups: 1 bias: 2 "
                "added: 3 then: relu\n"));
}

// What the library does not take is left to others.
TEST(CudnnCode, LeavesWhatDoesNotFit) {
  for (const auto& [inputs, body] :
       std::vector<std::pair<const char*, const char*>>{
           {"%x: f32[1, 4, 9, 8], %w: f32[6, 4, 3, 3]",
            "%y = conv2d(%x, %w) {pads=[0, 0, 1, 1]}"},
           {"%x: f64[1, 4, 9, 8], %w: f64[6, 4, 3, 3]", "%y = conv2d(%x, %w)"},
           {"%x: f32[n, 4, 9, 8], %w: f32[6, 4, 3, 3]", "%y = conv2d(%x, %w)"},
           {"%x: f32[0, 4, 9, 8], %w: f32[6, 4, 3, 3]",
            "%y = conv2d(%x, %w)"}}) {
    EXPECT_EQ(ConvolutionsOf(Main(inputs, body)), "") << inputs;
  }
}

class Cudnn : public testing_support::FakeDriverTest {
 protected:
  Cudnn() : FakeDriverTest("libcuda.so.1") {}

  static std::vector<Tensor> Inputs(const relay::Module& module) {
    std::vector<Tensor> inputs;
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    for (const relay::Node* input : module.main()->inputs) {
      Tensor x = *Tensor::Empty(DataType::Float(32),
                                *relay::ConstShape(input->outputs[0].shape));
      for (int64_t i = 0; i < x.NumElements(); ++i) {
        x.mutable_data<float>()[i] = normal(random);
      }
      inputs.push_back(std::move(x));
    }
    return inputs;
  }

  // Compares a model's results with the interpreter's, by `threads` executors.
  static void ExpectRight(const std::string& text,
                          const std::string& targets = "cudnn,llvm",
                          int threads = 1) {
    const auto module = relay::ReadModule(text);
    ASSERT_TRUE(module.ok()) << module.status();
    const std::vector<Tensor> inputs = Inputs(**module);
    const auto expected =
        relay::EvaluateFunction(**module, *(*module)->main(), inputs);
    ASSERT_TRUE(expected.ok()) << expected.status();
    const auto set = CompileText(text, targets);
    ASSERT_TRUE(set.ok()) << set.status();
    const auto model = testing_support::StoreAndLoad(*set);
    ASSERT_TRUE(model.ok()) << model.status();
    const auto run = [&] {
      const auto executor = CreateExecutor(*model);
      ASSERT_TRUE(executor.ok()) << executor.status();
      for (int repeat = 0; repeat < 3; ++repeat) {
        const auto actual = (*executor)->Run(inputs);
        ASSERT_TRUE(actual.ok()) << actual.status();
        const auto want = (*expected)[0].values<float>();
        const auto got = (*actual)[0].values<float>();
        ASSERT_EQ(want.size(), got.size());
        for (size_t i = 0; i < want.size(); ++i) {
          ASSERT_NEAR(got[i], want[i], 1e-4) << i << " of " << text;
        }
      }
    };
    std::vector<std::thread> others;
    for (int t = 1; t < threads; ++t) others.emplace_back(run);
    run();
    for (std::thread& thread : others) thread.join();
  }
};

TEST_F(Cudnn, ComputesConvolutions) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"%x: f32[1, 3, 8, 8], %w: f32[5, 3, 3, 3]", "conv2d(%x, %w)"},
      {"%x: f32[2, 4, 9, 7], %w: f32[6, 4, 1, 1]",
       "conv2d(%x, %w) {strides=[2, 2]}"},
      {"%x: f32[1, 4, 9, 7], %w: f32[6, 2, 3, 2]",
       "conv2d(%x, %w) {groups=2, pads=[2, 1, 2, 1], dilations=[2, 1]}"},
      {"%x: f32[1, 4, 9, 7], %w: f32[4, 1, 3, 3]",
       "conv2d(%x, %w) {groups=4, pads=[1, 1, 1, 1]}"},
      {"%x: f32[2, 4, 20], %w: f32[6, 4, 5]",
       "conv1d(%x, %w) {strides=[2], pads=[2, 2]}"},
  };
  for (const auto& [inputs, body] : cases) {
    ExpectRight(Main(inputs, "%y = " + body));
  }
}

TEST_F(Cudnn, AddsAndClipsInTheSameCall) {
  ExpectRight(Main(kBlockInputs, kBlock));
  for (const char* bias : {"f32[6, 1, 1]", "f32[1, 6, 1, 1]"}) {
    for (const char* end :
         {"%y = add(%c, %b)", "%a = add(%b, %c) %y = relu(%a)"}) {
      ExpectRight(Main(absl::StrCat("%x: f32[1, 4, 9, 8], %w: f32[6, 4, 3, 3], "
                                    "%b: ",
                                    bias),
                       absl::StrCat("%c = conv2d(%x, %w) ", end)));
    }
  }
  ExpectRight(Main("%x: f32[2, 4, 20], %w: f32[6, 4, 5], %b: f32[6, 1]",
                   "%c = conv1d(%x, %w) %y = add(%c, %b)"));
}

// The guide's chain: convolutions by one library, products by another, and what
// neither takes by the host.
TEST_F(Cudnn, StandsBesideCublas) {
  ExpectRight(
      Main("%x: f32[1, 3, 8, 8]",
           "%w = const f32[5, 3, 3, 3] random(1) %b = const f32[5, 1, 1] "
           "random(2) %v = const f32[7, 180] random(3) %c = conv2d(%x, %w) "
           "%a = add(%c, %b) %r = relu(%a) %s = reshape(%r) {shape=[1, 180]} "
           "%y = dense(%s, %v)"),
      "cudnn,cublas,llvm");
}

TEST_F(Cudnn, ServesManyThreads) {
  ExpectRight(Main("%x: f32[1, 4, 9, 8], %w: f32[4, 4, 3, 3]",
                   "%c = conv2d(%x, %w) {pads=[1, 1, 1, 1]} "
                   "%y = conv2d(%c, %w) {pads=[1, 1, 1, 1]}"),
              "cudnn,llvm", 4);
}

TEST_F(Cudnn, SaysWhatTheLibraryDoesNotTake) {
  const auto set =
      CompileText(Main("%x: f32[1, 3, 20, 20], %w: f32[5, 3, 13, 13]",
                       "%y = conv2d(%x, %w)"),
                  "cudnn,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  const auto model = testing_support::StoreAndLoad(*set);
  EXPECT_THAT(std::string(model.status().message()),
              HasSubstr(".convolutions: cuDNN has no algorithm for a "
                        "convolution of 3 to 5 channels, 13 x 13"));
}

}  // namespace
}  // namespace ingot
