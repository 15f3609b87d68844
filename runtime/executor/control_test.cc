// Symbols that a run binds, branches and loops.
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/executor/executor.h"
#include "runtime/executor/plan_maker.h"
#include "runtime/function.h"
#include "runtime/module.h"
#include "runtime/plan/shared_plan.h"

namespace ingot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const DataType kF32 = DataType::Float(32);
const DataType kI64 = DataType::Int(64);

int64_t Count(const DLTensor& dl) {
  return *CountElements(absl::MakeConstSpan(dl.shape, dl.ndim));
}

template <typename T>
T* Data(const TVMFFIAny& any) {
  return static_cast<T*>((*AnyToTensor(any))->data);
}

// "iota": numbers from 0 into its last argument. "double": out = 2a. "grow":
// out is a with a 7 after it. "less": out = a[0] < 10. "two": out = 2.
std::shared_ptr<TableModule> Kernels() {
  auto module = std::make_shared<TableModule>("kernels");
  auto add = [&](const char* name,
                 std::function<void(absl::Span<const TVMFFIAny>)> body) {
    EXPECT_TRUE(module
                    ->Add(name, Function::FromLambda(
                                    [body](absl::Span<const TVMFFIAny> args,
                                           TVMFFIAny*) {
                                      body(args);
                                      return absl::OkStatus();
                                    }))
                    .ok());
  };
  add("iota", [](absl::Span<const TVMFFIAny> args) {
    const TVMFFIAny& out = args[args.size() - 1];
    for (int64_t i = 0; i < Count(**AnyToTensor(out)); ++i) {
      Data<float>(out)[i] = static_cast<float>(i);
    }
  });
  add("double", [](absl::Span<const TVMFFIAny> args) {
    for (int64_t i = 0; i < Count(**AnyToTensor(args[1])); ++i) {
      Data<float>(args[1])[i] = 2 * Data<float>(args[0])[i];
    }
  });
  add("grow", [](absl::Span<const TVMFFIAny> args) {
    const int64_t n = Count(**AnyToTensor(args[0]));
    std::memcpy(Data<float>(args[1]), Data<float>(args[0]), n * sizeof(float));
    Data<float>(args[1])[n] = 7;
  });
  add("two",
      [](absl::Span<const TVMFFIAny> args) { *Data<int64_t>(args[0]) = 2; });
  add("less", [](absl::Span<const TVMFFIAny> args) {
    *Data<bool>(args[1]) = *Data<float>(args[0]) < 10;
  });
  return module;
}

std::unique_ptr<GraphExecutor> Create(const Plan& plan) {
  ExecutorOptions options;
  options.max_storage_bytes = 1 << 20;
  auto executor =
      GraphExecutor::Create(SharePlan(plan), Kernels(), nullptr, options);
  EXPECT_TRUE(executor.ok()) << executor.status();
  return executor.ok() ? *std::move(executor) : nullptr;
}

template <typename T>
Tensor Make(DataType type, std::vector<int64_t> shape, std::vector<T> values) {
  Tensor tensor = *Tensor::Empty(type, shape);
  std::memcpy(tensor.mutable_raw_data(), values.data(), tensor.bytes());
  return tensor;
}
Tensor Ints(std::vector<int64_t> v) {
  return Make<int64_t>(kI64, {static_cast<int64_t>(v.size())}, v);
}
Tensor Number(int64_t v) { return Make<int64_t>(kI64, {}, {v}); }
Tensor Flag(bool v) { return Make<char>(DataType::Bool(), {}, {v}); }
Tensor Floats(std::vector<float> v) {
  return Make<float>(kF32, {static_cast<int64_t>(v.size())}, v);
}

std::vector<float> Values(const GraphExecutor& executor, size_t output = 0) {
  absl::StatusOr<Tensor> tensor = executor.GetOutput(output);
  EXPECT_TRUE(tensor.ok()) << tensor.status();
  if (!tensor.ok()) return {};
  const auto values = tensor->values<float>();
  return {values.begin(), values.end()};
}

std::vector<int64_t> ShapeOf(const GraphExecutor& executor, size_t output = 0) {
  const auto shape = executor.GetOutput(output)->shape();
  return {shape.begin(), shape.end()};
}

