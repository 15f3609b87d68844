// Products of 16-bit floats by the units that a warp's threads share, as PTX.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
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

std::string ProductOf(const std::string& type) {
  return absl::StrReplaceAll(R"(
module {
  func @main(%x: TYPE[1024, 512], %w: TYPE[512, 1024]) -> (%y) {
    %y = matmul(%x, %w)
  }
}
)",
                             {{"TYPE", type}});
}

// A group has 64 x 64 numbers, and four steps of 64 terms in shared memory,
// whose rows are 16 bytes longer than what they hold. Two of them fit a
// multiprocessor.
TEST(CudaWarps, MultiplyTogether) {
  const auto set = CompileText(ProductOf("f16"), "cuda -mcpu=sm_80,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  const std::string ptx = ContentOf(*set, "cuda", "kernels.ptx");
  const std::string kernel = "m_matmul_0";
  const int bytes = 4 * 2 * (64 + 64) * (64 + 8);
  EXPECT_THAT(
      ContentOf(*set, "cuda", "kernels.table"),
      HasSubstr(absl::StrCat("  launch ", kernel, " 32768 128 ", bytes, "\n")));
  EXPECT_THAT(ptx, HasSubstr(absl::StrCat(".extern .shared .align 16 .b8 ",
                                          kernel, "_shared[];")));
  // A warp's 32 x 32 numbers are 2 x 4 parts, for each of four times 16 terms;
  // rows as they lie in memory, columns turned.
  EXPECT_EQ(CountOf("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", ptx),
            2 * 4 * 4);
  EXPECT_EQ(CountOf("ldmatrix.sync.aligned.m8n8.x4.shared.b16", ptx), 2 * 4);
  EXPECT_EQ(CountOf("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", ptx),
            2 * 4);
  // All copies are of 16 bytes, and go on while the units multiply.
  EXPECT_THAT(ptx, HasSubstr("\tcp.async.wait_group 2;\n\tbar.sync \t0;\n"));
  EXPECT_THAT(ptx, Not(HasSubstr("cp.async.ca")));
  EXPECT_THAT(ptx, Not(HasSubstr("st.shared")));
  EXPECT_THAT(ptx, Not(HasSubstr(".local")));
}

// On Hopper four warps multiply together, from shared memory.
TEST(CudaWarps, MultiplyInGroups) {
  const auto set = CompileText(ProductOf("f16"), "cuda -mcpu=sm_90a,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  const std::string ptx = ContentOf(*set, "cuda", "kernels.ptx");
  const std::string kernel = "m_matmul_0";
  // Eight warps have 128 x 64 numbers, and four steps of 64 terms in shared
  // memory, each with a barrier.
  const int bytes = 4 * (2 * 64 * (128 + 64) + 8);
  EXPECT_THAT(
      ContentOf(*set, "cuda", "kernels.table"),
      HasSubstr(absl::StrCat("  launch ", kernel, " 32768 256 ", bytes,
                             "\n    boxes 0 128 64\n    boxes 1 64 64\n")));
  EXPECT_THAT(ptx, HasSubstr(absl::StrCat(".extern .shared .align 1024 .b8 ",
                                          kernel, "_shared[];")));
  EXPECT_THAT(ptx, HasSubstr(absl::StrCat(".param .align 64 .b8 ", kernel,
                                          "_param_3[128],")));
  // One thread lets two boxes be copied for each of three steps ahead, and then
  // for each step; all wait for theirs.
  EXPECT_EQ(CountOf("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::"
                    "complete_tx::bytes [",
                    ptx),
            2 * 3 + 2);
  EXPECT_EQ(CountOf("mbarrier.init.shared::cta.b64 [", ptx), 4);
  EXPECT_EQ(CountOf("mbarrier.arrive.expect_tx.shared::cta.b64 _, [", ptx),
            3 + 1);
  EXPECT_EQ(CountOf("mbarrier.try_wait.parity.shared::cta.b64 ", ptx), 1);
  // Rows of x as they lie in memory, columns of w turned.
  EXPECT_EQ(
      CountOf("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {", ptx), 4);
  EXPECT_EQ(CountOf(", 1, 1, 0, 1;", ptx), 4);
  // One multiplication goes on while the next step begins.
  EXPECT_EQ(CountOf("wgmma.wait_group.sync.aligned 1;", ptx), 1);
  EXPECT_EQ(CountOf("wgmma.wait_group.sync.aligned 0;", ptx), 1);
  EXPECT_THAT(ptx, Not(HasSubstr("cp.async.c")));
  EXPECT_THAT(ptx, Not(HasSubstr("st.shared")));
  EXPECT_THAT(ptx, Not(HasSubstr(".local")));
  EXPECT_THAT(ptx, Not(HasSubstr("mma.sync")));
  // Whoever touches sums inside of the loop makes the units wait.
  const size_t loop = ptx.find("wgmma.commit_group");
  const size_t begin = ptx.rfind("$L__BB", loop);
  EXPECT_THAT(ptx.substr(begin, loop - begin), Not(HasSubstr("mov.f32")));
}

TEST(CudaWarps, MultiplyInGroupsOnHopperAlone) {
  for (const char* const cpu : {"sm_80", "sm_90"}) {
    const auto set = CompileText(ProductOf("f16"),
                                 absl::StrCat("cuda -mcpu=", cpu, ",llvm"));
    ASSERT_TRUE(set.ok()) << set.status();
    const std::string ptx = ContentOf(*set, "cuda", "kernels.ptx");
    EXPECT_THAT(ptx, Not(HasSubstr("wgmma"))) << cpu;
    EXPECT_THAT(ptx, HasSubstr("mma.sync")) << cpu;
  }
}

TEST(CudaWarps, MultiplyBFloat16) {
  const auto set = CompileText(ProductOf("bf16"), "cuda -mcpu=sm_80,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  const std::string ptx = ContentOf(*set, "cuda", "kernels.ptx");
  EXPECT_GT(CountOf("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", ptx),
            0);
  EXPECT_THAT(ptx, Not(HasSubstr("fma.rn.f32")));
}

// Only where the target says so.
TEST(CudaWarps, MultiplyTf32) {
  const auto set = CompileText(ProductOf("f32"),
                               "cuda -mcpu=sm_80 -matmul-precision=high,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  const std::string ptx = ContentOf(*set, "cuda", "kernels.ptx");
  EXPECT_GT(CountOf("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", ptx),
            0);
  EXPECT_GT(CountOf("cvt.rna.tf32.f32", ptx), 0);
  EXPECT_THAT(ptx, Not(HasSubstr("fma.rn.f32")));
  EXPECT_THAT(ptx, Not(HasSubstr("st.shared")));
  const auto exact = CompileText(ProductOf("f32"), "cuda -mcpu=sm_80,llvm");
  ASSERT_TRUE(exact.ok()) << exact.status();
  EXPECT_THAT(ContentOf(*exact, "cuda", "kernels.ptx"),
              Not(HasSubstr("mma.sync")));
  EXPECT_THAT(
      std::string(
          CompileText(ProductOf("f32"), "cuda -matmul-precision=low,llvm")
              .status()
              .message()),
      HasSubstr("-matmul-precision=low: must be highest, high or medium"));
}

// Older GPUs have other units, or none: each thread multiplies for itself.
TEST(CudaWarps, AreOfNewerGpus) {
  const auto set = CompileText(ProductOf("f16"), "cuda -mcpu=sm_70,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  const std::string ptx = ContentOf(*set, "cuda", "kernels.ptx");
  EXPECT_THAT(ptx, Not(HasSubstr("mma.sync")));
  EXPECT_GT(CountOf("\tfma.rn.f32 ", ptx), 0);
}

}  // namespace
}  // namespace ingot
