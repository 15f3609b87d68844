// Convolutions by cuDNN as text, and models on a driver and libraries that are
// fakes of ours: the device's memory is this process's, and convolutions are
// computed when their stream comes to them.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/device/testing/device_sets.h"
#include "backends/library_calls/testing/library_test.h"
#include "backends/testing/run_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;
using testing_support::CompileText;

const auto& Main = testing_support::MainOf;

std::string ConvolutionsOf(const std::string& model) {
  return testing_support::MadeBy("cudnn", model);
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

// Convolutions that the library does not take are left to others.
TEST(CudnnCode, LeavesWhatDoesNotFit) {
  for (const auto& [inputs, body] :
       std::vector<std::pair<const char*, const char*>>{
           {"%x: f32[1, 4, 9, 8], %w: f32[6, 4, 3, 3]",
            "%y = conv2d(%x, %w) {pads=[0, 0, 1, 1]}"},
           {"%x: f32[1, 4, 9, 8], %w: f32[6, 4, 3, 3]",
            "%y = conv2d(%x, %w) {pads=[1, 1, 1, 1], pad_value=2}"},
           {"%x: f64[1, 4, 9, 8], %w: f64[6, 4, 3, 3]", "%y = conv2d(%x, %w)"},
           {"%x: f32[n, 4, 9, 8], %w: f32[6, 4, 3, 3]", "%y = conv2d(%x, %w)"},
           {"%x: f32[0, 4, 9, 8], %w: f32[6, 4, 3, 3]",
            "%y = conv2d(%x, %w)"}}) {
    EXPECT_EQ(ConvolutionsOf(Main(inputs, body)), "") << inputs;
  }
}

// The addend is no larger than the convolution, and has memory.
TEST(CudnnCode, LeavesAdditionsThatDoNotFit) {
  for (const char* body :
       {"%d = add(%c, %b) %y = add(%d, %z)",
        "%one = const f32[1, 1, 1] {2} %y = add(%c, %one)"}) {
    const std::string text = ConvolutionsOf(
        Main("%x: f32[1, 4, 9, 8], %w: f32[1, 4, 3, 3], %b: f32[1, 1, 1], "
             "%z: f32[2, 1, 7, 6]",
             absl::StrCat("%c = conv2d(%x, %w) ", body)));
    EXPECT_THAT(text, HasSubstr("\nconvolution: data: 0 1 4 9 8 "));
    EXPECT_THAT(text, ::testing::Not(HasSubstr("added:"))) << text;
  }
  EXPECT_EQ(ConvolutionsOf(Main("%x: f32[1, 1, 6, 6]",
                                "%w = const f32[1, 1, 1, 1] {2} "
                                "%y = conv2d(%x, %w)")),
            "");
}

class Cudnn : public testing_support::LibraryTest {
 protected:
  static void ExpectRight(const std::string& model,
                          const std::string& targets = "cudnn,llvm",
                          int threads = 1) {
    LibraryTest::ExpectRight(model, targets, threads);
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
