// Models on a device of OpenCL, from relay text to results. Without a driver,
// such as Debian's pocl-opencl-icd, what needs one is skipped.
#include <cmath>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/device/testing/device_sets.h"
#include "backends/opencl/device.h"
#include "backends/testing/run_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "loaders/load.h"
#include "runtime/device_stream.h"
#include "runtime/far_device.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;
using testing_support::CompileText;
using testing_support::ContentOf;
using testing_support::kProduct;
using testing_support::WithFile;

// cumsum runs one element after the other, which the device refuses.
constexpr char kMixed[] = R"(
module {
  func @main(%x: f32[4, 8]) -> (%r, %s) {
    %e = exp(%x)
    %s = cumsum(%e) {axis=1}
    %p = mul(%s, %e)
    %r = relu(%p)
  }
}
)";

constexpr char kTanh[] = R"(
module {
  func @main(%x: f32[4, 8]) -> (%y) {
    %y = tanh(%x)
  }
}
)";

Tensor Input() {
  Tensor x = *Tensor::Empty(DataType::Float(32), {4, 8});
  for (int i = 0; i < 32; ++i) x.mutable_data<float>()[i] = 0.1f * (i - 16);
  return x;
}

void ExpectMixed(const std::vector<Tensor>& results) {
  const Tensor x = Input();
  for (int row = 0; row < 4; ++row) {
    double sum = 0;
    for (int i = 8 * row; i < 8 * row + 8; ++i) {
      const double e = std::exp(static_cast<double>(x.data<float>()[i]));
      sum += e;
      EXPECT_NEAR(results[0].data<float>()[i], sum * e, 1e-5 * sum * e);
      EXPECT_NEAR(results[1].data<float>()[i], sum, 1e-5 * sum);
    }
  }
}

TEST(OpenClCode, IsASourceAndATable) {
  const auto set = CompileText(kMixed, "opencl,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_THAT(ContentOf(*set, "opencl", "kernels.cl"), HasSubstr(R"(
/* m_exp */
__kernel void m_exp_0(
    __global const float* restrict x,
    __global float* restrict exp_1) {
)"));
  EXPECT_THAT(ContentOf(*set, "opencl", "kernels.table"), HasSubstr(R"(
function m_fused_mul_relu
  input f32 4 8
  input f32 4 8
  output f32 4 8
  launch m_fused_mul_relu_0 32
)"));
}

TEST(OpenClCode, OfProductsSharesTiles) {
  const auto set = CompileText(kProduct, "opencl,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_THAT(ContentOf(*set, "opencl", "kernels.cl"),
              HasSubstr("__local float x_tile[1088];"));
  EXPECT_THAT(ContentOf(*set, "opencl", "kernels.table"),
              HasSubstr("  launch m_fused_matmul_relu_0 65536 256\n"));
}

TEST(OpenClCode, TakesNoSymbolsAndNoHalfFloats) {
  const auto set = CompileText(R"(
module {
  func @main(%x: f32[N], %y: f16[4]) -> (%a, %b) {
    %a = exp(%x)
    %b = exp(%y)
  }
}
)",
                               "opencl,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_EQ(set->Find("opencl", "opencl", "kernels.cl"), nullptr);
}

TEST(OpenClCode, LeavesKernelsOfTooManyArgumentsToTheHost) {
  const auto has_code = [](int tensors) {
    const auto set =
        CompileText(testing_support::ConcatOf(tensors), "opencl,llvm");
    EXPECT_TRUE(set.ok()) << set.status();
    return set.ok() && set->Find("opencl", "opencl", "kernels.cl") != nullptr;
  };
  EXPECT_TRUE(has_code(99));
  EXPECT_FALSE(has_code(100));
}

class OpenClDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto device = opencl::ClDevice::Open();
    if (!device.ok()) GTEST_SKIP() << device.status().message();
  }
};

TEST_F(OpenClDevice, RunsItsPartOfAModelWithTheCopiesOfTheCut) {
  const auto set = CompileText(kMixed, "opencl,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  const auto model = testing_support::StoreAndLoad(*set);
  ASSERT_TRUE(model.ok()) << model.status();
  // x there; e, for cumsum, back; s there; r back.
  int copies = 0;
  for (const PlanCall& call : model->plan->calls()) copies += call.has_copy();
  EXPECT_EQ(copies, 4);
  const auto results = testing_support::RunModel(*model, {Input()});
  ASSERT_TRUE(results.ok()) << results.status();
  ExpectMixed(*results);
}

// Names of tensors are a model's; OpenCL has functions, words and macros that
// are called so. The first kernel is of items, the others of blocks.
TEST_F(OpenClDevice, TakesTensorsThatAreCalledAsOpenClsWords) {
  const std::vector<std::string> names = {
      "barrier",   "get_group_id", "get_local_id",        "get_global_id",
      "read_only", "write_only",   "read_write",          "M_PI",
      "_Bool",     "cl_khr_fp64",  "CLK_LOCAL_MEM_FENCE", "FLT_EPSILON"};
  std::string inputs, sums, sum = "%barrier";
  for (const std::string& name : names) {
    absl::StrAppend(&inputs, ", %", name, ": f32[3, 300]");
    absl::StrAppend(&sums, "%s", name, " = add(", sum, ", %", name, ")\n");
    sum = absl::StrCat("%s", name);
  }
  const auto set = CompileText(
      absl::StrCat("module { func @main(%x: f32[3, 300]", inputs,
                   ") -> (%y, %a, %b, %c) {\n", sums, "%y = mul(%x, ", sum, R"()
    %a = softmax(%barrier) {axis=1}
    %b = softmax(%get_group_id) {axis=1}
    %c = softmax(%get_local_id) {axis=1}
  }
})"),
      "opencl");
  ASSERT_TRUE(set.ok()) << set.status();
  const auto model = testing_support::StoreAndLoad(*set);
  EXPECT_TRUE(model.ok()) << model.status();
}

