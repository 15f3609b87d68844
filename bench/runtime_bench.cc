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
#include "runtime/executor/executor.h"
#include "runtime/function.h"
#include "runtime/host_api.h"
#include "runtime/module.h"
#include "runtime/plan/check.h"
#include "runtime/plan/phases.h"
#include "runtime/plan/shared_plan.h"
#include "runtime/tensor.h"
#include "runtime/thread_pool.h"

namespace ingot {
namespace {

int Nothing(void*, const TVMFFIAny* args, int32_t, TVMFFIAny*) {
  benchmark::DoNotOptimize(args);
  return 0;
}

void CallOnTensors(const Function& function, benchmark::State& state) {
  DLTensor tensor = {};
  const TVMFFIAny args[3] = {AnyTensor(&tensor), AnyTensor(&tensor),
                             AnyTensor(&tensor)};
  TVMFFIAny result;
  for (auto _ : state) {
    benchmark::DoNotOptimize(function.Call(args, &result));
  }
}

void BM_PackedCall(benchmark::State& state) {
  const Function function(&Nothing, nullptr, nullptr);
  CallOnTensors(function, state);
}
BENCHMARK(BM_PackedCall);

void BM_LambdaCall(benchmark::State& state) {
  const Function function =
      Function::FromLambda([](absl::Span<const TVMFFIAny> args, TVMFFIAny*) {
        benchmark::DoNotOptimize(args.data());
        return absl::OkStatus();
      });
  CallOnTensors(function, state);
}
BENCHMARK(BM_LambdaCall);

// A chain of `steps` calls on tensors with one symbolic dimension.
Plan ChainPlan(int steps) {
  Plan plan;
  plan.set_version(kPlanVersion);
  plan.add_devices()->set_kind(kCpuDeviceKind);
  plan.add_symbols()->set_name("N");
  plan.add_inputs(0);
  PlanType* type = plan.add_types();  // of all tensors
  type->mutable_dtype()->set_code(2);
  type->mutable_dtype()->set_bits(32);
  type->add_shape()->set_op(DimExpr::SYMBOL);
  type->add_shape()->set_value(16);
  for (int i = 0; i <= steps; ++i) {
    PlanTensor* tensor = plan.add_tensors();
    tensor->set_name(absl::StrCat("t", i));
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
  AssignPhases(&plan);
  return plan;
}

std::unique_ptr<GraphExecutor> Chain(int steps) {
  auto module = std::make_shared<TableModule>("bench");
  absl::Status added =
      module->Add("nothing", Function(&Nothing, nullptr, nullptr));
  auto executor = GraphExecutor::Create(SharePlan(ChainPlan(steps)),
                                        std::move(module), nullptr);
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

int True(void*, const TVMFFIAny* args, int32_t, TVMFFIAny*) {
  const absl::StatusOr<DLTensor*> tensor = AnyToTensor(args[1]);
  *static_cast<bool*>((*tensor)->data) = true;
  return 0;
}

// Adds a tensor of fixed shape; in storage of its own unless it is an input.
uint32_t AddTensor(Plan* plan, uint32_t code, uint32_t bits, int64_t elements,
                   bool is_input) {
  const auto id = static_cast<uint32_t>(plan->tensors_size());
  PlanTensor* tensor = plan->add_tensors();
  tensor->set_name(absl::StrCat("t", id));
  tensor->set_type(static_cast<uint32_t>(plan->types_size()));
  PlanType* type = plan->add_types();
  type->mutable_dtype()->set_code(code);
  type->mutable_dtype()->set_bits(bits);
  if (elements > 1) type->add_shape()->set_value(elements);
  if (is_input) {
    tensor->set_input(static_cast<uint32_t>(plan->inputs_size()));
    plan->add_inputs(id);
  } else {
    tensor->set_storage(static_cast<uint32_t>(plan->storage_size()));
    plan->add_storage()->add_bytes()->set_value(elements * bits / 8);
  }
  return id;
}

// A loop of `iterations` over a body that makes one carried value of `elements`
// f32 from another, in no time.
Plan LoopPlan(int64_t elements) {
  Plan body;
  AddTensor(&body, 0, 64, 1, true);
  const uint32_t in = AddTensor(&body, 2, 32, elements, true);
  const uint32_t out = AddTensor(&body, 2, 32, elements, false);
  const uint32_t on = AddTensor(&body, 6, 8, 1, false);
  const auto call = [&body](const char* function, uint32_t from, uint32_t to) {
    PlanCall* added = body.add_calls();
    added->set_function(function);
    added->add_args(from);
    added->add_args(to);
    added->set_num_outputs(1);
  };
  call("nothing", in, out);
  call("true", in, on);
  body.add_outputs(on);
  body.add_outputs(out);
  AssignPhases(&body);
  Plan plan;
  plan.set_version(kPlanVersion);
  plan.add_devices()->set_kind(kCpuDeviceKind);
  const uint32_t count = AddTensor(&plan, 0, 64, 1, true);
  const uint32_t first = AddTensor(&plan, 2, 32, elements, true);
  const uint32_t last = AddTensor(&plan, 2, 32, elements, false);
  PlanCall* loop = plan.add_calls();
  loop->mutable_loop()->set_has_max_iterations(true);
  loop->mutable_loop()->set_carried(1);
  for (uint32_t t : {count, first, last}) loop->add_args(t);
  loop->set_num_outputs(1);
  plan.add_outputs(last);
  *plan.add_bodies() = body;
  AssignPhases(&plan);
  return plan;
}

// The cost of an iteration, by the size of the carried values.
void BM_LoopIteration(benchmark::State& state) {
  constexpr int64_t kIterations = 1000;
  auto module = std::make_shared<TableModule>("bench");
  absl::Status added =
      module->Add("nothing", Function(&Nothing, nullptr, nullptr));
  added.Update(module->Add("true", Function(&True, nullptr, nullptr)));
  auto executor = GraphExecutor::Create(SharePlan(LoopPlan(state.range(0))),
                                        module, nullptr);
  auto count = Tensor::Empty(DataType::Int(64), {});
  auto first = Tensor::Empty(DataType::Float(32), {state.range(0)});
  if (!added.ok() || !executor.ok() || !count.ok() || !first.ok()) std::abort();
  *count->mutable_data<int64_t>() = kIterations;
  if (!(*executor)->SetInput(0, *count).ok()) std::abort();
  if (!(*executor)->SetInput(1, *first).ok()) std::abort();
  for (auto _ : state) {
    benchmark::DoNotOptimize((*executor)->Run());
  }
  state.counters["per_iteration"] = benchmark::Counter(
      kIterations, benchmark::Counter::kIsIterationInvariantRate |
                       benchmark::Counter::kInvert);
}
BENCHMARK(BM_LoopIteration)->Arg(1)->Arg(1 << 16);

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
