#include "runtime/executor/executor.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "runtime/host_api.h"
#include "runtime/plan/phases.h"
#include "runtime/plan/shared_plan.h"

namespace ingot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const DataType kF32 = DataType::Float(32);

Plan ParsePlan(const std::string& text) {
  Plan plan;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      absl::StrCat("version: ", kPlanVersion, "\n", text), &plan));
  plan.add_devices()->set_kind(kCpuDeviceKind);
  AssignPhases(&plan);
  return plan;
}

Tensor Make(std::vector<int64_t> shape, std::vector<float> values) {
  Tensor tensor = *Tensor::Empty(kF32, shape);
  EXPECT_EQ(tensor.NumElements(), static_cast<int64_t>(values.size()));
  std::memcpy(tensor.mutable_raw_data(), values.data(), tensor.bytes());
  return tensor;
}

int64_t Count(const DLTensor& dl) {
  return *CountElements(absl::MakeConstSpan(dl.shape, dl.ndim));
}

float* Data(const TVMFFIAny& any) {
  return static_cast<float*>((*AnyToTensor(any))->data);
}

// "add": out = a + b, where b may be shorter and repeats. "double": out = 2a,
// in parallel. "fail": an error.
std::shared_ptr<TableModule> Kernels() {
  auto module = std::make_shared<TableModule>("kernels");
  auto add = [](absl::Span<const TVMFFIAny> args, TVMFFIAny*) {
    const int64_t n = Count(**AnyToTensor(args[2]));
    const int64_t m = Count(**AnyToTensor(args[1]));
    for (int64_t i = 0; i < n; ++i) {
      Data(args[2])[i] = Data(args[0])[i] + Data(args[1])[i % m];
    }
    return absl::OkStatus();
  };
  auto twice = [](absl::Span<const TVMFFIAny> args, TVMFFIAny*) {
    struct Loop {
      const float* from;
      float* to;
    } loop = {Data(args[0]), Data(args[1])};
    GetHostApi()->parallel_for(
        [](void* ctx, int64_t begin, int64_t end) {
          auto* loop = static_cast<Loop*>(ctx);
          for (int64_t i = begin; i < end; ++i) loop->to[i] = 2 * loop->from[i];
          return 0;
        },
        &loop, Count(**AnyToTensor(args[1])));
    return absl::OkStatus();
  };
  auto fail = [](absl::Span<const TVMFFIAny>, TVMFFIAny*) {
    return absl::OutOfRangeError("index 7 of 3");
  };
  EXPECT_TRUE(module->Add("add", Function::FromLambda(add)).ok());
  EXPECT_TRUE(module->Add("double", Function::FromLambda(twice)).ok());
  EXPECT_TRUE(module->Add("fail", Function::FromLambda(fail)).ok());
  return module;
}

absl::StatusOr<Tensor> Constants(absl::string_view key) {
  if (key == "w") return Make({2}, {10, 20});
  return absl::NotFoundError(absl::StrCat("no constant '", key, "'"));
}

std::unique_ptr<GraphExecutor> Create(const Plan& plan,
                                      ExecutorOptions options = {}) {
  auto executor =
      GraphExecutor::Create(SharePlan(plan), Kernels(), Constants, options);
  EXPECT_TRUE(executor.ok()) << executor.status();
  return executor.ok() ? *std::move(executor) : nullptr;
}

// y = 2 * (x + w), x f32[3, 2].
Plan StaticPlan() {
  return ParsePlan(R"pb(
    entry: "model"
    types {
      dtype { code: 2 bits: 32 }
      shape { value: 3 }
      shape { value: 2 }
    }
    tensors { name: "x" type: 0 input: 0 }
    types {
      dtype { code: 2 bits: 32 }
      shape { value: 2 }
    }
    tensors { name: "w" type: 1 constant: "w" }
    types {
      dtype { code: 2 bits: 32 }
      shape { value: 3 }
      shape { value: 2 }
    }
    tensors { name: "sum" type: 2 storage: 0 }
    types {
      dtype { code: 2 bits: 32 }
      shape { value: 3 }
      shape { value: 2 }
    }
    tensors { name: "y" type: 3 storage: 1 offset: 64 }
    inputs: 0
    outputs: 3
    storage {
      bytes { value: 24 }
      bytes { value: 8 }
    }
    storage { bytes { value: 88 } }
    calls {
      function: "add"
      args: [ 0, 1, 2 ]
      num_outputs: 1
      source: "Add_0"
    }
    calls {
      function: "double"
      args: [ 2, 3 ]
      num_outputs: 1
      source: "Mul_1"
    }
  )pb");
}

