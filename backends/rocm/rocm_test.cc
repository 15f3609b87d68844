// Code objects of AMD's GPUs, and which calls of their driver a model makes,
// on a fake of ours.
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "artifact/inspector.h"
#include "backends/builtin.h"
#include "backends/device/testing/device_sets.h"
#include "backends/gpu/testing/open_fake_driver.h"
#include "backends/testing/run_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing_support::CompileText;
using testing_support::CountOf;
using testing_support::FakeDriverTest;
using testing_support::kProduct;

// sin reads a table of the module's.
constexpr char kModel[] = R"(
module {
  func @main(%x: f32[3, 100]) -> (%r, %s) {
    %e = exp(%x)
    %c = cumsum(%e) {axis=1}
    %p = mul(%c, %e)
    %r = relu(%p)
    %s = sin(%x)
  }
}
)";

// A dump shows this of the code.
std::string Disassembled(const ArtifactSet& set) {
  const Artifact* code = set.Find("rocm", "rocm", "kernels.hsaco");
  if (code == nullptr) return "there is none";
  InspectorRegistry inspectors;
  EXPECT_TRUE(RegisterBuiltinInspectors(&inspectors).ok());
  for (const InspectorRule* rule : inspectors.Find(*code)) {
    const auto text = rule->inspect(*code, {});
    return text.ok() ? *text : std::string(text.status().message());
  }
  return "nothing shows it";
}

TEST(RocmCode, HasADescriptorForEachKernelAndReads) {
  for (const std::string cpu : {"gfx90a", "gfx942"}) {
    const auto set = CompileText(kModel, "rocm -mcpu=" + cpu + ",llvm");
    ASSERT_TRUE(set.ok()) << set.status();
    const std::string text = Disassembled(*set);
    for (const char* kernel : {"m_exp_0", "m_fused_mul_relu_0", "m_sin_0"}) {
      EXPECT_THAT(text, HasSubstr(std::string("global     ") + kernel + "\n"));
      // 64 bytes, by which the driver finds the kernel and what it needs.
      EXPECT_THAT(text, HasSubstr(std::string("        64  global     ") +
                                  kernel + ".kd\n"));
    }
    EXPECT_THAT(text, HasSubstr("\nm_fused_mul_relu_0:\n"));
    EXPECT_THAT(text, HasSubstr("global_load_dword"));
    EXPECT_THAT(text, HasSubstr("global_store_dword"));
    EXPECT_THAT(text, HasSubstr("s_endpgm"));
  }
}

TEST(RocmCode, HasTheSameTableAsOthers) {
  const auto set = CompileText(kModel, "rocm,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  ASSERT_NE(set->Find("rocm", "rocm", "kernels.tir"), nullptr);
  const Artifact* table = set->Find("rocm", "rocm", "kernels.table");
  ASSERT_NE(table, nullptr);
  EXPECT_THAT(std::string(table->content.view()), HasSubstr(R"(
function m_fused_mul_relu
  input f32 3 100
  input f32 3 100
  output f32 3 100
  launch m_fused_mul_relu_0 512 256
)"));
}

TEST(RocmCode, IsForAGpuThatThereIs) {
  const auto checked =
      testing_support::BuiltinTargets().Check(*ParseTarget("rocm -mcpu=sm_80"));
  EXPECT_THAT(std::string(checked.status().message()),
              HasSubstr("target option -mcpu=sm_80: LLVM knows no such "
                        "processor for amdgcn-amd-amdhsa"));
}

TEST(RocmCode, OfProductsSharesTiles) {
  const auto set = CompileText(kProduct, "rocm,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  const std::string text = Disassembled(*set);
  // A barrier after what was copied has arrived, and one after all have read.
  EXPECT_THAT(text, testing::ContainsRegex(
                        R"(: \| ds_write_b128 v[0-9]+, v\[.*\].*
 +[0-9a-f]+: \| s_waitcnt lgkmcnt\(0\)
 +[0-9a-f]+: \| s_barrier
 +[0-9a-f]+: \| ds_read_b128 )"));
  EXPECT_THAT(text, testing::ContainsRegex(R"(: \| s_barrier
 +[0-9a-f]+: \| s_cbranch_scc1 )"));
  // Sums are in registers, two to an instruction.
  EXPECT_THAT(text, HasSubstr("v_pk_fma_f32"));
  EXPECT_THAT(text, Not(HasSubstr("scratch_")));
  EXPECT_THAT(text, Not(HasSubstr("buffer_")));
}

TEST(RocmCode, OfRowsAndConvolutionsWaitsForWhatIsShared) {
  const auto softmax = CompileText(testing_support::kSoftmax, "rocm,llvm");
  ASSERT_TRUE(softmax.ok()) << softmax.status();
  const auto conv = CompileText(testing_support::kConvolution, "rocm,llvm");
  ASSERT_TRUE(conv.ok()) << conv.status();
  const std::string rows = Disassembled(*softmax), tiles = Disassembled(*conv);
  EXPECT_EQ(CountOf(" s_barrier\n", rows), 7);
  EXPECT_EQ(CountOf(" s_barrier\n", tiles), 3);
  for (const std::string& text : {rows, tiles}) {
    EXPECT_THAT(text, HasSubstr("ds_write_b32"));
    EXPECT_THAT(text, HasSubstr("ds_read"));
    EXPECT_THAT(text, Not(HasSubstr("scratch_")));
    EXPECT_THAT(text, Not(HasSubstr("buffer_")));
  }
  EXPECT_GE(CountOf("v_pk_fma_f32", tiles) + CountOf("v_fmac_f32", tiles), 36);
}

class RocmDriver : public testing_support::FakeDriverTest {
 protected:
  RocmDriver() : FakeDriverTest("libamdhip64.so") {}
};

TEST_F(RocmDriver, GetsTheCallsOfTheModel) {
  const auto set = CompileText(kModel, "rocm,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  const auto model = testing_support::StoreAndLoad(*set);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_STREQ(log_(), "load\n");
  const auto results = testing_support::RunModel(
      *model, {*Tensor::Empty(DataType::Float(32), {3, 100})});
  ASSERT_TRUE(results.ok()) << results.status();
  const std::string calls = log_();
  EXPECT_THAT(calls, HasSubstr("to device 1200\n"));
  EXPECT_THAT(calls, HasSubstr("launch m_exp_0 2 x 256, "));
  EXPECT_THAT(calls, HasSubstr("launch m_fused_mul_relu_0 2 x 256, "));
  EXPECT_THAT(calls, HasSubstr("launch m_sin_0 2 x 256, "));
  EXPECT_THAT(calls, HasSubstr("to host 1200\n"));
}

// Its driver, like CUDA's before version 12, describes no tensors for copies of
// boxes: a table that asks for them is refused when it is loaded.
TEST_F(RocmDriver, CopiesNoBoxes) {
  const auto set = CompileText(kModel, "rocm,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  const auto status_of = [&](const std::string& boxes) {
    return testing_support::StoreAndLoad(
               testing_support::WithFile(
                   *set, "kernels.table",
                   "function m_exp\ninput f32 8 64\noutput f32 8 64\n"
                   "launch m_exp_0 512 256\n" +
                       boxes))
        .status();
  };
  EXPECT_THAT(std::string(status_of("").message()),
              Not(HasSubstr("copies boxes")));
  const absl::Status status = status_of("boxes 0 8 32\n");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("m_exp_0 copies boxes of tensors, which is for CUDA's "
                        "drivers from version 12 on"));
}

}  // namespace
}  // namespace ingot