// y = 2 * iota of as many as the input says.
Plan BoundPlanOf() {
  PlanMaker m(1);
  const uint32_t n = m.Input(kI64, {1});
  const uint32_t told = m.Tensor(DataType::Bool(), {kSymbol, 0});
  const uint32_t x = m.Tensor(kF32, {kSymbol});
  const uint32_t y = m.Tensor(kF32, {kSymbol});
  m.BindDims(n, told, 0);
  m.Call("iota", {told}, {x});
  m.Call("double", {x}, {y});
  m.Output(y);
  return m.Finish();
}

// Runs the plan `runs` times; the last output of each.
std::vector<std::vector<int64_t>> RandomStates(const Plan& plan, int runs,
                                               std::optional<uint64_t> seed) {
  ExecutorOptions options;
  options.random_seed = seed;
  auto executor =
      GraphExecutor::Create(SharePlan(plan), Kernels(), nullptr, options);
  EXPECT_TRUE(executor.ok()) << executor.status();
  std::vector<std::vector<int64_t>> states;
  for (int run = 0; executor.ok() && run < runs; ++run) {
    const absl::Status status = (*executor)->Run();
    EXPECT_TRUE(status.ok()) << status;
    const Tensor state = *(*executor)->GetOutput(0);
    states.emplace_back(state.values<int64_t>().begin(),
                        state.values<int64_t>().end());
  }
  return states;
}

TEST(RandomState, IsTheSeedAndTheNumberOfTheRun) {
  PlanMaker m;
  const uint32_t state = m.Tensor(kI64, {2});
  m.Call("", {}, {state})->mutable_random_state();
  m.Output(state);
  EXPECT_THAT(
      RandomStates(m.Finish(), 3, 42),
      ElementsAre(ElementsAre(42, 0), ElementsAre(42, 1), ElementsAre(42, 2)));
  EXPECT_NE(RandomStates(m.Finish(), 1, std::nullopt),
            RandomStates(m.Finish(), 1, std::nullopt));
}

TEST(RandomState, CountsTheIterationsOfABody) {
  PlanMaker body;
  body.Input(kI64, {});
  const uint32_t state = body.Tensor(kI64, {2});
  const uint32_t x = body.Tensor(kF32, {1});
  const uint32_t on = body.Tensor(DataType::Bool(), {});
  body.Call("", {}, {state})->mutable_random_state();
  body.Call("iota", {}, {x});
  body.Call("less", {x}, {on});
  for (uint32_t t : {on, state}) body.Output(t);
  PlanMaker m;
  const uint32_t iterations = m.Tensor(kI64, {1});
  const uint32_t both = m.Tensor(kI64, {2});
  const uint32_t stack = m.Tensor(kI64, {2, 2});
  m.Call("", {}, {both})->mutable_random_state();
  m.Call("two", {}, {iterations});
  PlanCall* call = m.Call("", {iterations}, {stack});
  call->mutable_loop()->set_has_max_iterations(true);
  *m.plan()->add_bodies() = body.FinishBody();
  m.Output(stack);
  EXPECT_THAT(RandomStates(m.Finish(), 2, 7),
              ElementsAre(ElementsAre(7, 0, 7, 1), ElementsAre(7, 2, 7, 3)));
}

TEST(RandomState, IsAskedForAsItIs) {
  PlanMaker m;
  const uint32_t wrong = m.Tensor(kI64, {3});
  m.Call("", {}, {wrong})->mutable_random_state();
  m.Output(wrong);
  EXPECT_THAT(std::string(CheckPlan(m.Finish()).message()),
              HasSubstr("the random state is one i64[2]"));
}

TEST(Binds, SizesFollowTheData) {
  auto executor = Create(BoundPlanOf());
  EXPECT_EQ(executor->outputs()[0].shape[0], -1);
  for (int64_t n : {3, 5, 0, 2}) {
    ASSERT_TRUE(executor->SetInput(0, Ints({n})).ok());
    const absl::Status status = executor->Run();
    ASSERT_TRUE(status.ok()) << status;
    std::vector<float> expected;
    for (int64_t i = 0; i < n; ++i) expected.push_back(2 * i);
    EXPECT_EQ(Values(*executor), expected);
  }
}

TEST(Binds, MemoryIsUsedAgain) {
  auto executor = Create(BoundPlanOf());
  ASSERT_TRUE(executor->SetInput(0, Ints({500})).ok());
  ASSERT_TRUE(executor->Run().ok());
  const size_t bytes = executor->storage_bytes();
  ASSERT_TRUE(executor->SetInput(0, Ints({20})).ok());
  ASSERT_TRUE(executor->Run().ok());
  EXPECT_EQ(executor->storage_bytes(), bytes);
  EXPECT_EQ(Values(*executor).size(), 20u);
}