// y = x + x, x f32[N, 2]; z = 2 * y as f32[N * 2]; needs b f32[N].
Plan DynamicPlan() {
  return ParsePlan(R"pb(
    symbols { name: "N" }
    types {
      dtype { code: 2 bits: 32 }
      shape { op: SYMBOL }
      shape { value: 2 }
    }
    tensors { name: "x" type: 0 input: 0 }
    types {
      dtype { code: 2 bits: 32 }
      shape { op: SYMBOL }
    }
    tensors { name: "b" type: 1 input: 1 }
    types {
      dtype { code: 2 bits: 32 }
      shape { op: SYMBOL }
      shape { value: 2 }
    }
    tensors { name: "y" type: 2 storage: 0 }
    types {
      dtype { code: 2 bits: 32 }
      shape {
        op: MUL
        operands { op: SYMBOL }
        operands { value: 2 }
      }
    }
    tensors { name: "flat" type: 3 view_of: 2 }
    types {
      dtype { code: 2 bits: 32 }
      shape {
        op: MUL
        operands { op: SYMBOL }
        operands { value: 2 }
      }
    }
    tensors { name: "z" type: 4 storage: 1 }
    inputs: [ 0, 1 ]
    outputs: [ 4, 2 ]
    storage {
      bytes {
        op: MUL
        operands { op: SYMBOL }
        operands { value: 8 }
      }
    }
    storage {
      bytes {
        op: MUL
        operands { op: SYMBOL }
        operands { value: 8 }
      }
    }
    calls {
      function: "add"
      args: [ 0, 0, 2 ]
      num_outputs: 1
    }
    calls {
      function: "double"
      args: [ 3, 4 ]
      num_outputs: 1
    }
  )pb");
}

TEST(Executor, RunsAStaticPlan) {
  auto executor = Create(StaticPlan());
  ASSERT_NE(executor, nullptr);
  EXPECT_EQ(executor->inputs()[0].TypeString(), "f32[3, 2]");
  EXPECT_EQ(executor->outputs()[0].name, "y");
  EXPECT_EQ(executor->storage_bytes(), 64u + 128u);
  ASSERT_TRUE(executor->SetInput("x", Make({3, 2}, {1, 2, 3, 4, 5, 6})).ok());
  ASSERT_TRUE(executor->Run().ok());
  auto y = executor->GetOutput(0);
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_THAT(y->values<float>(), ElementsAre(22, 44, 26, 48, 30, 52));
  EXPECT_THAT(y->shape(), ElementsAre(3, 2));
}

