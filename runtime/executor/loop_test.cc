// Values that a loop carries: swapped, passed on, of shapes that change, as
// sequences.
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
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
const DataType kFlag = DataType::Bool();

int64_t Count(const TVMFFIAny& any) {
  const DLTensor* dl = *AnyToTensor(any);
  return *CountElements(absl::MakeConstSpan(dl->shape, dl->ndim));
}

float* Data(const TVMFFIAny& any) {
  return static_cast<float*>((*AnyToTensor(any))->data);
}

// "add": out = a + b, an error unless that is elsewhere. "grow": out is a with
// the sum of a after it. "true": out is true.
std::shared_ptr<TableModule> Kernels() {
  auto module = std::make_shared<TableModule>("kernels");
  using Body = std::function<absl::Status(absl::Span<const TVMFFIAny>)>;
  auto add = [&](const char* name, Body body) {
    auto function = [body](absl::Span<const TVMFFIAny> args, TVMFFIAny*) {
      return body(args);
    };
    EXPECT_TRUE(module->Add(name, Function::FromLambda(function)).ok());
  };
  add("add", [](absl::Span<const TVMFFIAny> args) {
    for (int64_t i = 0; i < Count(args[2]); ++i) {
      Data(args[2])[i] = Data(args[0])[i] + Data(args[1])[i];
    }
    return Data(args[0]) == Data(args[2]) || Data(args[1]) == Data(args[2])
               ? absl::InternalError("it writes where it reads")
               : absl::OkStatus();
  });
  add("grow", [](absl::Span<const TVMFFIAny> args) {
    const int64_t n = Count(args[0]);
    float sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      Data(args[1])[i] = Data(args[0])[i];
      sum += Data(args[0])[i];
    }
    Data(args[1])[n] = sum;
    return absl::OkStatus();
  });
  add("true", [](absl::Span<const TVMFFIAny> args) {
    *static_cast<bool*>((*AnyToTensor(args[0]))->data) = true;
    return absl::OkStatus();
  });
  return module;
}

Tensor Number(int64_t v) {
  Tensor tensor = *Tensor::Empty(kI64, {});
  *tensor.mutable_data<int64_t>() = v;
  return tensor;
}

Tensor Floats(const std::vector<float>& v) {
  Tensor tensor = *Tensor::Empty(kF32, {static_cast<int64_t>(v.size())});
  std::memcpy(tensor.mutable_raw_data(), v.data(), tensor.bytes());
  return tensor;
}

std::unique_ptr<GraphExecutor> Create(const Plan& plan) {
  auto executor = GraphExecutor::Create(SharePlan(plan), Kernels(), nullptr);
  EXPECT_TRUE(executor.ok()) << executor.status();
  return executor.ok() ? *std::move(executor) : nullptr;
}

std::vector<float> Values(const GraphExecutor& executor, size_t output) {
  absl::StatusOr<Tensor> tensor = executor.GetOutput(output);
  EXPECT_TRUE(tensor.ok()) << tensor.status();
  if (!tensor.ok()) return {};
  return {tensor->values<float>().begin(), tensor->values<float>().end()};
}

// The loop of `body`, whose carried values are `types`, run as often as the
// first input says, on the other inputs.
Plan LoopOver(PlanMaker body, int carried, int symbols = 0) {
  PlanMaker m(symbols);
  std::vector<uint32_t> reads = {m.Input(kI64, {})};
  std::vector<uint32_t> writes;
  const std::vector<int64_t> dims = {symbols > 0 ? kSymbol : 2};
  for (int i = 0; i < carried; ++i) reads.push_back(m.Input(kF32, dims));
  for (int i = 0; i < carried; ++i) {
    writes.push_back(m.Tensor(kF32, {symbols > 0 ? kSymbol + 1 : 2}));
    m.Output(writes.back());
  }
  PlanCall* call = m.Call("", reads, writes);
  call->mutable_loop()->set_has_max_iterations(true);
  call->mutable_loop()->set_carried(carried);
  if (symbols > 0) m.Bind(call, 1, 0);
  *m.plan()->add_bodies() = body.FinishBody();
  return m.Finish();
}

// a, b = b, a + b: one carried value is passed on, the other made.
TEST(Carried, PassedOnInAnotherPosition) {
  PlanMaker body;
  body.Input(kI64, {});
  const uint32_t a = body.Input(kF32, {2});
  const uint32_t b = body.Input(kF32, {2});
  const uint32_t on = body.Tensor(kFlag, {});
  const uint32_t sum = body.Tensor(kF32, {2});
  body.Call("true", {}, {on});
  body.Call("add", {a, b}, {sum});
  for (uint32_t t : {on, b, sum}) body.Output(t);
  auto executor = Create(LoopOver(body, 2));
  ASSERT_TRUE(executor->SetInput(1, Floats({0, 1})).ok());
  ASSERT_TRUE(executor->SetInput(2, Floats({1, 10})).ok());
  for (auto [count, first, second] :
       std::vector<std::tuple<int64_t, float, float>>{
           {0, 0, 1}, {1, 1, 1}, {2, 1, 2}, {7, 13, 21}, {8, 21, 34}}) {
    ASSERT_TRUE(executor->SetInput(0, Number(count)).ok());
    const absl::Status status = executor->Run();
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(Values(*executor, 0)[0], first) << count;
    EXPECT_EQ(Values(*executor, 1)[0], second) << count;
  }
}

