// Kernels of blocks whose threads share memory, as PTX.
#include <string>

#include "backends/device/testing/device_sets.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing_support::CompileText;
using testing_support::ContentOf;
using testing_support::CountOf;
using testing_support::kProduct;

TEST(CudaTiles, OfProductsSharesTiles) {
  const auto set = CompileText(kProduct, "cuda,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_THAT(ContentOf(*set, "cuda", "kernels.table"),
              HasSubstr("  launch m_fused_matmul_relu_0 32768 256\n"));
  const std::string ptx = ContentOf(*set, "cuda", "kernels.ptx");
  EXPECT_THAT(ptx, HasSubstr(R"(
// 128 x 256 work items: groups run the iterations of the block loop, and their items those of each thread loop; param_0 and so on are, in this order:
// func @m_fused_matmul_relu_0(%x: f32[1024, 128], %w: f32[128, 1024]) -> (%relu: f32[1024, 1024]) {
//   block i0o_i1o in [0, 128) {
//     alloc %w.tile: f32[16, 128] shared
//     alloc %x.tile: f32[16, 68] shared
//     let i0o: i64 = i0o_i1o // 8
//     let i1o: i64 = i0o_i1o % 8
//     alloc %matmul.acc: f32[4, 8] stack
)"));
  EXPECT_THAT(
      ptx,
      HasSubstr(
          ".shared .align 16 .b8 m_fused_matmul_relu_0_$_x_$_tile[4352];"));
  // Nothing of the sums is in memory.
  EXPECT_THAT(ptx, Not(HasSubstr(".local")));
  // All wait for what was copied of each operand, and before the next step's
  // copies come.
  EXPECT_EQ(CountOf("\tbar.sync \t0;\n", ptx), 3);
  EXPECT_EQ(CountOf("\tfma.rn.f32 ", ptx), 16 * 4 * 8);
  // Four neighbours are one access, where they are neighbours in memory.
  EXPECT_EQ(CountOf("\tld.shared.v4.f32 ", ptx), 16 * 3);
  EXPECT_EQ(CountOf("\tld.shared.f32 ", ptx), 0);
  EXPECT_EQ(CountOf("\tst.shared.v4.f32 ", ptx), 2);
  EXPECT_EQ(CountOf("\tst.shared.f32 ", ptx), 4);
  EXPECT_EQ(CountOf("\tst.global.v4.f32 ", ptx), 8);
  EXPECT_EQ(CountOf("\tst.global.f32 ", ptx), 0);
}

// The GPU copies later steps while it computes one: all threads wait once in a
// step, for the oldest of three copies under way.
TEST(CudaTiles, CopiesAheadFromSm80On) {
  const auto set = CompileText(kProduct, "cuda -mcpu=sm_80,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  const std::string ptx = ContentOf(*set, "cuda", "kernels.ptx");
  EXPECT_EQ(CountOf("cp.async.ca.shared.global ", ptx), 4 * 4);
  EXPECT_EQ(CountOf("cp.async.cg.shared.global ", ptx), 4);
  EXPECT_EQ(CountOf("cp.async.commit_group;", ptx), 4);
  EXPECT_THAT(ptx, HasSubstr("\tcp.async.wait_group 2;\n\tbar.sync \t0;\n"));
  EXPECT_EQ(CountOf("\tbar.sync \t0;\n", ptx), 3);
  EXPECT_THAT(ptx, Not(HasSubstr("st.shared")));
  // Four steps of 16 terms, 64 rows and 4 elements that keep columns apart.
  EXPECT_THAT(ptx, HasSubstr("_x_$_tile[17408];"));
}

// Zeros stand for what is beyond an operand, so that sums ask nothing.
TEST(CudaTiles, CopiesZerosBeyondOperands) {
  const auto set = CompileText(R"(
module {
  func @main(%x: f32[1000, 130], %w: f32[130, 1000]) -> (%y) {
    %y = matmul(%x, %w)
  }
}
)",
                               "cuda -mcpu=sm_90a,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  const std::string ptx = ContentOf(*set, "cuda", "kernels.ptx");
  EXPECT_THAT(ptx, testing::ContainsRegex(
                       R"(cp\.async\.cg\.shared\.global \[%rd[0-9]+\], )"
                       R"(\[%rd[0-9]+\], 16, %r[0-9]+;)"));
  EXPECT_THAT(ptx, testing::ContainsRegex(
                       R"(cp\.async\.ca\.shared\.global \[%rd[0-9]+\], )"
                       R"(\[%rd[0-9]+\], 4, %r[0-9]+;)"));
  EXPECT_THAT(ptx, Not(HasSubstr("st.shared")));
}

// Neighbouring threads read neighbouring numbers, three each. What they share
// are the parts of the largest number and of the sum, joined in two steps, and
// the exponentials.
TEST(CudaTiles, OfRowsIsOneKernelOfThreadsThatShareThem) {
  const auto set = CompileText(testing_support::kSoftmax, "cuda,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  const std::string table = ContentOf(*set, "cuda", "kernels.table");
  EXPECT_THAT(table, HasSubstr("  launch m_softmax_0 16384 256\n"));
  EXPECT_EQ(CountOf("  launch ", table), 1);
  const std::string ptx = ContentOf(*set, "cuda", "kernels.ptx");
  EXPECT_EQ(CountOf("\tbar.sync \t0;\n", ptx), 7);
  EXPECT_THAT(ptx, testing::ContainsRegex(R"(
	ld.global.nc.f32 	%f1, \[%rd[0-9]+\];
	ld.global.nc.f32 	%f2, \[%rd[0-9]+\+512\];
)"));
  EXPECT_THAT(ptx, HasSubstr("_softmax_max_$_parts[1024];"));
  EXPECT_THAT(ptx, HasSubstr("_softmax_exp[3072];"));
  EXPECT_THAT(ptx, Not(HasSubstr(".local")));
}

// All wait for a step's patch and weights, and for its sums.
TEST(CudaTiles, OfConvolutionsSharesPatches) {
  const auto set = CompileText(R"(
module {
  func @main(%x: f32[1, 128, 28, 28], %w: f32[128, 128, 3, 3]) -> (%y) {
    %c = conv2d(%x, %w) {pads=[1, 1, 1, 1]}
    %y = relu(%c)
  }
}
)",
                               "cuda,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  // Blocks share the channels of the data, and a second kernel joins them.
  EXPECT_THAT(ContentOf(*set, "cuda", "kernels.table"),
              HasSubstr("  launch m_fused_conv2d_relu_0 57344 256\n"
                        "  launch m_fused_conv2d_relu_1 100352 256\n"));
  const std::string ptx = ContentOf(*set, "cuda", "kernels.ptx");
  EXPECT_THAT(ptx, HasSubstr("_w_$_tile[19008];"));
  EXPECT_THAT(ptx, HasSubstr("_conv2d_pad_$_tile[1728];"));
  EXPECT_EQ(CountOf("\tbar.sync \t0;\n", ptx), 3);
  EXPECT_GE(CountOf("\tfma.rn.f32 ", ptx), 8 * 9);
  EXPECT_THAT(ptx, Not(HasSubstr(".local")));
}

// Patches that do not overlap are rows of a matrix: a tile has those of several
// rows of the image, and a step one row of each. Copies go ahead.
TEST(CudaTiles, OfPatchesAreThoseOfAProduct) {
  const auto set = CompileText(R"(
module {
  func @main(%x: f32[32, 3, 224, 224], %w: f32[384, 3, 16, 16]) -> (%y) {
    %y = conv2d(%x, %w) {strides=[16, 16]}
  }
}
)",
                               "cuda -mcpu=sm_90a,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  // 384 groups: 6 x 2 for the 384 x 196 numbers of each image.
  EXPECT_THAT(ContentOf(*set, "cuda", "kernels.table"),
              HasSubstr("  launch m_conv2d_0 98304 256\n"));
  const std::string ptx = ContentOf(*set, "cuda", "kernels.ptx");
  EXPECT_EQ(CountOf("\tfma.rn.f32 ", ptx), 16 * 4 * 8);
  EXPECT_THAT(ptx, HasSubstr("\tcp.async.wait_group 1;\n\tbar.sync \t0;\n"));
  EXPECT_THAT(ptx, Not(HasSubstr("st.shared")));
  EXPECT_THAT(ptx, Not(HasSubstr(".local")));
}

}  // namespace
}  // namespace ingot
