// Models on the simulated device: on several devices, out of memory, and when
// the hardware fails. threads_test.cc runs one from many threads.
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "artifact/artifact_set.h"
#include "backends/example_npu/device.h"
#include "backends/testing/run_model.h"
#include "backends/testing/run_regions.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "loaders/load.h"
#include "loaders/native/linker.h"

namespace ingot::example_npu {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_support::BuiltinLoaders;
using testing_support::CompileRelay;

// Two products, the second for the target `second`, with work of the host
// between them.
std::string TwoProducts(const std::string& second) {
  return R"(
module {
  func @main(%x: i8[2, 3]) -> (%y) {
    %w = const i8[3, 2] {1, -2, 3, 4, -5, 6}
    %p = matmul(%x, %w) {out_dtype=i32}
    %f = cast(%p) {dtype=f32}
    %one = const f32[] {1}
    %none = const i8[] {0}
    %q = quantize(%f, %one, %none) {dtype=i8}
    %v = const i8[2, 2] {2, 0, 1, -1}
    %y = matmul(%q, %v) {out_dtype=i32, target=")" +
         second + R"("}
  }
}
)";
}

// {1, 2, 3}, {4, 5, 6}.
Tensor Input() {
  Tensor x = *Tensor::Empty(DataType::Int(8), {2, 3});
  for (int i = 0; i < 6; ++i) {
    x.mutable_data<int8_t>()[i] = static_cast<int8_t>(i + 1);
  }
  return x;
}

// Their products with w are {-8, 24}, {-11, 48}; these, with v.
std::vector<int32_t> Result() { return {2 * -8 + 24, -24, 2 * -11 + 48, -48}; }

LoadOptions Linking() {
  LoadOptions options;
  options.link = [](const ArtifactSet& set) {
    return LinkCached(set, nullptr);
  };
  return options;
}

class OnNpuTest : public ::testing::Test {
 protected:
  OnNpuTest() { UseDevice(NpuDevice::kMemoryBytes); }

  void UseDevice(size_t memory) {
    open_ = NpuDevice::Open(memory);
    device_ = static_cast<NpuDevice*>(open_.api.get());
  }

  // The model with both products on the device.
  LoadedModel LoadIt() {
    const auto set = CompileRelay("npu: example_npu,llvm", TwoProducts("npu"));
    EXPECT_TRUE(set.ok()) << set.status();
    LoadOptions options = Linking();
    options.devices["npu"] = open_;
    auto model = Load(*set, BuiltinLoaders(), options);
    EXPECT_TRUE(model.ok()) << model.status();
    return *std::move(model);
  }

  // The error of a run; empty, with its results right, if there is none.
  static std::string Run(GraphExecutor* executor) {
    const auto results = executor->Run({Input()});
    if (!results.ok()) return std::string(results.status().message());
    return (*results)[0].values<int32_t>() == Result() ? ""
                                                       : "the result is wrong";
  }

  // Makes the device fail at work of this name, the next time.
  void FailOnce(const std::string& failing) {
    auto failed = std::make_shared<std::atomic<bool>>(false);
    device_->InjectFault([failed, failing](absl::string_view work) {
      return work == failing && !failed->exchange(true)
                 ? absl::DataLossError("it overheats")
                 : absl::OkStatus();
    });
  }

  OpenDevice open_;
  NpuDevice* device_ = nullptr;
};

TEST_F(OnNpuTest, CopiesAreThoseOfTheCut) {
  const LoadedModel model = LoadIt();
  int copies = 0;
  for (const PlanCall& call : model.plan->calls()) copies += call.has_copy();
  EXPECT_EQ(copies, 4) << "x there, p back, q there, y back";
  auto executor = CreateExecutor(model);
  ASSERT_TRUE(executor.ok()) << executor.status();
  EXPECT_EQ(device_->copies_from_cpu(), 2) << "the weights";
  for (int run = 1; run <= 3; ++run) {
    EXPECT_EQ(Run(executor->get()), "");
    EXPECT_EQ(device_->copies_from_cpu(), 2 + 2 * run);
    EXPECT_EQ(device_->copies_to_cpu(), 2 * run);
  }
  executor->reset();
  EXPECT_EQ(device_->memory().bytes_in_use(), 0u);
}

TEST_F(OnNpuTest, EachKeyHasItsDevice) {
  const auto set = CompileRelay("npu: example_npu,other: example_npu,llvm",
                                TwoProducts("other"));
  ASSERT_TRUE(set.ok()) << set.status();
  const OpenDevice other = NpuDevice::Open();
  LoadOptions options = Linking();
  options.devices = {{"npu", open_}, {"other", other}};
  const auto model = Load(*set, BuiltinLoaders(), options);
  ASSERT_TRUE(model.ok()) << model.status();
  auto executor = CreateExecutor(*model);
  ASSERT_TRUE(executor.ok()) << executor.status();
  EXPECT_EQ(Run(executor->get()), "");
  for (const OpenDevice& device : {open_, other}) {
    const auto& npu = static_cast<const NpuDevice&>(*device.api);
    EXPECT_EQ(npu.copies_from_cpu(), 2) << "weights, and what is multiplied";
    EXPECT_EQ(npu.copies_to_cpu(), 1);
  }
  // Devices that nobody brings are opened, one for each key.
  const auto opened = Load(*set, BuiltinLoaders(), Linking());
  ASSERT_TRUE(opened.ok()) << opened.status();
  ASSERT_EQ(opened->devices.size(), 3u);
  EXPECT_NE(opened->devices[1].api, opened->devices[2].api);
}