// a, b, c = c, a, b: nothing is made at all.
TEST(Carried, OnlyPassedAround) {
  PlanMaker body;
  body.Input(kI64, {});
  uint32_t in[3];
  for (uint32_t& t : in) t = body.Input(kF32, {2});
  const uint32_t on = body.Tensor(kFlag, {});
  const uint32_t view = body.View(in[2], {2});
  body.Call("true", {}, {on});
  for (uint32_t t : {on, view, in[0], in[1]}) body.Output(t);
  auto executor = Create(LoopOver(body, 3));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(executor->SetInput(1 + i, Floats({float(i), 0})).ok());
  }
  for (int count : {0, 1, 2, 3, 4, 5}) {
    ASSERT_TRUE(executor->SetInput(0, Number(count)).ok());
    ASSERT_TRUE(executor->Run().ok());
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(Values(*executor, i)[0], (i + 3 * count - count) % 3) << count;
    }
  }
}

// a, b = a + b twice, one value in two positions; a stays in c.
TEST(Carried, OneValueInTwoPositions) {
  PlanMaker body;
  body.Input(kI64, {});
  const uint32_t a = body.Input(kF32, {2});
  const uint32_t b = body.Input(kF32, {2});
  const uint32_t c = body.Input(kF32, {2});
  const uint32_t on = body.Tensor(kFlag, {});
  const uint32_t sum = body.Tensor(kF32, {2});
  const uint32_t view = body.View(sum, {2});
  body.Call("true", {}, {on});
  body.Call("add", {a, b}, {sum});
  for (uint32_t t : {on, sum, view, c}) body.Output(t);
  auto executor = Create(LoopOver(body, 3));
  ASSERT_TRUE(executor->SetInput(1, Floats({1, 2})).ok());
  ASSERT_TRUE(executor->SetInput(2, Floats({3, 4})).ok());
  ASSERT_TRUE(executor->SetInput(3, Floats({5, 6})).ok());
  ASSERT_TRUE(executor->SetInput(0, Number(4)).ok());
  const absl::Status status = executor->Run();
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(Values(*executor, 0), ElementsAre(32, 48));
  EXPECT_THAT(Values(*executor, 1), ElementsAre(32, 48));
  EXPECT_THAT(Values(*executor, 2), ElementsAre(5, 6));
}

// A value that gets one element more in each iteration.
TEST(Carried, ShapesThatChange) {
  PlanMaker body(1);
  body.Input(kI64, {});
  const uint32_t a = body.Input(kF32, {kSymbol});
  const uint32_t on = body.Tensor(kFlag, {});
  const uint32_t more = body.Tensor(kF32, {kSymbol});
  for (DimExpr* dim :
       {body.plan()->mutable_types(more)->mutable_shape(0),
        body.plan()->mutable_storage(1)->mutable_bytes(0)->mutable_operands(
            1)}) {
    DimExpr sum;
    sum.set_op(DimExpr::ADD);
    *sum.add_operands() = Dim(kSymbol);
    *sum.add_operands() = Dim(1);
    *dim = sum;
  }
  body.Call("true", {}, {on});
  body.Call("grow", {a}, {more});
  for (uint32_t t : {on, more}) body.Output(t);
  auto executor = Create(LoopOver(body, 1, 2));
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(executor->SetInput(1, Floats({1})).ok());
    ASSERT_TRUE(executor->SetInput(0, Number(5)).ok());
    const absl::Status status = executor->Run();
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_THAT(Values(*executor, 0), ElementsAre(1, 1, 2, 4, 8, 16));
    ASSERT_TRUE(executor->SetInput(1, Floats({2, 3})).ok());
    ASSERT_TRUE(executor->SetInput(0, Number(1)).ok());
    ASSERT_TRUE(executor->Run().ok());
    EXPECT_THAT(Values(*executor, 0), ElementsAre(2, 3, 5));
  }
}