TEST(Binds, ImpossibleSizesAreErrors) {
  auto executor = Create(BoundPlanOf());
  for (int64_t n : {int64_t{-1}, std::numeric_limits<int64_t>::min()}) {
    ASSERT_TRUE(executor->SetInput(0, Ints({n})).ok());
    const absl::Status status = executor->Run();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("the dimension A would be -"));
  }
  for (int64_t n : {int64_t{1} << 40, std::numeric_limits<int64_t>::max()}) {
    ASSERT_TRUE(executor->SetInput(0, Ints({n})).ok());
    EXPECT_FALSE(executor->Run().ok()) << n;
  }
  // And all is well again.
  ASSERT_TRUE(executor->SetInput(0, Ints({1})).ok());
  EXPECT_TRUE(executor->Run().ok());
}

TEST(Binds, SymbolsHaveALowerBound) {
  Plan plan = BoundPlanOf();
  plan.mutable_symbols(0)->set_lower_bound(2);
  auto executor = Create(plan);
  ASSERT_TRUE(executor->SetInput(0, Ints({2})).ok());
  EXPECT_TRUE(executor->Run().ok());
  ASSERT_TRUE(executor->SetInput(0, Ints({1})).ok());
  const absl::Status status = executor->Run();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "call 0 (bind_dims): the dimension A would be 1, less than 2, the "
            "least it can be");
}

TEST(Binds, AViewOfAnotherSizeIsAnError) {
  PlanMaker m(1);
  const uint32_t n = m.Input(kI64, {1});
  const uint32_t told = m.Tensor(DataType::Bool(), {kSymbol, 0});
  const uint32_t x = m.Tensor(kF32, {6});
  const uint32_t y = m.View(x, {kSymbol, 2});
  m.BindDims(n, told, 0);
  m.Call("iota", {}, {x});
  m.Output(y);
  auto executor = Create(m.Finish());
  ASSERT_TRUE(executor->SetInput(0, Ints({3})).ok());
  ASSERT_TRUE(executor->Run().ok());
  EXPECT_THAT(ShapeOf(*executor), ElementsAre(3, 2));
  ASSERT_TRUE(executor->SetInput(0, Ints({2})).ok());
  EXPECT_THAT(std::string(executor->Run().message()),
              HasSubstr("which is f32[6], cannot be seen as f32[2, 2]"));
  ASSERT_TRUE(executor->SetInput(0, Ints({4})).ok());
  EXPECT_THAT(std::string(executor->Run().message()),
              HasSubstr("which is f32[6], cannot be seen as f32[4, 2]"));
}

// y = c ? 2x : (x with a 7 after it).
Plan BranchPlan(bool with_else = true) {
  PlanMaker yes(1);
  uint32_t x = yes.Input(kF32, {kSymbol});
  uint32_t y = yes.Tensor(kF32, {kSymbol});
  yes.Call("double", {x}, {y});
  yes.Output(y);
  PlanMaker no(1);
  x = no.Input(kF32, {kSymbol});
  y = no.Tensor(kF32, {kSymbol});
  DimExpr more;
  more.set_op(DimExpr::ADD);
  *more.add_operands() = Dim(kSymbol);
  *more.add_operands() = Dim(1);
  *no.plan()->mutable_types(y)->mutable_shape(0) = more;
  *no.plan()->mutable_storage(0)->mutable_bytes(0)->mutable_operands(1) = more;
  no.Call("grow", {x}, {y});
  no.Output(y);

  PlanMaker m(2);
  const uint32_t c = m.Input(DataType::Bool(), {});
  x = m.Input(kF32, {kSymbol});
  y = m.Tensor(kF32, {kSymbol + 1});
  PlanCall* call = m.Call("", {c, x}, {y});
  call->mutable_branch()->set_then_body(0);
  if (with_else) call->mutable_branch()->set_else_body(1);
  m.Bind(call, 1, 0);
  m.Output(y);
  *m.plan()->add_bodies() = yes.FinishBody();
  if (with_else) *m.plan()->add_bodies() = no.FinishBody();
  return m.Finish();
}

