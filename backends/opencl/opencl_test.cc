// Models on a device of OpenCL, from relay text to results. Without a driver,
// such as Debian's pocl-opencl-icd, what needs one is skipped.
#include <cmath>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "backends/opencl/device.h"
#include "backends/testing/run_model.h"
#include "compiler/driver/compile.h"
#include "compiler/relay/ops/register_all.h"
#include "compiler/relay/parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "loaders/load.h"
#include "runtime/far_device.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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

absl::StatusOr<ArtifactSet> Compile(const char* text,
                                    const std::string& targets) {
  auto module = relay::ReadModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  CompileOptions options;
  auto list = ParseTargets(targets);
  EXPECT_TRUE(list.ok()) << list.status();
  options.targets = *list;
  options.target_text = targets;
  return CompileModule(module->get(), "m", "",
                       testing_support::BuiltinTargets(), options);
}

std::string ContentOf(const ArtifactSet& set, const char* file) {
  const Artifact* artifact = set.Find("opencl", "opencl", file);
  EXPECT_NE(artifact, nullptr) << file;
  return artifact == nullptr ? "" : std::string(artifact->content.view());
}

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
  const auto set = Compile(kMixed, "opencl,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_THAT(ContentOf(*set, "kernels.cl"), HasSubstr(R"(
/* m_exp */
__kernel void m_exp_0(
    __global const float* restrict x,
    __global float* restrict exp_1) {
)"));
  EXPECT_THAT(ContentOf(*set, "kernels.table"), HasSubstr(R"(
function m_fused_mul_relu
  input f32 4 8
  input f32 4 8
  output f32 4 8
  launch m_fused_mul_relu_0 32
)"));
}

TEST(OpenClCode, TakesNoSymbolsAndNoHalfFloats) {
  const auto set = Compile(R"(
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

class OpenClDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto device = opencl::ClDevice::Open();
    if (!device.ok()) GTEST_SKIP() << device.status().message();
  }
};

TEST_F(OpenClDevice, RunsItsPartOfAModelWithTheCopiesOfTheCut) {
  const auto set = Compile(kMixed, "opencl,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  const auto model = testing_support::StoreAndLoad(*set);
  ASSERT_TRUE(model.ok()) << model.status();
  // x there; e, for cumsum, back; s there; r back.
  int copies = 0;
  for (const PlanCall& call : model->plan.calls()) copies += call.has_copy();
  EXPECT_EQ(copies, 4);
  const auto results = testing_support::RunModel(*model, {Input()});
  ASSERT_TRUE(results.ok()) << results.status();
  ExpectMixed(*results);
}

TEST_F(OpenClDevice, RunsWithoutAHost) {
  const auto set = Compile(R"(
module {
  func @main(%x: f32[4, 8]) -> (%y) {
    %y = tanh(%x)
  }
}
)",
                           "opencl");
  ASSERT_TRUE(set.ok()) << set.status();
  const auto model = testing_support::StoreAndLoad(*set);
  ASSERT_TRUE(model.ok()) << model.status();
  const auto results = testing_support::RunModel(*model, {Input()});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_NEAR((*results)[0].data<float>()[31], std::tanh(1.5), 1e-6);
}

TEST_F(OpenClDevice, ServesManyThreads) {
  const auto set = Compile(kMixed, "opencl,llvm");
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

// The set with another text in the place of one of its files.
ArtifactSet WithFile(const ArtifactSet& set, const char* file,
                     const std::string& content) {
  ArtifactSet changed;
  changed.mutable_provenance() = set.provenance();
  for (Artifact artifact : set.artifacts()) {
    if (artifact.file_name == file) {
      artifact.content = Blob::FromString(content);
    }
    EXPECT_TRUE(changed.Add(std::move(artifact)).ok());
  }
  return changed;
}

TEST_F(OpenClDevice, SaysWhatItCannotLoad) {
  const auto set = Compile(kMixed, "opencl,llvm");
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
  const auto set = Compile(kMixed, "opencl,llvm");
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
  const auto set = Compile(kMixed, "opencl,llvm");
  ASSERT_TRUE(set.ok()) << set.status();
  LoadOptions options;
  options.devices["opencl"] = FarDevice::Open(std::make_shared<FarDevice>());
  options.link = [](const ArtifactSet&) -> absl::StatusOr<std::string> {
    return absl::UnimplementedError("nothing is linked here");
  };
  const auto alone = Compile(R"(
module {
  func @main(%x: f32[4, 8]) -> (%y) {
    %y = tanh(%x)
  }
}
)",
                             "opencl");
  ASSERT_TRUE(alone.ok()) << alone.status();
  const auto model = Load(*alone, testing_support::BuiltinLoaders(), options);
  EXPECT_EQ(model.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(model.status().message()),
              HasSubstr("kernels of OpenCL are to run on"));
}

}  // namespace
}  // namespace ingot