TEST(Executor, SeveralThreads) {
  ExecutorOptions options;
  options.threads = 3;
  auto executor = Create(StaticPlan(), options);
  ASSERT_NE(executor, nullptr);
  auto y = executor->Run({Make({3, 2}, {1, 2, 3, 4, 5, 6})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_THAT((*y)[0].values<float>(), ElementsAre(22, 44, 26, 48, 30, 52));
  EXPECT_EQ(ThreadPool::Current(), nullptr);
}

TEST(Executor, TwoExecutorsOnTwoThreadsShareAPool) {
  auto module = Kernels();
  ExecutorOptions options;
  options.pool = std::make_shared<ThreadPool>(2);
  auto work = [&] {
    auto executor = GraphExecutor::Create(SharePlan(StaticPlan()), module,
                                          Constants, options);
    ASSERT_TRUE(executor.ok());
    for (int i = 0; i < 300; ++i) {
      auto y = (*executor)->Run({Make({3, 2}, {1, 2, 3, 4, 5, 6})});
      ASSERT_TRUE(y.ok());
      ASSERT_EQ((*y)[0].data<float>()[5], 52);
    }
  };
  std::thread other(work);
  work();
  other.join();
}

TEST(Executor, InputsMustBeAsDeclared) {
  auto executor = Create(StaticPlan());
  ASSERT_NE(executor, nullptr);
  EXPECT_EQ(executor->Run().message(), "input 0 ('x') was not set");
  EXPECT_EQ(executor->Run().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(executor->SetInput(0, Make({2, 3}, {1, 2, 3, 4, 5, 6})).message(),
            "input 0 ('x'): expected f32[3, 2], got f32[2, 3]");
  EXPECT_EQ(executor->SetInput(0, *Tensor::Empty(DataType::Int(32), {3, 2}))
                .message(),
            "input 0 ('x'): expected f32[3, 2], got i32[3, 2]");
  EXPECT_EQ(executor->SetInput(0, Make({6}, {1, 2, 3, 4, 5, 6})).message(),
            "input 0 ('x'): expected f32[3, 2], got f32[6]");
  EXPECT_EQ(executor->SetInput(0, Tensor()).message(),
            "input 0 ('x'): expected f32[3, 2], got no tensor");
  EXPECT_EQ(executor->SetInput("q", Tensor()).message(),
            "there is no input 'q'; inputs: 'x'");
  EXPECT_FALSE(executor->SetInput(1, Tensor()).ok());
  float data[6];
  EXPECT_EQ(executor
                ->SetInput(0, *Tensor::FromBorrowed(data, kF32, {3, 2}, nullptr,
                                                    Device{kDLCUDA, 0}))
                .message(),
            "input 0 ('x'): expected f32[3, 2], got a tensor on cuda:0");
  EXPECT_EQ(executor->Run(absl::Span<const Tensor>()).status().message(),
            "expected 1 inputs, got 0");
}

TEST(Executor, InputsAreReadWhereTheyAre) {
  auto executor = Create(StaticPlan());
  ASSERT_NE(executor, nullptr);
  Tensor x = Make({3, 2}, {0, 0, 0, 0, 0, 0});
  ASSERT_TRUE(executor->SetInput(0, x).ok());
  x.mutable_data<float>()[0] = 5;
  ASSERT_TRUE(executor->Run().ok());
  EXPECT_EQ(executor->GetOutput(0)->data<float>()[0], 30);
  x.mutable_data<float>()[0] = 6;
  ASSERT_TRUE(executor->Run().ok());
  EXPECT_EQ(executor->GetOutput(0)->data<float>()[0], 32);
}

TEST(Executor, OutputsAreViewsAndCopiesAreNot) {
  auto executor = Create(StaticPlan());
  ASSERT_NE(executor, nullptr);
  EXPECT_EQ(executor->GetOutput(0).status().code(),
            absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(executor->SetInput(0, Make({3, 2}, {1, 1, 1, 1, 1, 1})).ok());
  ASSERT_TRUE(executor->Run().ok());
  Tensor view = *executor->GetOutput(0);
  Tensor copy = *executor->CopyOutput(0);
  EXPECT_FALSE(executor->GetOutput(1).ok());
  ASSERT_TRUE(executor->SetInput(0, Make({3, 2}, {2, 2, 2, 2, 2, 2})).ok());
  ASSERT_TRUE(executor->Run().ok());
  EXPECT_EQ(view.data<float>()[0], 24);
  EXPECT_EQ(copy.data<float>()[0], 22);
  executor.reset();
  EXPECT_EQ(view.data<float>()[0], 24);  // still valid memory
}

TEST(Executor, AnOutputCanBeFedBack) {
  auto executor = Create(StaticPlan());
  ASSERT_NE(executor, nullptr);
  ASSERT_TRUE(executor->SetInput(0, Make({3, 2}, {0, 0, 0, 0, 0, 0})).ok());
  ASSERT_TRUE(executor->Run().ok());
  ASSERT_TRUE(executor->SetInput(0, *executor->GetOutput(0)).ok());
  ASSERT_TRUE(executor->Run().ok());
  EXPECT_THAT(executor->GetOutput(0)->values<float>(),
              ElementsAre(60, 120, 60, 120, 60, 120));
}

TEST(Executor, BindsSymbols) {
  auto executor = Create(DynamicPlan());
  ASSERT_NE(executor, nullptr);
  EXPECT_EQ(executor->inputs()[0].TypeString(), "f32[N, 2]");
  EXPECT_THAT(executor->inputs()[0].shape, ElementsAre(-1, 2));
  EXPECT_EQ(executor->outputs()[0].TypeString(), "f32[N*2]");
  EXPECT_EQ(executor->storage_bytes(), 0u);
  for (int64_t n : {1, 100, 3, 0, 100, 2}) {
    Tensor x = *Tensor::Empty(kF32, {n, 2});
    for (int64_t i = 0; i < 2 * n; ++i) x.mutable_data<float>()[i] = i;
    auto outputs = executor->Run({x, *Tensor::Empty(kF32, {n})});
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    EXPECT_THAT((*outputs)[0].shape(), ElementsAre(2 * n));
    EXPECT_THAT((*outputs)[1].shape(), ElementsAre(n, 2));
    for (int64_t i = 0; i < 2 * n; ++i) {
      ASSERT_EQ((*outputs)[0].data<float>()[i], 4 * i);
      ASSERT_EQ((*outputs)[1].data<float>()[i], 2 * i);
    }
  }
  // Grown once, to the largest.
  EXPECT_EQ(executor->storage_bytes(), 2u * 832);
}

TEST(Executor, InputsMustAgreeOnSymbols) {
  auto executor = Create(DynamicPlan());
  ASSERT_NE(executor, nullptr);
  auto run =
      executor->Run({*Tensor::Empty(kF32, {3, 2}), *Tensor::Empty(kF32, {4})});
  EXPECT_EQ(run.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(run.status().message(),
            "input 'b' has 4 as dimension 0, but N is 3 in input 'x'");
  EXPECT_FALSE(executor->GetOutput(0).ok());
  // And it recovers.
  EXPECT_TRUE(
      executor->Run({Make({1, 2}, {1, 2}), *Tensor::Empty(kF32, {1})}).ok());
}

TEST(Executor, AViewSurvivesRebinding) {
  auto executor = Create(DynamicPlan());
  ASSERT_NE(executor, nullptr);
  ASSERT_TRUE(
      executor->Run({Make({1, 2}, {1, 2}), *Tensor::Empty(kF32, {1})}).ok());
  Tensor view = *executor->GetOutput(0);
  ASSERT_TRUE(
      executor
          ->Run({*Tensor::Empty(kF32, {1000, 2}), *Tensor::Empty(kF32, {1000})})
          .ok());
  EXPECT_THAT(view.values<float>(), ElementsAre(4, 8));
}

TEST(Executor, OutputsThatAreInputsOrConstantsAreCopied) {
  const Plan plan = ParsePlan(R"pb(
    types {
      dtype { code: 2 bits: 32 }
      shape { value: 2 }
    }
    tensors { name: "x" type: 0 input: 0 }
    types {
      dtype { code: 2 bits: 32 }
      shape { value: 1 }
      shape { value: 2 }
    }
    tensors { name: "x as a matrix" type: 1 view_of: 0 }
    types {
      dtype { code: 2 bits: 32 }
      shape { value: 2 }
    }
    tensors { name: "w" type: 2 constant: "w" }
    inputs: 0
    outputs: [ 0, 1, 2 ]
  )pb");
  auto executor = Create(plan);
  ASSERT_NE(executor, nullptr);
  Tensor x = Make({2}, {1, 2});
  ASSERT_TRUE(executor->SetInput(0, x).ok());
  ASSERT_TRUE(executor->Run().ok());
  x.mutable_data<float>()[0] = 50;
  EXPECT_THAT(executor->GetOutput(0)->values<float>(), ElementsAre(1, 2));
  EXPECT_THAT(executor->GetOutput(1)->values<float>(), ElementsAre(1, 2));
  EXPECT_THAT(executor->GetOutput(1)->shape(), ElementsAre(1, 2));
  Tensor w = *executor->GetOutput(2);
  w.mutable_data<float>()[0] = -1;
  ASSERT_TRUE(executor->Run().ok());
  EXPECT_THAT(executor->GetOutput(2)->values<float>(), ElementsAre(10, 20));
  // Fed back, it is copied.
  ASSERT_TRUE(executor->SetInput(0, *executor->GetOutput(2)).ok());
  ASSERT_TRUE(executor->Run().ok());
  EXPECT_THAT(executor->GetOutput(0)->values<float>(), ElementsAre(10, 20));
}

TEST(Executor, ErrorsNameTheCall) {
  Plan plan = StaticPlan();
  plan.mutable_calls(1)->set_function("fail");
  auto executor = Create(plan);
  ASSERT_NE(executor, nullptr);
  auto run = executor->Run({Make({3, 2}, {1, 2, 3, 4, 5, 6})});
  EXPECT_EQ(run.status(),
            absl::OutOfRangeError("call 1 (fail, for Mul_1): index 7 of 3"));
  EXPECT_FALSE(executor->GetOutput(0).ok());
}

TEST(Executor, FeedsTheProfiler) {
  Profiler profiler;
  ExecutorOptions options;
  options.profiler = &profiler;
  auto executor = Create(StaticPlan(), options);
  ASSERT_NE(executor, nullptr);
  ASSERT_TRUE(executor->Run({Make({3, 2}, {1, 2, 3, 4, 5, 6})}).ok());
  const auto events = profiler.Events();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].name, "add");
  EXPECT_EQ(events[0].source, "Add_0");
  EXPECT_EQ(events[1].name, "double");
  EXPECT_EQ(events[2].name, "model");
  EXPECT_LE(events[2].start_ns, events[0].start_ns);
  EXPECT_GE(events[1].start_ns, events[0].start_ns + events[0].duration_ns);
}

TEST(Executor, TellsTheObserver) {
  std::vector<std::string> calls;
  ExecutorOptions options;
  options.observer = [&calls](const PlanCall& call,
                              absl::Span<const DLTensor* const> args) {
    calls.push_back(
        absl::StrCat(call.function(), " -> ",
                     static_cast<const float*>(args.back()->data)[0]));
    return absl::OkStatus();
  };
  auto executor = Create(StaticPlan(), options);
  ASSERT_NE(executor, nullptr);
  ASSERT_TRUE(executor->Run({Make({3, 2}, {1, 2, 3, 4, 5, 6})}).ok());
  EXPECT_THAT(calls, ElementsAre("add -> 11", "double -> 22"));
}

TEST(Executor, TheObserverMayEndARun) {
  int calls = 0;
  ExecutorOptions options;
  options.observer = [&calls](const PlanCall&,
                              absl::Span<const DLTensor* const>) {
    ++calls;
    return absl::DataLossError("wrong");
  };
  auto executor = Create(StaticPlan(), options);
  ASSERT_NE(executor, nullptr);
  const absl::Status s =
      executor->Run({Make({3, 2}, {1, 2, 3, 4, 5, 6})}).status();
  EXPECT_EQ(s.message(), "wrong");
  EXPECT_EQ(calls, 1);
}

TEST(Executor, KeepsModuleAndConstants) {
  auto executor = Create(StaticPlan());  // the only owner of both
  ASSERT_NE(executor, nullptr);
  EXPECT_TRUE(executor->Run({Make({3, 2}, {1, 2, 3, 4, 5, 6})}).ok());
}

}  // namespace
}  // namespace ingot