TEST(Branch, OneSideRuns) {
  auto executor = Create(BranchPlan());
  ASSERT_TRUE(executor->SetInput(1, Floats({1, 2})).ok());
  for (bool c : {true, false, true}) {
    ASSERT_TRUE(executor->SetInput(0, Flag(c)).ok());
    const absl::Status status = executor->Run();
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(Values(*executor),
              c ? std::vector<float>({2, 4}) : std::vector<float>({1, 2, 7}));
  }
  ASSERT_TRUE(executor->SetInput(1, Floats({5})).ok());
  ASSERT_TRUE(executor->Run().ok());
  EXPECT_THAT(Values(*executor), ElementsAre(10));
}

TEST(Branch, ASideThatIsNotThereIsAnError) {
  auto executor = Create(BranchPlan(/*with_else=*/false));
  ASSERT_TRUE(executor->SetInput(1, Floats({1, 2})).ok());
  ASSERT_TRUE(executor->SetInput(0, Flag(true)).ok());
  EXPECT_TRUE(executor->Run().ok());
  ASSERT_TRUE(executor->SetInput(0, Flag(false)).ok());
  EXPECT_THAT(std::string(executor->Run().message()),
              HasSubstr("the condition is false"));
}

// Doubles x while x[0] < 10, at most so often; also stacks what it came to.
Plan LoopPlan() {
  PlanMaker body(1);
  body.Input(kI64, {});
  const uint32_t in = body.Input(kF32, {kSymbol});
  const uint32_t twice = body.Tensor(kF32, {kSymbol});
  const uint32_t on = body.Tensor(DataType::Bool(), {});
  body.Call("double", {in}, {twice});
  body.Call("less", {twice}, {on});
  for (uint32_t t : {on, twice, twice}) body.Output(t);
  PlanMaker m(2);
  const uint32_t iterations = m.Input(kI64, {});
  const uint32_t x = m.Input(kF32, {kSymbol});
  const uint32_t y = m.Tensor(kF32, {kSymbol});
  const uint32_t stack = m.Tensor(kF32, {kSymbol + 1, kSymbol});
  PlanCall* call = m.Call("", {iterations, x}, {y, stack});
  call->mutable_loop()->set_has_max_iterations(true);
  call->mutable_loop()->set_carried(1);
  m.Bind(call, 1, 0, 1);
  m.Output(y);
  m.Output(stack);
  *m.plan()->add_bodies() = body.FinishBody();
  return m.Finish();
}

TEST(Loop, CarriesAndStacks) {
  auto executor = Create(LoopPlan());
  ASSERT_TRUE(executor->SetInput(1, Floats({1, 2})).ok());
  ASSERT_TRUE(executor->SetInput(0, Number(100)).ok());
  const absl::Status status = executor->Run();
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(Values(*executor), ElementsAre(16, 32));
  EXPECT_THAT(Values(*executor, 1), ElementsAre(2, 4, 4, 8, 8, 16, 16, 32));
  EXPECT_THAT(ShapeOf(*executor, 1), ElementsAre(4, 2));
  ASSERT_TRUE(executor->SetInput(0, Number(2)).ok());
  ASSERT_TRUE(executor->SetInput(1, Floats({1})).ok());
  ASSERT_TRUE(executor->Run().ok());
  EXPECT_THAT(Values(*executor), ElementsAre(4));
  EXPECT_THAT(ShapeOf(*executor, 1), ElementsAre(2, 1));
}

TEST(Loop, NoIteration) {
  auto executor = Create(LoopPlan());
  ASSERT_TRUE(executor->SetInput(1, Floats({1, 2, 3})).ok());
  for (int64_t iterations : {0, -5}) {
    ASSERT_TRUE(executor->SetInput(0, Number(iterations)).ok());
    const absl::Status status = executor->Run();
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_THAT(Values(*executor), ElementsAre(1, 2, 3));
    EXPECT_THAT(ShapeOf(*executor, 1), ElementsAre(0, 3));
  }
}

TEST(Loop, MemoryHasALimit) {
  auto executor = Create(LoopPlan());
  ASSERT_TRUE(executor->SetInput(1, Floats(std::vector<float>(1000, -1))).ok());
  ASSERT_TRUE(executor->SetInput(0, Number(1000000)).ok());
  EXPECT_EQ(executor->Run().code(), absl::StatusCode::kResourceExhausted);
}

