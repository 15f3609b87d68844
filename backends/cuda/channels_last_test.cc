// Convolutions on all channels in one block, whose weights are constants: what
// they compute on the emulated GPU, beside the interpreter, and how they copy.
#include <string>

#include "backends/cuda/cuda_computes.h"
#include "backends/device/testing/device_sets.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing_support::CudaComputes;

class CudaChannelsLast : public CudaComputes {};
INSTANTIATE_TEST_SUITE_P(Gpus, CudaChannelsLast,
                         ::testing::Values("sm_70", "sm_80", "sm_90a"),
                         [](const auto& info) { return info.param; });

// A network's first layers, on images whose points no tile divides.
TEST_P(CudaChannelsLast, FirstLayers) {
  Compare("%x: f16[3, 3, 30, 34]",
          "%w0 = const f16[64, 3, 7, 7] random(1)"
          "  %b = const f16[64, 1, 1] random(2)"
          "  %w1 = const f16[72, 64, 3, 3] random(3)"
          "  %c0 = conv2d(%x, %w0) {strides=[2, 2], pads=[3, 3, 3, 3]}"
          "  %a = add(%c0, %b)  %r = relu(%a)"
          "  %p = max_pool2d(%r) {kernel=[3, 3], strides=[2, 2],"
          " pads=[1, 1, 1, 1]}"
          "  %y = conv2d(%p, %w1) {pads=[1, 1, 1, 1]}",
          {2e-2, 2e-1});
}

// A residual block that halves the image, and what it is joined with.
TEST_P(CudaChannelsLast, ResidualBlock) {
  Compare("%x: f16[5, 64, 7, 7]",
          "%w0 = const f16[64, 64, 1, 1] random(1)"
          "  %w1 = const f16[64, 64, 3, 3] random(2)"
          "  %w2 = const f16[128, 64, 1, 1] random(3)"
          "  %w3 = const f16[128, 64, 1, 1] random(4)"
          "  %s = const f16[] {0.0625}"
          "  %x1 = mul(%x, %s)  %c0 = conv2d(%x1, %w0)  %r0 = relu(%c0)"
          "  %m0 = mul(%r0, %s)"
          "  %c1 = conv2d(%m0, %w1) {strides=[2, 2], pads=[1, 1, 1, 1]}"
          "  %r1 = relu(%c1)  %m1 = mul(%r1, %s)"
          "  %c2 = conv2d(%m1, %w2)"
          "  %d = conv2d(%x1, %w3) {strides=[2, 2]}"
          "  %a = add(%c2, %d)  %r2 = relu(%a)"
          "  %j = concat(%r2, %c1) {axis=1}"
          "  %y = slice(%j) {axes=[1], starts=[3], ends=[190]}",
          {2e-2, 2e-2});
}

// Depthwise, norms over channels that the model puts last, and groups, which
// stay as they are.
TEST_P(CudaChannelsLast, NormsAndGroups) {
  Compare("%x: f16[2, 32, 9, 5]",
          "%w0 = const f16[32, 1, 3, 3] random(1)"
          "  %g = const f16[32] random(2)"
          "  %w1 = const f16[32, 64] random(3)"
          "  %w2 = const f16[64, 16, 3, 3] random(4)"
          "  %s = const f16[] {0.125}"
          "  %c0 = conv2d(%x, %w0) {groups=32, pads=[1, 1, 1, 1]}"
          "  %t0 = transpose(%c0) {axes=[0, 2, 3, 1]}"
          "  %n = layer_norm(%t0, %g) {axis=-1}  %m = matmul(%n, %w1)"
          "  %t1 = transpose(%m) {axes=[0, 3, 1, 2]}  %u = mul(%t1, %s)"
          "  %y = conv2d(%u, %w2) {groups=4, pads=[1, 1, 1, 1]}",
          {3e-2, 3e-2});
}

// Threads copy 16 bytes of either operand at once, zeros for padding, and no
// element alone.
TEST(CudaChannelsLastCode, CopiesChannels) {
  const auto set = testing_support::CompileText(R"(
module {
  func @main(%x: f16[8, 64, 14, 14]) -> (%y) {
    %w0 = const f16[64, 64, 1, 1] random(1)
    %w1 = const f16[64, 64, 3, 3] random(2)
    %c0 = conv2d(%x, %w0)
    %r = relu(%c0)
    %c1 = conv2d(%r, %w1) {pads=[1, 1, 1, 1]}
    %y = relu(%c1)
  }
}
)",
                                                "cuda -mcpu=sm_80,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  const std::string all =
      testing_support::ContentOf(*set, "cuda", "kernels.ptx");
  const size_t begin = all.find(".entry m_fused_conv2d_relu_0(");
  ASSERT_NE(begin, std::string::npos);
  const std::string ptx = all.substr(begin, all.find("ret;", begin) - begin);
  EXPECT_THAT(ptx, HasSubstr("mma.sync.aligned.m16n8k16"));
  EXPECT_THAT(ptx, HasSubstr("cp.async.cg.shared.global"));
  EXPECT_THAT(ptx, Not(HasSubstr("cp.async.ca.shared.global")));
  EXPECT_THAT(ptx, Not(HasSubstr("st.shared")));
}

}  // namespace
}  // namespace ingot