// Results of no iteration are stacked as an empty tensor of the known shape.
TEST(Stacked, NoIteration) {
  PlanMaker body(1);
  body.Input(kI64, {});
  const uint32_t a = body.Input(kF32, {kSymbol});
  const uint32_t on = body.Tensor(kFlag, {});
  body.Call("true", {}, {on});
  for (uint32_t t : {on, a}) body.Output(t);
  PlanMaker m(1);
  const uint32_t n = m.Input(kI64, {});
  const uint32_t x = m.Input(kF32, {kSymbol});
  const uint32_t stack = m.Tensor(kF32, {0, kSymbol});
  PlanCall* call = m.Call("", {n, x}, {stack});
  call->mutable_loop()->set_has_max_iterations(true);
  *m.plan()->add_bodies() = body.FinishBody();
  m.Output(stack);
  auto executor = Create(m.Finish());
  ASSERT_TRUE(executor->SetInput(0, Number(0)).ok());
  ASSERT_TRUE(executor->SetInput(1, Floats({1, 2, 3})).ok());
  const absl::Status status = executor->Run();
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(executor->GetOutput(0)->shape(), ElementsAre(0, 3));
  ASSERT_TRUE(executor->SetInput(0, Number(1)).ok());
  EXPECT_THAT(std::string(executor->Run().message()),
              HasSubstr("result 0 is f32[1, 3], expected f32[0, 3]"));
}

// y = x + x in storage, then a loop that adds its operand to itself, in place.
Plan InPlacePlan() {
  PlanMaker body;
  body.Input(kI64, {});
  const uint32_t a = body.Input(kF32, {2});
  const uint32_t on = body.Tensor(kFlag, {});
  const uint32_t sum = body.Tensor(kF32, {2});
  body.Call("true", {}, {on});
  body.Call("add", {a, a}, {sum});
  for (uint32_t t : {on, sum}) body.Output(t);
  PlanMaker m;
  const uint32_t n = m.Input(kI64, {});
  const uint32_t x = m.Input(kF32, {2});
  const uint32_t y = m.Tensor(kF32, {2});
  const uint32_t z = m.Tensor(kF32, {2});
  m.plan()->mutable_tensors(z)->set_storage(m.plan()->tensors(y).storage());
  m.Call("add", {x, x}, {y});
  PlanCall* call = m.Call("", {n, y}, {z});
  call->mutable_loop()->set_has_max_iterations(true);
  call->mutable_loop()->set_carried(1);
  call->add_in_place()->set_operand(1);
  m.Output(z);
  *m.plan()->add_bodies() = body.FinishBody();
  return m.Finish();
}

TEST(InPlace, ALoopsResultIsWhereItsOperandWas) {
  auto executor = Create(InPlacePlan());
  ASSERT_TRUE(executor->SetInput(1, Floats({1, 2})).ok());
  for (int64_t count : {0, 1, 2, 3, 0}) {
    ASSERT_TRUE(executor->SetInput(0, Number(count)).ok());
    const absl::Status status = executor->Run();
    ASSERT_TRUE(status.ok()) << status;
    const float factor = static_cast<float>(2 << count);
    EXPECT_THAT(Values(*executor, 0), ElementsAre(factor, 2 * factor));
  }
}

TEST(InPlace, PlansAreChecked) {
  ASSERT_TRUE(CheckPlan(InPlacePlan()).ok()) << CheckPlan(InPlacePlan());
  const auto bad = [](const std::function<void(Plan*)>& change,
                      const std::string& text) {
    Plan plan = InPlacePlan();
    change(&plan);
    absl::Status status =
        GraphExecutor::Create(SharePlan(plan), Kernels(), nullptr).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(status.message()), HasSubstr(text));
  };
  const auto pair = [](Plan* p) {
    return p->mutable_calls(1)->mutable_in_place(0);
  };
  // Without the statement, it is a result that overlaps an operand.
  bad([](Plan* p) { p->mutable_calls(1)->clear_in_place(); }, "overlap");
  bad([&](Plan* p) { pair(p)->set_operand(0); },
      "it cannot put 't3' in the place of 't0'");
  bad([&](Plan* p) { pair(p)->set_operand(2); },
      "it puts result 0 of 1 in the place of operand 2 of 2");
  bad([&](Plan* p) { pair(p)->set_result(0xffffffffu); },
      "it puts result 4294967295 of 1");
  bad([](Plan* p) { p->mutable_tensors(3)->set_storage(1); },
      "'t3' is not in the place of 't2'");
  bad(
      [](Plan* p) {
        *p->mutable_storage(0)->mutable_bytes(0) = Dim(128);
        p->mutable_tensors(3)->set_offset(4);
      },
      "'t3' is not in the place of 't2'");
  bad([](Plan* p) { *p->mutable_calls(0)->add_in_place() = PlanInPlace(); },
      "it cannot put 't2' in the place of 't1'");
  bad(
      [](Plan* p) {
        *p->mutable_calls(1)->add_in_place() = p->calls(1).in_place(0);
      },
      "result 0 or operand 1 is in two updates in place");
  bad([](Plan* p) { p->add_outputs(2); },
      "output 1, 't2', was updated in place");
  bad(
      [](Plan* p) {
        *p->add_calls() = p->calls(0);
        p->mutable_calls(2)->set_args(0, 2);
        p->mutable_calls(2)->set_args(1, 3);
      },
      "it reads 't2', which was updated in place");
  bad([](Plan* p) { *p->mutable_types(3)->mutable_shape(0) = Dim(1); },
      "'t3' is in the place of 't2', which is of another size");
}

}  // namespace
}  // namespace ingot