TEST_F(OnNpuTest, AFaultNamesTheCommandAndTheExecutorGoesOn) {
  const LoadedModel model = LoadIt();
  auto executor = CreateExecutor(model);
  ASSERT_TRUE(executor.ok()) << executor.status();
  for (const std::string stream : {"test_npu_0.npu", "test_npu_1.npu"}) {
    FailOnce("npu/example_npu/" + stream + ": command 0");
    EXPECT_THAT(Run(executor->get()), HasSubstr("npu/example_npu/" + stream +
                                                ": command 0: it overheats"));
    EXPECT_EQ(Run(executor->get()), "");
  }
  for (const char* copy : {"copy to the device", "copy to the CPU"}) {
    FailOnce(copy);
    EXPECT_THAT(Run(executor->get()), HasSubstr("it overheats")) << copy;
    EXPECT_EQ(Run(executor->get()), "") << copy;
  }
}

TEST_F(OnNpuTest, MemoryThatRunsOutIsAnErrorOfItsExecutor) {
  UseDevice(512);
  const LoadedModel model = LoadIt();
  auto first = CreateExecutor(model);
  ASSERT_TRUE(first.ok()) << first.status();
  std::vector<std::unique_ptr<GraphExecutor>> others;
  absl::Status full;
  while (full.ok()) {
    auto another = CreateExecutor(model);
    full = another.status();
    if (full.ok()) others.push_back(*std::move(another));
    ASSERT_LT(others.size(), 100u);
  }
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(full.message()),
              HasSubstr("example_npu has no memory for"));
  EXPECT_EQ(Run(first->get()), "");
  others.clear();
  EXPECT_TRUE(CreateExecutor(model).ok());
}

// Two products in a row have memory between them, which a launch asks for.
TEST_F(OnNpuTest, ALaunchWithoutMemoryIsAnErrorAndTheExecutorGoesOn) {
  UseDevice(1 << 20);
  const auto set = CompileRelay("npu: example_npu,llvm", R"(
module {
  func @main(%x: i8[2, 3]) -> (%y) {
    %w = const i8[3, 2] {1, -2, 3, 4, -5, 6}
    %p = matmul(%x, %w) {out_dtype=i32}
    %f = cast(%p) {dtype=f32}
    %scale = const f32[1, 2] {0.5, 1}
    %r = mul(%f, %scale)
    %step = const f32[] {0.5}
    %none = const i8[] {0}
    %q = quantize(%r, %step, %none) {dtype=i8}
    %v = const i8[2, 2] {2, 0, 1, -1}
    %y = matmul(%q, %v) {out_dtype=i32}
  }
}
)");
  ASSERT_TRUE(set.ok()) << set.status();
  LoadOptions options = Linking();
  options.devices["npu"] = open_;
  const auto model = Load(*set, BuiltinLoaders(), options);
  ASSERT_TRUE(model.ok()) << model.status();
  auto executor = CreateExecutor(*model);
  ASSERT_TRUE(executor.ok()) << executor.status();
  const size_t rest = (1 << 20) - device_->memory().bytes_in_use();
  void* const taken = *device_->Allocate(open_.device, rest, 64);
  auto results = (*executor)->Run({Input()});
  EXPECT_EQ(results.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(results.status().message()),
              AllOf(HasSubstr("npu/example_npu/test_npu_0.npu"),
                    HasSubstr("has no memory for 16 bytes")));
  device_->Free(open_.device, taken);
  results = (*executor)->Run({Input()});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_THAT((*results)[0].values<int32_t>(),
              ElementsAre(2 * -8 + 48, -48, 2 * -11 + 96, -96));
}

// A function that no executor calls works on the device's own queue, and the
// device's own copies wait for it.
TEST_F(OnNpuTest, FunctionsCanBeCalledByThemselves) {
  const LoadedModel model = LoadIt();
  const auto function = model.host->Find("test_npu_0");
  ASSERT_TRUE(function.ok()) << function.status();
  const auto on_npu = [this](DataType type, std::vector<int64_t> shape) {
    return *Tensor::Empty(type, shape, open_.device, open_.api);
  };
  Tensor x = on_npu(DataType::Int(8), {2, 3});
  Tensor w = on_npu(DataType::Int(8), {3, 2});
  Tensor y = on_npu(DataType::Int(32), {2, 2});
  const int8_t ones[] = {1, 1, 1, 1, 1, 1};
  for (const Tensor& t : {x, w}) {
    ASSERT_TRUE(
        open_.api->CopyFromCpu(open_.device, t.dl()->data, ones, 6).ok());
  }
  DLTensor* const arguments[] = {x.dl(), w.dl(), y.dl()};
  ASSERT_EQ(function->Call(arguments), absl::OkStatus());
  int32_t sums[4];
  ASSERT_TRUE(open_.api->CopyToCpu(open_.device, sums, y.dl()->data, 16).ok());
  EXPECT_THAT(sums, ElementsAre(3, 3, 3, 3));
  // Tensors of the CPU are none of the device's.
  Tensor cpu = Input();
  DLTensor* const wrong[] = {cpu.dl(), w.dl(), y.dl()};
  EXPECT_THAT(std::string(function->Call(wrong).message()),
              HasSubstr("argument 0 must be i8[2, 3]"));
}

}  // namespace
}  // namespace ingot::example_npu
