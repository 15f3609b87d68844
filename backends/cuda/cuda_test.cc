// Kernels of NVIDIA's GPUs as text, and models on a driver that is a fake of
// ours: what a set holds, and which calls it makes.
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
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
using testing_support::ContentOf;
using testing_support::CountOf;
using testing_support::kProduct;
using testing_support::WithFile;

// cumsum runs one element after the other, and tan has no code on the device.
// 300 elements are more than a group.
constexpr char kMixed[] = R"(
module {
  func @main(%x: f32[3, 100]) -> (%r, %t) {
    %e = exp(%x)
    %s = cumsum(%e) {axis=1}
    %p = mul(%s, %e)
    %r = relu(%p)
    %t = tan(%x)
  }
}
)";

TEST(CudaCode, IsLoopsPtxAndATable) {
  const auto set = CompileText(kMixed, "cuda,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_THAT(ContentOf(*set, "cuda", "kernels.tir"), HasSubstr(R"(
func @m_exp(%x: f32[3, 100]) -> (%exp_: f32[3, 100]))"));
  EXPECT_THAT(ContentOf(*set, "cuda", "kernels.table"), HasSubstr(R"(
function m_fused_mul_relu
  input f32 3 100
  input f32 3 100
  output f32 3 100
  launch m_fused_mul_relu_0 512 256
)"));
}

TEST(CudaCode, LeavesKernelsOfTooManyArgumentsToTheHost) {
  const auto has_code = [](int tensors) {
    const auto set =
        CompileText(testing_support::ConcatOf(tensors), "cuda,llvm");
    EXPECT_TRUE(set.ok()) << set.status();
    return set.ok() && set->Find("cuda", "cuda", "kernels.ptx") != nullptr;
  };
  EXPECT_TRUE(has_code(483));
  EXPECT_FALSE(has_code(484));
}

TEST(CudaCode, SaysWhatEachKernelIs) {
  const auto set = CompileText(kMixed, "cuda,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  const std::string ptx = ContentOf(*set, "cuda", "kernels.ptx");
  EXPECT_THAT(ptx, HasSubstr(".target sm_70\n.address_size 64\n"));
  EXPECT_THAT(ptx, HasSubstr(R"(
// m_fused_mul_relu_0
// 2 x 256 work items run the iterations of the outer loop; param_0 and so on are, in this order:
// func @m_fused_mul_relu_0(%s: f32[3, 100], %e: f32[3, 100]) -> (%relu: f32[3, 100]) {
//   parallel i0_i1 in [0, 300) {
//     let i0: i64 = i0_i1 // 100
//     let i1: i64 = i0_i1 % 100
//     %relu[i0, i1] = max(0.0f, %s[i0, i1] * %e[i0, i1])
//   }
// }
	// .globl	m_fused_mul_relu_0
.visible .entry m_fused_mul_relu_0(
	.param .u64 m_fused_mul_relu_0_param_0,
	.param .u64 m_fused_mul_relu_0_param_1,
	.param .u64 m_fused_mul_relu_0_param_2
)
.maxntid 256, 1, 1
{)"));
  // Items beyond the last element do nothing.
  EXPECT_THAT(ptx, HasSubstr("setp.lt.u32"));
  EXPECT_THAT(ptx, HasSubstr("ld.global.nc.f32"));
  EXPECT_THAT(ptx, HasSubstr("st.global.f32"));
}

// The kernels of a function of one operand and a row.
std::string PtxOf(const std::string& type, const std::string& body) {
  const auto set =
      CompileText(absl::StrCat("module {\n  func @main(%x: ", type,
                               "[8, 65, 30, 32], %r: ", type,
                               "[32]) -> (%y) {\n    ", body, "\n  }\n}\n"),
                  "cuda,llvm");
  EXPECT_TRUE(set.ok()) << set.status();
  return set.ok() ? ContentOf(*set, "cuda", "kernels.ptx") : "";
}

// Where there are enough elements for all of a GPU, a work item takes those of
// 16 bytes, and finds its place in 32 bits.
TEST(CudaCode, MovesNeighboursAtOnce) {
  for (const char* const body :
       {"%y = add(%x, %r)", "%y = transpose(%x) {axes=[2, 0, 1, 3]}"}) {
    const std::string ptx = PtxOf("f32", body);
    EXPECT_THAT(ptx, HasSubstr("ld.global.nc.v4.f32")) << body;
    EXPECT_THAT(ptx, HasSubstr("st.global.v4.f32")) << body;
    EXPECT_THAT(ptx, HasSubstr("// 488 x 256 work items")) << body;
    EXPECT_THAT(ptx, Not(HasSubstr("mul.hi.u64"))) << body;
    EXPECT_THAT(ptx, Not(HasSubstr("mul.hi.s64"))) << body;
    EXPECT_THAT(PtxOf("f16", body), Not(HasSubstr("st.global.v4"))) << body;
  }
  // Neighbours come from different places, or have decisions of their own.
  for (const char* const body :
       {"%y = transpose(%x) {axes=[3, 0, 1, 2]}",
        "%y = pad(%x) {pads=[0, 0, 0, 4, 0, 0, 0, 4]}"}) {
    EXPECT_THAT(PtxOf("f32", body), Not(HasSubstr("st.global.v4"))) << body;
  }
}

TEST(CudaCode, IsForTheGpuThatWasAskedFor) {
  for (const std::string cpu : {"sm_70", "sm_80", "sm_90a"}) {
    const auto set = CompileText(kMixed, "cuda -mcpu=" + cpu + ",llvm");
    ASSERT_TRUE(set.ok()) << set.status();
    EXPECT_THAT(ContentOf(*set, "cuda", "kernels.ptx"),
                HasSubstr("\n.target " + cpu + "\n"));
  }
  const auto checked = testing_support::BuiltinTargets().Check(
      *ParseTarget("cuda -mcpu=gfx90a"));
  EXPECT_THAT(std::string(checked.status().message()),
              HasSubstr("target option -mcpu=gfx90a: LLVM knows no such "
                        "processor for nvptx64-nvidia-cuda"));
}

TEST(CudaCode, IsOfNothingThatLacksCode) {
  const auto set = CompileText(kMixed, "cuda,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  const std::string table = ContentOf(*set, "cuda", "kernels.table");
  EXPECT_THAT(table, Not(HasSubstr("m_tan")));
  EXPECT_THAT(table, Not(HasSubstr("m_cumsum")));
}

// A power of whole numbers is one of f64, which there is a C library for on a
// CPU.
TEST(CudaCode, IsOfNoFunctionOfDoubles) {
  const auto set = CompileText(R"(
module {
  func @main(%x: i64[40], %y: i64[40], %z: f32[40]) -> (%p, %q) {
    %p = pow(%x, %y)
    %q = pow(%z, %z)
  }
}
)",
                               "cuda,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  const std::string ptx = ContentOf(*set, "cuda", "kernels.ptx");
  EXPECT_EQ(CountOf(".visible .entry ", ptx), 1);
  EXPECT_THAT(ptx, Not(HasSubstr(".extern")));
}

class CudaDriver : public testing_support::FakeDriverTest {
 protected:
  CudaDriver() : FakeDriverTest("libcuda.so.1") {}

  void SetUp() override {
    FakeDriverTest::SetUp();
    if (!HasFatalFailure()) run_(Run);
  }

  // Computes as the kernels of kMixed.
  static void Run(const char* kernel, size_t work_items,
                  void* const* arguments) {
    EXPECT_EQ(work_items, 512u);
    const auto* a = static_cast<const float*>(arguments[0]);
    const auto* b = static_cast<const float*>(arguments[1]);
    const bool is_exp = std::string(kernel) == "m_exp_0";
    auto* result = static_cast<float*>(arguments[is_exp ? 1 : 2]);
    for (int i = 0; i < 300; ++i) {
      result[i] = is_exp ? std::exp(a[i]) : std::fmax(0.0f, a[i] * b[i]);
    }
  }
};

Tensor Input() {
  Tensor x = *Tensor::Empty(DataType::Float(32), {3, 100});
  for (int i = 0; i < 300; ++i) x.mutable_data<float>()[i] = 0.01f * (i - 150);
  return x;
}

void ExpectMixed(const std::vector<Tensor>& results) {
  const Tensor x = Input();
  for (int row = 0; row < 3; ++row) {
    double sum = 0;
    for (int i = 100 * row; i < 100 * row + 100; ++i) {
      const double at = x.data<float>()[i];
      sum += std::exp(at);
      const double r = sum * std::exp(at);
      EXPECT_NEAR(results[0].data<float>()[i], r, 1e-5 * r);
      EXPECT_NEAR(results[1].data<float>()[i], std::tan(at),
                  1e-5 * (1 + std::fabs(std::tan(at))));
    }
  }
}

TEST_F(CudaDriver, GetsTheCallsOfTheModel) {
  const auto set = CompileText(kMixed, "cuda,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  const auto model = testing_support::StoreAndLoad(*set);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_STREQ(log_(), "load\n");
  const auto results = testing_support::RunModel(*model, {Input()});
  ASSERT_TRUE(results.ok()) << results.status();
  ExpectMixed(*results);
  EXPECT_STREQ(log_(),
               "to device 1200\n"
               "launch m_exp_0 2 x 256, 2 arguments\n"
               "to host 1200\n"
               "to device 1200\n"
               "launch m_fused_mul_relu_0 2 x 256, 3 arguments\n"
               "to host 1200\n");
}

// PTX goes through the driver's linker when what it makes is to be kept.
TEST_F(CudaDriver, CompilesOnce) {
  const auto set = CompileText(kProduct, "cuda");
  ASSERT_TRUE(set.ok()) << set.status();
  testing_support::KeptBuilds builds;
  testing_support::WorkOfLoading(*set, &builds);
  EXPECT_STREQ(log_(), "compile\nload\n");
  ASSERT_EQ(builds.kept().size(), 1u);
  EXPECT_THAT(std::string(builds.kept().begin()->second.content.view()),
              ::testing::StartsWith("ingot built code 2\n"
                                    "device Fake GPU\ndriver 12080\n"
                                    "of kernels.ptx "));
  EXPECT_EQ(testing_support::WorkOfLoading(*set, &builds).size(), 0u);
  EXPECT_STREQ(log_(), "load\n");
  testing_support::CheckThatBuildsAreKept(*set, "kernels.ptx");
  // A driver that has an error for its linker tells it.
  LoadOptions options;
  testing_support::KeptBuilds none;
  options.builds = &none;
  const auto broken = Load(WithFile(*set, "kernels.ptx", "ld.global.f32 x"),
                           testing_support::BuiltinLoaders(), options);
  EXPECT_EQ(broken.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(broken.status().message()),
              HasSubstr("Fake GPU's driver does not compile it: error (200): "
                        "line 1: no such thing"));
  EXPECT_EQ(none.kept().size(), 0u);
}

// Each executor queues its work by itself.
TEST_F(CudaDriver, HasAStreamForEachExecutor) {
  const auto set = CompileText(kMixed, "cuda,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  const auto model = testing_support::StoreAndLoad(*set);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(streams_(), 1);
  const auto one = CreateExecutor(*model), other = CreateExecutor(*model);
  ASSERT_TRUE(one.ok()) << one.status();
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_EQ(streams_(), 3);
}

// Calls that follow one another on the device.
constexpr char kChain[] = R"(
module {
  func @main(%x: f32[8, 300]) -> (%y) {
    %a = softmax(%x) {axis=1}
    %b = softmax(%a) {axis=1}
    %y = softmax(%b) {axis=1}
  }
}
)";

// The driver records in the second run what it did in the first, and does it as
// one from then on.
TEST_F(CudaDriver, RepeatsRunsAsGraphs) {
  run_(nullptr);
  const auto set = CompileText(kChain, "cuda");
  ASSERT_TRUE(set.ok()) << set.status();
  const auto model = testing_support::StoreAndLoad(*set);
  ASSERT_TRUE(model.ok()) << model.status();
  log_();
  const int held = held_();
  {
    auto executor = CreateExecutor(*model);
    ASSERT_TRUE(executor.ok()) << executor.status();
    const Tensor x = *Tensor::Empty(DataType::Float(32), {8, 300});
    for (int run = 0; run < 3; ++run) {
      const auto results = (*executor)->Run({x});
      ASSERT_TRUE(results.ok()) << results.status();
      const std::string log = log_();
      EXPECT_EQ(CountOf("launch m_softmax", log), 3) << log;
      EXPECT_EQ(CountOf("graph of 3\n", log), run == 0 ? 0 : 1) << log;
    }
    // An error in it is told as others are, and the next run is as any.
    fail_("kernel", 700);
    const auto failed = (*executor)->Run({x});
    EXPECT_THAT(std::string(failed.status().message()),
                HasSubstr("work on Fake GPU up to kernel m_softmax"));
    EXPECT_TRUE((*executor)->Run({x}).ok());
  }
  EXPECT_EQ(held_(), held);
}

// The executor queues call by call what a driver cannot record.
TEST_F(CudaDriver, RunsWithoutGraphsWhereThereAreNone) {
  run_(nullptr);
  const auto set = CompileText(kChain, "cuda");
  ASSERT_TRUE(set.ok()) << set.status();
  for (const char* function :
       {"cuStreamBeginCapture_v2", "cuGraphInstantiateWithFlags"}) {
    const auto model = testing_support::StoreAndLoad(*set);
    ASSERT_TRUE(model.ok()) << model.status();
    auto executor = CreateExecutor(*model);
    ASSERT_TRUE(executor.ok()) << executor.status();
    const Tensor x = *Tensor::Empty(DataType::Float(32), {8, 300});
    fail_(function, 801);
    for (int run = 0; run < 3; ++run) {
      log_();
      const auto results = (*executor)->Run({x});
      ASSERT_TRUE(results.ok()) << results.status();
      const std::string log = log_();
      EXPECT_EQ(CountOf("launch m_softmax", log), 3) << log;
      EXPECT_EQ(CountOf("graph", log), 0) << log;
    }
  }
}

TEST_F(CudaDriver, ServesManyThreads) {
  const auto set = CompileText(kMixed, "cuda,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  const auto model = testing_support::StoreAndLoad(*set);
  ASSERT_TRUE(model.ok()) << model.status();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      auto executor = CreateExecutor(*model);
      ASSERT_TRUE(executor.ok()) << executor.status();
      for (int run = 0; run < 20; ++run) {
        const auto results = (*executor)->Run({Input()});
        ASSERT_TRUE(results.ok()) << results.status();
        ExpectMixed(*results);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// After each of them the same executor runs.
TEST_F(CudaDriver, SaysWhichKernelFails) {
  const auto set = CompileText(kMixed, "cuda,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  const auto model = testing_support::StoreAndLoad(*set);
  ASSERT_TRUE(model.ok()) << model.status();
  auto executor = CreateExecutor(*model);
  ASSERT_TRUE(executor.ok()) << executor.status();
  ASSERT_TRUE((*executor)->Run({Input()}).ok());
  const auto expect = [&](const char* function, int code,
                          absl::StatusCode status, const char* message) {
    fail_(function, code);
    const auto failed = (*executor)->Run({Input()});
    EXPECT_EQ(failed.status().code(), status) << failed.status();
    EXPECT_THAT(std::string(failed.status().message()), HasSubstr(message));
    const auto results = (*executor)->Run({Input()});
    ASSERT_TRUE(results.ok()) << results.status();
    ExpectMixed(*results);
  };
  expect("cuLaunchKernel", 701, absl::StatusCode::kInternal,
         "kernel m_exp_0: launching: error (701)");
  // While the CPU went on.
  expect("kernel", 700, absl::StatusCode::kInternal,
         "work on Fake GPU up to kernel m_exp_0: an illegal memory access was "
         "encountered (700)");
  expect("cuStreamSynchronize", 700, absl::StatusCode::kInternal,
         "work on Fake GPU up to kernel m_fused_mul_relu_0: an illegal memory "
         "access was encountered (700)");
  expect("cuMemcpyDtoHAsync_v2", 1, absl::StatusCode::kInternal,
         "copying from the device: error (1)");
}

TEST_F(CudaDriver, HasOnlySoMuchMemory) {
  const auto set = CompileText(kMixed, "cuda,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  const auto model = testing_support::StoreAndLoad(*set);
  ASSERT_TRUE(model.ok()) << model.status();
  fail_("cuMemAlloc_v2", 2);
  const auto executor = CreateExecutor(*model);
  absl::Status status = executor.status();
  if (executor.ok()) status = (*executor)->Run({Input()}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("Fake GPU has no memory for "));
  const auto results = testing_support::RunModel(*model, {Input()});
  ASSERT_TRUE(results.ok()) << results.status();
  ExpectMixed(*results);
}

TEST_F(CudaDriver, SaysWhatItCannotLoad) {
  const auto set = CompileText(kMixed, "cuda,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  const auto expect = [&](const char* file, const char* content,
                          const char* message) {
    const auto model =
        testing_support::StoreAndLoad(WithFile(*set, file, content));
    EXPECT_EQ(model.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(model.status().message()), HasSubstr(message));
  };
  expect("kernels.ptx", "ld.global.f32 x",
         "loader cuda: cuda/cuda/kernels.ptx: Fake GPU does not load it: error "
         "(200): line 1: no such thing");
  expect("kernels.table", "function m_exp\nlaunch no_such_kernel 256 256\n",
         "loader cuda: cuda/cuda/kernels.table: there is no kernel "
         "'no_such_kernel': error (500)");
  // Whoever edits a table may take the wrong kernel.
  expect("kernels.table",
         "function m_exp\ninput f32 3 100\noutput f32 3 100\n"
         "launch m_fused_mul_relu_0 512 256\n",
         "loader cuda: cuda/cuda/kernels.table: kernel 'm_fused_mul_relu_0' "
         "does not take 2 arguments");
}

TEST_F(CudaDriver, WantsGroups) {
  const auto set = CompileText(kMixed, "cuda,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  const auto function = [&](const std::string& launch) {
    return WithFile(*set, "kernels.table",
                    "function m_exp\ninput f32 3 100\noutput f32 3 100\n"
                    "launch m_exp_0 " +
                        launch +
                        "\n"
                        "function m_fused_mul_relu\ninput f32 3 100\n"
                        "input f32 3 100\noutput f32 3 100\n");
  };
  for (const auto& [launch, message] :
       {std::pair("512", "kernel m_exp_0: its table says no size of groups"),
        std::pair("1099511627776 256",
                  "4294967296 groups are more than a GPU takes")}) {
    const auto model = testing_support::StoreAndLoad(function(launch));
    ASSERT_TRUE(model.ok()) << model.status();
    auto executor = CreateExecutor(*model);
    ASSERT_TRUE(executor.ok()) << executor.status();
    EXPECT_THAT(std::string((*executor)->Run({Input()}).status().message()),
                HasSubstr(message));
  }
}

}  // namespace
}  // namespace ingot
