// Executors on one device in many threads, some of whose work fails.
#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "artifact/artifact_set.h"
#include "backends/example_npu/device.h"
#include "backends/example_npu/loader.h"
#include "backends/example_npu/stream.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "loaders/loader_registry.h"
#include "runtime/executor/executor.h"
#include "runtime/function.h"
#include "runtime/module.h"
#include "runtime/plan/check.h"
#include "runtime/plan/phases.h"
#include "runtime/plan/shared_plan.h"
#include "runtime/tensor.h"

namespace ingot::example_npu {
namespace {

using ::testing::HasSubstr;

// y = x w, twice, with y of the first product on the CPU between.
constexpr char kPlan[] = R"(
  devices { kind: 'cpu' } devices { kind: 'example_npu' target_key: 'npu' }
  types { dtype { code: 0 bits: 8 } shape { value: 2 } shape { value: 2 } } tensors { name: 'x' type: 0  
             input: 0 }
  types { dtype { code: 0 bits: 8 } shape { value: 2 } shape { value: 2 } } tensors { name: 'w' type: 1  
             constant: 'w' device: 1 }
  types { dtype { code: 0 bits: 8 } shape { value: 2 } shape { value: 2 } } tensors { name: 'x.npu' type: 2  
             storage: 0 }
  types { dtype { code: 0 bits: 32 } shape { value: 2 } shape { value: 2 } } tensors { name: 'y.npu' type: 3  
             storage: 0 offset: 64 }
  types { dtype { code: 0 bits: 32 } shape { value: 2 } shape { value: 2 } } tensors { name: 'y' type: 4  
             storage: 1 }
  types { dtype { code: 0 bits: 8 } shape { value: 2 } shape { value: 2 } } tensors { name: 'b' type: 5  
             storage: 1 offset: 64 }
  types { dtype { code: 0 bits: 8 } shape { value: 2 } shape { value: 2 } } tensors { name: 'b.npu' type: 6  
             storage: 0 offset: 128 }
  types { dtype { code: 0 bits: 32 } shape { value: 2 } shape { value: 2 } } tensors { name: 'z.npu' type: 7  
             storage: 0 offset: 192 }
  types { dtype { code: 0 bits: 32 } shape { value: 2 } shape { value: 2 } } tensors { name: 'z' type: 8  
             storage: 1 offset: 128 }
  inputs: 0 outputs: 8
  storage { bytes { value: 256 } device: 1 } storage { bytes { value: 192 } }
  calls { copy {} args: [0, 2] num_outputs: 1 device: 1 }
  calls { function: 'f' args: [2, 1, 3] num_outputs: 1 device: 1 }
  calls { copy {} args: [3, 4] num_outputs: 1 device: 1 }
  calls { function: 'narrow' args: [4, 5] num_outputs: 1 }
  calls { copy {} args: [5, 6] num_outputs: 1 device: 1 }
  calls { function: 'f' args: [6, 1, 7] num_outputs: 1 device: 1 }
  calls { copy {} args: [7, 8] num_outputs: 1 device: 1 })";

// The product of a matrix of 2 x 2 with another.
std::string ProductStream() {
  Stream stream;
  stream.arguments = {4, 4, 16};
  stream.inputs = 2;
  const Axis one = {1, 1, 1, 1, 1, 0};
  Command command = {
      2, 2, 2, one, one, DataType::Int(8), DataType::Int(8), DataType::Int(32),
      1, {}};
  command.operands[kInput] = {Place::kArgument, 0, 0, 4};
  command.operands[kWeights] = {Place::kArgument, 1, 0, 4};
  command.operands[kOutput] = {Place::kArgument, 2, 0, 16};
  stream.commands = {command};
  return WriteStream(stream);
}

// Does what the generated launcher does, without checks.
int Launcher(void* self, const TVMFFIAny* args, int32_t, TVMFFIAny*) {
  using Launch = int(const void*, const Buffer*, int);
  std::vector<Buffer> arguments;
  for (int i = 0; i < 3; ++i) {
    arguments.push_back({(*AnyToTensor(args[i]))->data, i < 2 ? 4u : 16u});
  }
  return (**static_cast<Launch* const*>(self))(self, arguments.data(), 3);
}

Tensor Matrix(const std::vector<int8_t>& values) {
  Tensor t = *Tensor::Empty(DataType::Int(8), {2, 2});
  std::copy(values.begin(), values.end(), t.mutable_data<int8_t>());
  return t;
}

class NpuThreadsTest : public ::testing::Test {
 protected:
  static constexpr int kThreads = 8, kRuns = 50;

