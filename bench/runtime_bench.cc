// The cost of the runtime itself: a call, a step, a parallel loop.

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "benchmark/benchmark.h"
#include "runtime/executor.h"
#include "runtime/function.h"
#include "runtime/host_api.h"
#include "runtime/module.h"
#include "runtime/plan.pb.h"
#include "runtime/plan_check.h"
#include "runtime/tensor.h"
#include "runtime/thread_pool.h"

namespace ingot {
namespace {

int Nothing(void*, const TVMFFIAny* args, int32_t, TVMFFIAny*) {
  benchmark::DoNotOptimize(args);
  return 0;
}

void BM_PackedCall(benchmark::State& state) {
  const Function function(&Nothing, nullptr, nullptr);
  DLTensor tensor = {};
  const TVMFFIAny args[3] = {AnyTensor(&tensor), AnyTensor(&tensor),
                             AnyTensor(&tensor)};
  TVMFFIAny result;
  for (auto _ : state) {
    benchmark::DoNotOptimize(function.Call(args, &result));
  }
}
BENCHMARK(BM_PackedCall);

void BM_LambdaCall(benchmark::State& state) {
  const Function function =
      Function::FromLambda([](absl::Span<const TVMFFIAny> args, TVMFFIAny*) {
        benchmark::DoNotOptimize(args.data());
        return absl::OkStatus();
      });
  DLTensor tensor = {};
  const TVMFFIAny args[3] = {AnyTensor(&tensor), AnyTensor(&tensor),
                             AnyTensor(&tensor)};
  TVMFFIAny result;
  for (auto _ : state) {
    benchmark::DoNotOptimize(function.Call(args, &result));
  }
}
BENCHMARK(BM_LambdaCall);

// A chain of `steps` calls on tensors with one symbolic dimension.
Plan ChainPlan(int steps) {
  Plan plan;
  plan.set_version(kPlanVersion);
  plan.add_symbols("N");
  plan.add_inputs(0);
  for (int i = 0; i <= steps; ++i) {
    PlanTensor* tensor = plan.add_tensors();
    tensor->set_name(absl::StrCat("t", i));
    tensor->mutable_dtype()->set_code(2);
    tensor->mutable_dtype()->set_bits(32);
    tensor->add_shape()->set_op(DimExpr::SYMBOL);
    tensor->add_shape()->set_value(16);
    if (i == 0) {
      tensor->set_input(0);
      continue;
    }
    tensor->set_storage(i % 2);
    PlanCall* call = plan.add_calls();
    call->set_function("nothing");
    call->add_args(i - 1);
    call->add_args(i);
    call->set_num_outputs(1);
  }
  plan.add_outputs(steps);
  for (int i = 0; i < 2; ++i) {
    DimExpr* bytes = plan.add_storage()->add_bytes();
    bytes->set_op(DimExpr::MUL);
    bytes->add_operands()->set_op(DimExpr::SYMBOL);
    bytes->add_operands()->set_value(64);
  }
  return plan;
}

std::unique_ptr<GraphExecutor> Chain(int steps) {
  auto module = std::make_shared<TableModule>("bench");
  absl::Status added =
      module->Add("nothing", Function(&Nothing, nullptr, nullptr));
  auto executor =
      GraphExecutor::Create(ChainPlan(steps), std::move(module), nullptr);
  if (!added.ok() || !executor.ok()) std::abort();
  return *std::move(executor);
}

Tensor Input(int64_t n) {
  auto tensor = Tensor::Empty(DataType::Float(32), {n, 16});
  if (!tensor.ok()) std::abort();
  return *std::move(tensor);
}

void BM_ExecutorRun(benchmark::State& state) {
  const int steps = static_cast<int>(state.range(0));
  auto executor = Chain(steps);
  if (!executor->SetInput(0, Input(4)).ok()) std::abort();
  for (auto _ : state) {
    benchmark::DoNotOptimize(executor->Run());
  }
  state.counters["per_step"] =
      benchmark::Counter(steps, benchmark::Counter::kIsIterationInvariantRate |
                                    benchmark::Counter::kInvert);
}
BENCHMARK(BM_ExecutorRun)->Arg(1)->Arg(100)->Arg(1000);

// Every run has another shape, so that every run binds.
void BM_ExecutorBind(benchmark::State& state) {
  const int steps = static_cast<int>(state.range(0));
  auto executor = Chain(steps);
  const Tensor inputs[2] = {Input(4), Input(5)};
  int64_t i = 0;
  for (auto _ : state) {
    if (!executor->SetInput(0, inputs[i++ % 2]).ok()) std::abort();
    benchmark::DoNotOptimize(executor->Run());
  }
  state.counters["per_step"] =
      benchmark::Counter(steps, benchmark::Counter::kIsIterationInvariantRate |
                                    benchmark::Counter::kInvert);
}
BENCHMARK(BM_ExecutorBind)->Arg(100);

void BM_SetInputAndGetOutput(benchmark::State& state) {
  auto executor = Chain(1);
  const Tensor input = Input(4);
  for (auto _ : state) {
    benchmark::DoNotOptimize(executor->SetInput(0, input));
    benchmark::DoNotOptimize(executor->Run());
    benchmark::DoNotOptimize(executor->GetOutput(0));
  }
}
BENCHMARK(BM_SetInputAndGetOutput);

int Body(void* ctx, int64_t begin, int64_t end) {
  benchmark::DoNotOptimize(ctx);
  return 0;
}

// Loops in close succession, as a model's calls are.
void BM_ParallelFor(benchmark::State& state) {
  ThreadPool pool(static_cast<int>(state.range(0)));
  ScopedThreadPool scope(&pool);
  const IngotHostApi* api = GetHostApi();
  for (auto _ : state) {
    benchmark::DoNotOptimize(api->parallel_for(&Body, nullptr, 64));
  }
}
BENCHMARK(BM_ParallelFor)->Arg(1)->Arg(2)->UseRealTime();

// One millisecond of work in all: what a second thread makes of it.
void BM_ParallelForWork(benchmark::State& state) {
  ThreadPool pool(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    pool.ParallelFor(1024, [](int64_t begin, int64_t end) {
      uint64_t x = 1;
      for (int64_t i = begin; i < end; ++i) {
        for (int k = 0; k < 600; ++k) {
          x = x * 6364136223846793005u + 1442695040888963407u;
          benchmark::DoNotOptimize(x);
        }
      }
      return 0;
    });
  }
}
BENCHMARK(BM_ParallelForWork)->Arg(1)->Arg(2)->UseRealTime();

void BM_TensorEmpty(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(Tensor::Empty(DataType::Float(32), {1, 16}));
  }
}
BENCHMARK(BM_TensorEmpty);

}  // namespace
}  // namespace ingot