TEST_F(OpenClDevice, TakesTensorsThatAreCalledAsFunctionsThatItCalls) {
  const auto set = CompileText(R"(
module {
  func @main(%fabs: f32[4, 8], %rintf: f32[4, 8]) -> (%a, %b) {
    %a = abs(%fabs)
    %b = round(%rintf)
  }
}
)",
                               "opencl");
  ASSERT_TRUE(set.ok()) << set.status();
  const auto model = testing_support::StoreAndLoad(*set);
  EXPECT_TRUE(model.ok()) << model.status();
}

TEST_F(OpenClDevice, RunsTilesOfProducts) {
  const auto set = CompileText(kProduct, "opencl");
  ASSERT_TRUE(set.ok()) << set.status();
  const auto model = testing_support::StoreAndLoad(*set);
  ASSERT_TRUE(model.ok()) << model.status();
  Tensor x = *Tensor::Empty(DataType::Float(32), {1024, 128});
  Tensor w = *Tensor::Empty(DataType::Float(32), {128, 1024});
  for (int64_t i = 0; i < x.NumElements(); ++i) {
    x.mutable_data<float>()[i] = static_cast<float>(i * 7 % 23 - 11);
    w.mutable_data<float>()[i] = static_cast<float>(i * 5 % 19 - 9);
  }
  const auto results = testing_support::RunModel(*model, {x, w});
  ASSERT_TRUE(results.ok()) << results.status();
  for (int64_t row = 0; row < 1024; ++row) {
    for (int64_t column = 0; column < 1024; ++column) {
      float sum = 0;  // of integers: exact
      for (int64_t k = 0; k < 128; ++k) {
        sum +=
            x.data<float>()[row * 128 + k] * w.data<float>()[k * 1024 + column];
      }
      ASSERT_EQ((*results)[0].data<float>()[row * 1024 + column],
                std::fmax(sum, 0.0f))
          << row << " " << column;
    }
  }
}

// An executor's queue begins by itself and meets those of others.
TEST_F(OpenClDevice, HasStreamsThatWaitForEachOther) {
  auto on = opencl::ClDevice::Open();
  ASSERT_TRUE(on.ok()) << on.status();
  void* const memory = *on->api->Allocate(on->device, 1 << 20, 64);
  const std::string written(1 << 20, 'x');
  std::string back(1 << 20, ' ');
  {
    const auto one = OpenStream(*on), other = OpenStream(*on);
    ASSERT_TRUE(one.ok()) << one.status();
    ASSERT_TRUE(other.ok()) << other.status();
    ASSERT_TRUE(
        (*one)->CopyFromCpu(memory, written.data(), written.size()).ok());
    const auto event = (*one)->Record();
    ASSERT_TRUE(event.ok()) << event.status();
    ASSERT_TRUE((*other)->WaitFor(*event).ok());
    ASSERT_TRUE((*other)->CopyToCpu(back.data(), memory, back.size()).ok());
    ASSERT_TRUE((*other)->Synchronize().ok());
    EXPECT_EQ(back, written);
    EXPECT_TRUE((*event)->Wait().ok());
  }
  on->api->Free(on->device, memory);
}

bool finished = false;

