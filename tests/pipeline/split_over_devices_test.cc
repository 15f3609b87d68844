// One model on three devices: `opencl`, `example_npu` and the CPU. Its copies
// are those of its cut, in the plan and at run time, and its results the CPU's.
// Without a driver of OpenCL, what needs one is skipped.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/example_npu/device.h"
#include "backends/testing/run_model.h"
#include "compiler/driver/compile.h"
#include "compiler/relay/parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "loaders/load.h"
#include "loaders/native/linker.h"
#include "runtime/executor/profiler.h"

namespace ingot {
namespace {

using example_npu::NpuDevice;

// opencl refuses cumsum, whose elements are made one after the other; the npu
// takes products of bytes. What is rounded to bytes is exact, so that devices
// cannot differ by a step.
constexpr char kModel[] = R"(
module {
  func @main(%x: f32[4, 8]) -> (%y, %last) {
    %half = const f32[] {0.5}
    %a = mul(%x, %half)
    %s = cumsum(%a) {axis=1}
    %step = const f32[] {0.125}
    %zero = const i8[] {3}
    %q = quantize(%s, %step, %zero) {dtype=i8}
    %w = const i8[8, 6] random(5)
    %p = matmul(%q, %w) {out_dtype=i32}
    %f = cast(%p) {dtype=f32}
    %small = const f32[] {0.001}
    %g = mul(%f, %small)
    %t = tanh(%g)
    %c = cumsum(%g) {axis=0}
    %y = add(%t, %c)
    %coarse = const f32[] {1024}
    %b = quantize(%f, %coarse, %zero) {dtype=i8}
    %v = const i8[6, 2] random(6)
    %last = matmul(%b, %v) {out_dtype=i32}
  }
}
)";

absl::StatusOr<LoadedModel> CompileAndLoad(const std::string& targets,
                                           const OpenDevice& npu) {
  auto module = relay::ReadModule(kModel);
  if (!module.ok()) return module.status();
  CompileOptions options;
  auto list = ParseTargets(targets);
  if (!list.ok()) return list.status();
  options.targets = *list;
  options.target_text = targets;
  const auto set = CompileModule(module->get(), "m", "",
                                 testing_support::BuiltinTargets(), options);
  if (!set.ok()) return set.status();
  LoadOptions load;
  load.link = [](const ArtifactSet& s) { return LinkCached(s, nullptr); };
  load.devices["npu"] = npu;
  return Load(*set, testing_support::BuiltinLoaders(), load);
}

// The plan's copies, "from -> to", by the keys of the devices.
std::vector<std::string> CopiesOf(const Plan& plan) {
  std::vector<std::string> copies;
  for (const PlanCall& call : plan.calls()) {
    if (!call.has_copy()) continue;
    const auto& key =
        plan.devices(static_cast<int>(call.device())).target_key();
    const PlanTensor& to = plan.tensors(static_cast<int>(call.args(1)));
    const bool back =
        plan.storage(static_cast<int>(to.storage())).device() == 0;
    copies.push_back(absl::StrCat(
        plan.tensors(static_cast<int>(call.args(0))).name(),
        back ? absl::StrCat(" from ", key) : absl::StrCat(" to ", key)));
  }
  return copies;
}

Tensor Input(int seed) {
  Tensor x = *Tensor::Empty(DataType::Float(32), {4, 8});
  for (int i = 0; i < 32; ++i) {
    x.mutable_data<float>()[i] =
        0.25f * static_cast<float>((i * 7 + seed * 5) % 13 - 6);
  }
  return x;
}

void ExpectEqual(const std::vector<Tensor>& results,
                 const std::vector<Tensor>& expected) {
  ASSERT_EQ(results.size(), 2u);
  for (int64_t i = 0; i < expected[0].NumElements(); ++i) {
    const float e = expected[0].data<float>()[i];
    EXPECT_NEAR(results[0].data<float>()[i], e, 1e-5f * (1 + std::fabs(e)));
  }
  EXPECT_EQ(results[1].values<int32_t>(), expected[1].values<int32_t>());
}

// Runs the model in eight threads, ten times each, and compares with the CPU.
// Counts what was copied.
void ExpectAsOnTheCpu(const std::string& targets,
                      const std::vector<std::string>& copies) {
  const OpenDevice npu = NpuDevice::Open();
  const auto model = CompileAndLoad(targets, npu);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT(CopiesOf(*model->plan),
              ::testing::UnorderedElementsAreArray(copies));
  const auto cpu = CompileAndLoad("llvm", npu);
  ASSERT_TRUE(cpu.ok()) << cpu.status();

  constexpr int kThreads = 8, kRuns = 10;
  std::vector<std::thread> threads;
  const auto& counts = static_cast<const NpuDevice&>(*npu.api);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      auto executor = CreateExecutor(*model), on_cpu = CreateExecutor(*cpu);
      ASSERT_TRUE(executor.ok()) << executor.status();
      ASSERT_TRUE(on_cpu.ok()) << on_cpu.status();
      for (int run = 0; run < kRuns; ++run) {
        const auto results = (*executor)->Run({Input(t + run)});
        ASSERT_TRUE(results.ok()) << results.status();
        const auto expected = (*on_cpu)->Run({Input(t + run)});
        ASSERT_TRUE(expected.ok()) << expected.status();
        ExpectEqual(*results, *expected);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  // Beside them, each executor copied the weights of both products once.
  const auto of_npu = [&](const char* way) {
    return std::count_if(
        copies.begin(), copies.end(),
        [&](const std::string& c) { return c.find(way) != std::string::npos; });
  };
  EXPECT_EQ(counts.copies_from_cpu(),
            kThreads * (2 + kRuns * of_npu(" to npu")));
  EXPECT_EQ(counts.copies_to_cpu(), kThreads * kRuns * of_npu(" from npu"));

  // The profiler counts the steps of a run on the other devices.
  Profiler profiler;
  ExecutorOptions options;
  options.profiler = &profiler;
  auto executor = CreateExecutor(*model, options);
  ASSERT_TRUE(executor.ok()) << executor.status();
  ASSERT_TRUE((*executor)->Run({Input(0)}).ok());
  const std::vector<Profiler::Event> events = profiler.Events();
  EXPECT_EQ(
      std::count_if(events.begin(), events.end(),
                    [](const Profiler::Event& e) { return e.name == "copy"; }),
      static_cast<int>(copies.size()));
}

TEST(SplitOverDevices, NpuAndCpu) {
  ExpectAsOnTheCpu("npu: example_npu,llvm", {"q to npu", "npu_0 from npu",
                                             "b to npu", "npu_1.npu from npu"});
}

TEST(SplitOverDevices, OpenclNpuAndCpu) {
  const auto open = testing_support::BuiltinLoaders().FindDevice("opencl");
  ASSERT_TRUE(open.ok()) << open.status();
  if (const auto device = (**open)(); !device.ok()) {
    GTEST_SKIP() << device.status().message();
  }
  // Each value that crosses, once for each place: from one device to the other
  // through the CPU.
  ExpectAsOnTheCpu(
      "npu: example_npu,opencl,llvm",
      {"x to opencl", "a from opencl", "s to opencl", "q from opencl",
       "q.cpu to npu", "npu_0 from npu", "npu_0.cpu to opencl", "g from opencl",
       "c to opencl", "y.opencl from opencl", "b from opencl", "b.cpu to npu",
       "npu_1.npu from npu"});
}

}  // namespace
}  // namespace ingot
