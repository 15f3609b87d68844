// Products by cuBLAS as text, and models on a driver and a library that are
// fakes of ours: the device's memory is this process's, and products are
// computed when their stream comes to them.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/device/testing/device_sets.h"
#include "backends/library_calls/testing/library_test.h"
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
using testing_support::ContentOf;
const auto& Main = testing_support::MainOf;

std::string ProductsOf(const std::string& model) {
  return testing_support::MadeBy("cublas", model);
}

TEST(CublasCode, IsALineForEachProduct) {
  EXPECT_THAT(ProductsOf(Main("%x: f32[6, 4], %w: f32[5, 4], %b: f32[5]",
                              "%p = dense(%x, %w)\n%a = add(%p, %b)\n"
                              "%y = relu(%a)")),
              HasSubstr(R"(
input f32 6 4
input f32 5 4
input f32 5
output f32 6 5
product: 6 5 4 1 left: 0 0 0 right: 1 0 0 transposed result: 3 0 0 bias: 2 then: relu
)"));
}

// Batches of one step are one call; others several.
TEST(CublasCode, BatchesAreCalls) {
  EXPECT_THAT(
      ProductsOf(Main("%x: f32[2, 3, 6, 4], %w: f32[2, 3, 4, 5]",
                      "%y = matmul(%x, %w)")),
      HasSubstr("product: 6 5 4 6 left: 0 0 24 right: 1 0 20 result: 2 0 30"));
  const std::string text = ProductsOf(
      Main("%x: f32[2, 1, 6, 4], %w: f32[3, 4, 5]", "%y = matmul(%x, %w)"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "product: 6 5 4 3 left: 0 0 0 right: 1 0 20 result: 2 0 30\n"
          "product: 6 5 4 3 left: 0 24 0 right: 1 0 20 result: 2 90 30\n"));
}

// Products that the library does not take are left to others.
TEST(CublasCode, LeavesWhatDoesNotFit) {
  for (const char* inputs :
       {"%x: f32[0, 4], %w: f32[4, 5]", "%x: f64[6, 4], %w: f64[4, 5]",
        "%x: f32[n, 4], %w: f32[4, 5]"}) {
    EXPECT_EQ(ProductsOf(Main(inputs, "%y = matmul(%x, %w)")), "") << inputs;
  }
}

// A region keeps single numbers to itself, where the library cannot read them:
// a bias of one is added by somebody else.
TEST(CublasCode, LeavesConstantsOfOneElement) {
  EXPECT_EQ(ProductsOf(Main("%x: f32[6, 1]",
                            "%w = const f32[1, 1] {2} %y = matmul(%x, %w)")),
            "");
  EXPECT_THAT(
      ProductsOf(Main("%x: f32[6, 4], %w: f32[1, 4]",
                      "%b = const f32[1] {2} %p = dense(%x, %w) "
                      "%y = add(%p, %b)")),
      HasSubstr("\nproduct: 6 1 4 1 left: 0 0 0 right: 1 0 0 transposed "
                "result: 2 0 0\n"));
}

class Cublas : public testing_support::LibraryTest {
 protected:
  static void ExpectRight(const std::string& model, int threads = 1) {
    LibraryTest::ExpectRight(model, "cublas,llvm", threads);
  }
};

TEST_F(Cublas, ComputesProducts) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"%x: f32[6, 4], %w: f32[4, 5]", "%y = matmul(%x, %w)"},
      {"%x: f32[1, 1], %w: f32[1, 7]", "%y = matmul(%x, %w)"},
      {"%x: f32[7, 33], %w: f32[17, 33]", "%y = dense(%x, %w)"},
      {"%x: f32[2, 7, 33], %w: f32[17, 33]", "%y = dense(%x, %w)"},
      {"%x: f32[2, 3, 6, 4], %w: f32[2, 3, 4, 5]", "%y = matmul(%x, %w)"},
      {"%x: f32[2, 1, 6, 4], %w: f32[3, 4, 5]", "%y = matmul(%x, %w)"},
      {"%x: f32[3, 6, 4], %w: f32[4, 5]", "%y = matmul(%x, %w)"},
      {"%x: f32[6, 4], %w: f32[3, 4, 5]", "%y = matmul(%x, %w)"},
      {"%x: f32[4, 6], %w: f32[5, 4]",
       "%a = transpose(%x) {axes=[1, 0]} %b = transpose(%w) {axes=[1, 0]} "
       "%y = matmul(%a, %b)"},
      {"%x: f32[3, 4, 6], %w: f32[3, 4, 5]",
       "%a = transpose(%x) {axes=[0, 2, 1]} %y = matmul(%a, %w)"},
  };
  for (const auto& [inputs, body] : cases) ExpectRight(Main(inputs, body));
  // One matrix as both operands.
  ExpectRight(Main("%x: f32[5, 5]", "%y = matmul(%x, %x)"));
}

