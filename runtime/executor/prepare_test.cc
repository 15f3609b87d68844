// Memory that is taken before the runs that need it.
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/executor/executor.h"
#include "runtime/executor/plan_maker.h"
#include "runtime/plan/shared_plan.h"

namespace ingot {
namespace {

using ::testing::HasSubstr;

const DataType kF32 = DataType::Float(32);

// y = 2 x in steps, x and b being f32[A].
std::unique_ptr<GraphExecutor> Doubling() {
  auto module = std::make_shared<TableModule>("kernels");
  auto twice = [](absl::Span<const TVMFFIAny> args, TVMFFIAny*) {
    const DLTensor& x = **AnyToTensor(args[0]);
    const DLTensor& y = **AnyToTensor(args[1]);
    for (int64_t i = 0; i < x.shape[0]; ++i) {
      static_cast<float*>(y.data)[i] = 2 * static_cast<float*>(x.data)[i];
    }
    return absl::OkStatus();
  };
  EXPECT_TRUE(module->Add("double", Function::FromLambda(twice)).ok());
  PlanMaker m(1);
  const uint32_t x = m.Input(kF32, {kSymbol});
  m.Input(kF32, {kSymbol});
  const uint32_t y = m.Tensor(kF32, {kSymbol});
  m.Call("double", {x}, {y});
  m.Output(y);
  auto executor = GraphExecutor::Create(SharePlan(m.Finish()), module, nullptr);
  EXPECT_TRUE(executor.ok()) << executor.status();
  return executor.ok() ? *std::move(executor) : nullptr;
}

void SetInputs(GraphExecutor* executor, int64_t a, int64_t b) {
  Tensor x = *Tensor::Empty(kF32, {a});
  for (int64_t i = 0; i < a; ++i) x.mutable_data<float>()[i] = i;
  EXPECT_TRUE(executor->SetInput(0, x).ok());
  EXPECT_TRUE(executor->SetInput(1, *Tensor::Empty(kF32, {b})).ok());
}

TEST(Prepare, TakesTheMemoryOfTheLongestRun) {
  auto executor = Doubling();
  ASSERT_NE(executor, nullptr);
  SetInputs(executor.get(), 1000, 1000);
  ASSERT_TRUE(executor->Prepare().ok());
  EXPECT_EQ(executor->GetOutput(0).status().code(),
            absl::StatusCode::kFailedPrecondition);
  const size_t bytes = executor->storage_bytes();
  EXPECT_GE(bytes, 4000u);
  const void* memory = nullptr;
  for (int64_t n : {1, 500, 1000}) {
    SetInputs(executor.get(), n, n);
    ASSERT_TRUE(executor->Run().ok());
    const Tensor y = *executor->GetOutput(0);
    EXPECT_EQ(y.data<float>()[n - 1], 2 * (n - 1));
    EXPECT_EQ(executor->storage_bytes(), bytes);
    if (memory != nullptr) EXPECT_EQ(y.raw_data(), memory);
    memory = y.raw_data();
  }
}

TEST(Prepare, SaysWhatARunWould) {
  auto executor = Doubling();
  ASSERT_NE(executor, nullptr);
  const absl::Status unset = executor->Prepare();
  EXPECT_EQ(unset.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(unset.message(), HasSubstr("was not set"));
  SetInputs(executor.get(), 3, 4);
  EXPECT_THAT(executor->Prepare().message(), HasSubstr("but A is 3"));
  SetInputs(executor.get(), 3, 3);
  EXPECT_TRUE(executor->Prepare().ok());
}

}  // namespace
}  // namespace ingot