// Memory is freed after the wait, so there must be one even where the queue
// cannot say how the work ended.
TEST_F(OpenClDevice, SynchronizingWaitsWhateverFails) {
  auto on = opencl::ClDevice::Open();
  ASSERT_TRUE(on.ok()) << on.status();
  const auto stream = OpenStream(*on);
  ASSERT_TRUE(stream.ok()) << stream.status();
  auto* const driver = const_cast<opencl::Driver*>(*opencl::Driver::Open());
  const opencl::Driver real = *driver;
  driver->EnqueueMarkerWithWaitList = [](cl_command_queue, cl_uint,
                                         const cl_event*, cl_event*) -> cl_int {
    return CL_OUT_OF_HOST_MEMORY;
  };
  driver->Finish = [](cl_command_queue) -> cl_int {
    finished = true;
    return CL_SUCCESS;
  };
  EXPECT_EQ((*stream)->Synchronize().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(finished);
  *driver = real;
}

TEST_F(OpenClDevice, RunsWithoutAHost) {
  const auto set = CompileText(kTanh, "opencl");
  ASSERT_TRUE(set.ok()) << set.status();
  const auto model = testing_support::StoreAndLoad(*set);
  ASSERT_TRUE(model.ok()) << model.status();
  const auto results = testing_support::RunModel(*model, {Input()});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_NEAR((*results)[0].data<float>()[31], std::tanh(1.5), 1e-6);
}

TEST_F(OpenClDevice, ServesManyThreads) {
  const auto set = CompileText(kMixed, "opencl,llvm");
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

TEST_F(OpenClDevice, CompilesOnce) {
  const auto set = CompileText(kProduct, "opencl");
  ASSERT_TRUE(set.ok()) << set.status();
  testing_support::CheckThatBuildsAreKept(*set, "kernels.cl");
}

// The same numbers come of what the driver compiled before.
TEST_F(OpenClDevice, RunsWhatItCompiledBefore) {
  auto set = CompileText(kTanh, "opencl");
  ASSERT_TRUE(set.ok()) << set.status();
  testing_support::KeptBuilds builds;
  testing_support::WorkOfLoading(*set, &builds);
  ASSERT_EQ(builds.kept().size(), 1u);
  ASSERT_TRUE(set->Add(builds.kept().begin()->second).ok());
  const auto model = testing_support::StoreAndLoad(*set);
  ASSERT_TRUE(model.ok()) << model.status();
  const auto results = testing_support::RunModel(*model, {Input()});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_NEAR((*results)[0].data<float>()[31], std::tanh(1.5), 1e-6);
}

TEST_F(OpenClDevice, SaysWhatItCannotLoad) {
  const auto set = CompileText(kMixed, "opencl,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  auto broken = testing_support::StoreAndLoad(
      WithFile(*set, "kernels.cl", "__kernel void f() { x = 1; }"));
  EXPECT_EQ(broken.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(broken.status().message()),
              HasSubstr("loader opencl: opencl/opencl/kernels.cl: "));
  broken = testing_support::StoreAndLoad(WithFile(
      *set, "kernels.table", "function m_exp\nlaunch no_such_kernel 1\n"));
  EXPECT_THAT(std::string(broken.status().message()),
              HasSubstr("there is no kernel 'no_such_kernel'"));
}

TEST_F(OpenClDevice, ArgumentsMustBeOnIt) {
  const auto set = CompileText(kMixed, "opencl,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  const auto model = testing_support::StoreAndLoad(*set);
  ASSERT_TRUE(model.ok()) << model.status();
  const auto function = model->host->Find("m_exp");
  ASSERT_TRUE(function.ok()) << function.status();
  Tensor x = Input(), y = Input();
  DLTensor* const arguments[] = {x.dl(), y.dl()};
  const absl::Status called = function->Call(arguments);
  EXPECT_THAT(std::string(called.message()),
              HasSubstr("argument 0 must be a dense opencl:0 tensor"));
}

TEST(OpenClLoad, WantsADeviceOfItsKind) {
  const auto set = CompileText(kMixed, "opencl,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  LoadOptions options;
  options.devices["opencl"] = FarDevice::Open(std::make_shared<FarDevice>());
  options.link = [](const ArtifactSet&) -> absl::StatusOr<std::string> {
    return absl::UnimplementedError("nothing is linked here");
  };
  const auto alone = CompileText(kTanh, "opencl");
  ASSERT_TRUE(alone.ok()) << alone.status();
  const auto model = Load(*alone, testing_support::BuiltinLoaders(), options);
  EXPECT_EQ(model.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(model.status().message()),
              HasSubstr("kernels of OpenCL are to run on"));
}

}  // namespace
}  // namespace ingot