TEST_F(Cublas, AddsAndClipsInTheSameCall) {
  for (const char* bias : {"f32[5]", "f32[1, 5]", "f32[2, 6, 5]"}) {
    for (const char* end :
         {"%y = add(%p, %b)", "%a = add(%p, %b) %y = relu(%a)",
          "%a = add(%b, %p) %y = relu(%a)"}) {
      ExpectRight(
          Main(absl::StrCat("%x: f32[2, 6, 4], %w: f32[2, 4, 5], %b: ", bias),
               absl::StrCat("%p = matmul(%x, %w) ", end)));
    }
  }
  ExpectRight(
      Main("%x: f32[6, 4], %w: f32[5, 4]", "%p = dense(%x, %w) %y = relu(%p)"));
}

// The product between two others is in memory of the region's own.
TEST_F(Cublas, ChainsProducts) {
  const std::string chain =
      Main("%x: f32[6, 4], %a: f32[4, 5], %b: f32[5, 3], %c: f32[3, 3]",
           "%p = matmul(%x, %a) %q = matmul(%p, %b) %y = matmul(%q, %c)");
  EXPECT_THAT(ProductsOf(chain), HasSubstr("temporary 30\ntemporary 18\n"));
  ExpectRight(chain);
  ExpectRight(Main("%x: f32[6, 4]",
                   "%w = const f32[5, 4] random(1) %b = const f32[5] random(2) "
                   "%v = const f32[3, 5] random(3) %p = dense(%x, %w) "
                   "%a = add(%p, %b) %r = relu(%a) %y = dense(%r, %v)"));
}

// cuda's kernels and the library's products are on one device: nothing is
// copied between them, and each waits for the other by the stream's order.
TEST_F(Cublas, SharesCudasDevice) {
  const std::string model = Main("%x: f32[6, 4]",
                                 "%w = const f32[4, 5] random(1) %e = exp(%x) "
                                 "%p = matmul(%e, %w) %y = tanh(%p)");
  const auto set = CompileText(model, "cublas,cuda,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_THAT(ContentOf(*set, "cuda", "kernels.table"), HasSubstr("m_exp"));
  run_([](const char* kernel, size_t, void* const* arguments) {
    const bool is_exp = std::string(kernel) == "m_exp_0";
    const auto* from = static_cast<const float*>(arguments[0]);
    auto* to = static_cast<float*>(arguments[1]);
    for (int i = 0; i < (is_exp ? 24 : 30); ++i) {
      to[i] = is_exp ? std::exp(from[i]) : std::tanh(from[i]);
    }
  });
  const auto model_loaded = testing_support::StoreAndLoad(*set);
  ASSERT_TRUE(model_loaded.ok()) << model_loaded.status();
  ASSERT_EQ(model_loaded->plan->devices_size(), 2);
  EXPECT_EQ(model_loaded->plan->devices(1).target_key(), "cuda");
  EXPECT_THAT(model_loaded->plan->devices(1).shared_by(),
              ::testing::ElementsAre("cublas"));
  const auto executor = CreateExecutor(*model_loaded);
  ASSERT_TRUE(executor.ok()) << executor.status();
  log_();
  const auto module = relay::ReadModule(model);
  const std::vector<Tensor> inputs = testing_support::RandomInputs(**module);
  const auto actual = (*executor)->Run(inputs);
  ASSERT_TRUE(actual.ok()) << actual.status();
  EXPECT_STREQ(log_(),
               "to device 96\n"
               "launch m_exp_0 1 x 256, 2 arguments\n"
               "product\n"
               "launch m_tanh_0 1 x 256, 2 arguments\n"
               "to host 120\n");
  const auto expected =
      relay::EvaluateFunction(**module, *(*module)->main(), inputs);
  for (int i = 0; i < 30; ++i) {
    EXPECT_NEAR((*actual)[0].data<float>()[i], (*expected)[0].data<float>()[i],
                1e-5);
  }
}

TEST_F(Cublas, ServesManyThreads) {
  ExpectRight(Main("%x: f32[6, 4], %a: f32[4, 5], %b: f32[5, 3]",
                   "%p = matmul(%x, %a) %y = matmul(%p, %b)"),
              /*threads=*/4);
}

TEST_F(Cublas, SaysWhatTheLibraryDoesNotTake) {
  const auto set =
      CompileText(Main("%x: f32[1, 1], %w: f32[1, 1]", "%y = matmul(%x, %w)"),
                  "cublas,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  const auto model = testing_support::StoreAndLoad(*set);
  EXPECT_THAT(std::string(model.status().message()),
              HasSubstr(".products: choosing an algorithm: cuBLAS gave status "
                        "15"));
}

}  // namespace
}  // namespace ingot