  NpuThreadsTest()
      : open_(NpuDevice::Open()),
        device_(static_cast<NpuDevice*>(open_.api.get())) {
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(kPlan, &plan_));
    plan_.set_version(kPlanVersion);
    AssignPhases(&plan_);
    Artifact artifact;
    artifact.codegen_id = kName;
    artifact.file_name = "f.npu";
    artifact.target_key = "npu";
    artifact.content = Blob::FromString(ProductStream());
    LoaderRegistry loaders;
    EXPECT_TRUE(RegisterExampleNpuLoader(&loaders).ok());
    const ArtifactSet set;
    LoadContext context{set, SharePlan(plan_), {}, nullptr};
    context.devices = {OpenDevice::Cpu(), open_};
    auto host = std::make_shared<TableModule>("host");
    EXPECT_TRUE(
        host->Add("f_launch", Function(&Launcher, nullptr, nullptr)).ok());
    EXPECT_TRUE(host->Add("narrow", Function::FromLambda(Narrow)).ok());
    context.library = host;
    auto module = (**loaders.Find(kName))({&artifact, 1}, context);
    EXPECT_TRUE(module.ok()) << module.status();
    EXPECT_TRUE(host->Import(*module).ok());
    host_ = host;
  }

  // Sums to bytes, on the CPU.
  static absl::Status Narrow(absl::Span<const TVMFFIAny> args, TVMFFIAny*) {
    const auto* from =
        static_cast<const int32_t*>((*AnyToTensor(args[0]))->data);
    auto* to = static_cast<int8_t*>((*AnyToTensor(args[1]))->data);
    for (int i = 0; i < 4; ++i) to[i] = static_cast<int8_t>(from[i]);
    return absl::OkStatus();
  }

  std::unique_ptr<GraphExecutor> Create() {
    ExecutorOptions options;
    options.devices = {OpenDevice::Cpu(), open_};
    auto executor = GraphExecutor::Create(
        SharePlan(plan_), host_,
        [](absl::string_view) -> absl::StatusOr<Tensor> {
          return Matrix({1, 2, 0, -1});
        },
        options);
    EXPECT_TRUE(executor.ok()) << executor.status();
    return *std::move(executor);
  }

  // The error of a run on {n, 1}, {0, 1}; empty, with its results right, if
  // there is none.
  static std::string Run(GraphExecutor* executor, int n) {
    const auto results =
        executor->Run({Matrix({static_cast<int8_t>(n), 1, 0, 1})});
    if (!results.ok()) return std::string(results.status().message());
    // w is its own inverse but for a sign that it does not change.
    return (*results)[0].values<int32_t>() == std::vector<int32_t>{n, 1, 0, 1}
               ? ""
               : "the result is wrong";
  }

  // Calls `use` with each of as many executors as threads, in a thread each.
  void InThreads(const std::function<void()>& once_they_are_made,
                 const std::function<void(GraphExecutor*, int)>& use) {
    std::vector<std::unique_ptr<GraphExecutor>> executors;
    for (int t = 0; t < kThreads; ++t) executors.push_back(Create());
    once_they_are_made();
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back(use, executors[t].get(), t);
    }
    for (std::thread& thread : threads) thread.join();
  }

  const OpenDevice open_;
  NpuDevice* const device_;
  Plan plan_;
  std::shared_ptr<Module> host_;
};

TEST_F(NpuThreadsTest, EachGetsItsResults) {
  InThreads([] {},
            [](GraphExecutor* executor, int t) {
              for (int run = 0; run < kRuns; ++run) {
                ASSERT_EQ(Run(executor, 7 * t + run % 10), "");
              }
            });
  EXPECT_EQ(device_->copies_from_cpu(), kThreads * (1 + 2 * kRuns));
  EXPECT_EQ(device_->copies_to_cpu(), kThreads * 2 * kRuns);
  EXPECT_EQ(device_->memory().bytes_in_use(), 0u);
}

// One executor's work goes on while another's waits.
TEST_F(NpuThreadsTest, ExecutorsHaveQueuesOfTheirOwn) {
  const auto slow = Create(), quick = Create();
  std::promise<void> held, may_go_on;
  std::atomic<bool> first{true};
  device_->InjectFault([&](absl::string_view) {
    if (first.exchange(false)) {
      held.set_value();
      may_go_on.get_future().wait();
    }
    return absl::OkStatus();
  });
  std::thread thread([&] { EXPECT_EQ(Run(slow.get(), 1), ""); });
  held.get_future().wait();
  EXPECT_EQ(Run(quick.get(), 2), "");
  may_go_on.set_value();
  thread.join();
}

// Faults here and there: each is told where it happened, and all other results
// are right.
TEST_F(NpuThreadsTest, FaultsStayWithTheirExecutors) {
  std::atomic<int> work_done{0}, faults{0}, errors{0};
  const auto inject = [&] {
    device_->InjectFault([&](absl::string_view) {
      if (++work_done % 17 != 0) return absl::OkStatus();
      ++faults;
      return absl::DataLossError("it overheats");
    });
  };
  InThreads(inject, [&](GraphExecutor* executor, int t) {
    for (int run = 0; run < kRuns; ++run) {
      const std::string error = Run(executor, t);
      if (error.empty()) continue;
      EXPECT_THAT(error, HasSubstr("it overheats"));
      ++errors;
    }
  });
  EXPECT_EQ(errors, faults) << "after a fault nothing of its run goes on";
  EXPECT_GT(errors, kThreads);
}

}  // namespace
}  // namespace ingot::example_npu