TEST(Loop, IterationsHaveALimit) {
  ExecutorOptions options;
  options.max_iterations = 6;
  auto executor = *GraphExecutor::Create(SharePlan(LoopPlan()), Kernels(),
                                         nullptr, options);
  ASSERT_TRUE(executor->SetInput(1, Floats({-1})).ok());
  // The limit holds for each run, not for all together.
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(executor->SetInput(0, Number(6)).ok());
    EXPECT_TRUE(executor->Run().ok());
  }
  ASSERT_TRUE(executor->SetInput(0, Number(7)).ok());
  const absl::Status status = executor->Run();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("iteration 6: the loops of this run go on after 6 "
                        "iterations"));
}

void ExpectBad(Plan plan, const std::function<void(Plan*)>& change,
               const std::string& text) {
  change(&plan);
  const absl::Status status = CheckPlan(plan);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
  EXPECT_THAT(std::string(status.message()), HasSubstr(text));
}

TEST(Check, Binds) {
  auto call = [](Plan* p) { return p->mutable_calls(0); };
  ExpectBad(
      BoundPlanOf(), [&](Plan* p) { call(p)->mutable_binds(0)->set_symbol(4); },
      "it binds symbol 4 of 1");
  ExpectBad(
      BoundPlanOf(), [&](Plan* p) { PlanMaker::Bind(call(p), 0, 0); },
      "phase 1 binds other symbols than call 0 before it");
  ExpectBad(
      BoundPlanOf(), [&](Plan* p) { call(p)->mutable_binds(0)->set_index(1); },
      "it binds to element 1 of 't0', which has 1");
  ExpectBad(
      BoundPlanOf(), [&](Plan* p) { call(p)->clear_binds(); },
      "a step that binds symbols reads one tensor and gives one");
  ExpectBad(
      BoundPlanOf(),
      [&](Plan* p) { p->mutable_types(0)->mutable_dtype()->set_bits(32); },
      "it binds symbols to 't0', not i64");
  ExpectBad(
      BoundPlanOf(), [&](Plan* p) { p->mutable_calls()->SwapElements(0, 1); },
      "phase 1 begins with call 1, but call 1 binds symbols");
  ExpectBad(
      BoundPlanOf(),
      [&](Plan* p) {
        p->mutable_calls()->SwapElements(0, 1);
        p->mutable_phases(1)->set_first_call(2);
      },
      "is not bound by then");
  ExpectBad(
      BoundPlanOf(),
      [&](Plan* p) { *p->mutable_types(0)->mutable_shape(0) = Dim(kSymbol); },
      "which is not short");
  ExpectBad(
      BoundPlanOf(), [&](Plan* p) { p->mutable_calls(1)->add_binds(); },
      "a call of a function binds symbols");
}

TEST(Check, Bodies) {
  auto branch = [](Plan* p) { return p->mutable_calls(0)->mutable_branch(); };
  ExpectBad(
      BranchPlan(), [&](Plan* p) { branch(p)->set_else_body(8); },
      "it runs body 8 of 2");
  ExpectBad(
      BranchPlan(), [&](Plan* p) { branch(p)->set_else_body(0); },
      "body 0 is another call's");
  ExpectBad(
      BranchPlan(),
      [&](Plan* p) {
        p->mutable_types(0)->mutable_dtype()->set_code(DataType::kInt);
      },
      "its condition is not one bool");
  ExpectBad(
      BranchPlan(), [&](Plan* p) { p->mutable_bodies(0)->clear_outputs(); },
      "body 0 does not fit its arguments");
  ExpectBad(
      BranchPlan(),
      [&](Plan* p) { p->mutable_bodies(1)->mutable_calls(0)->set_args(0, 7); },
      "body 1: plan: call 0 (grow): argument 0 is tensor 7 of 2");
  ExpectBad(
      LoopPlan(),
      [&](Plan* p) { p->mutable_calls(0)->mutable_loop()->set_carried(3); },
      "it carries more than it has");
  ExpectBad(
      LoopPlan(),
      [&](Plan* p) {
        p->mutable_calls(0)->mutable_loop()->set_has_condition(true);
      },
      "it");
  Plan deep = BranchPlan();
  for (int i = 0; i < 40; ++i) {
    Plan outer = BranchPlan();
    *outer.mutable_bodies(0) = deep;
    deep = outer;
  }
  auto unchanged = [](Plan*) {};
  ExpectBad(deep, unchanged, "deep");
}

}  // namespace
}  // namespace ingot
