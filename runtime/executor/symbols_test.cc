// Symbols that follow from others, of inputs and of what a call finds out.
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

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const DataType kF32 = DataType::Float(32);
const DataType kI64 = DataType::Int(64);

DimExpr Half(int64_t dim) {
  DimExpr half;
  half.set_op(DimExpr::FLOOR_DIV);
  *half.add_operands() = Dim(dim);
  *half.add_operands() = Dim(2);
  return half;
}

// Each of its elements is how many there are.
absl::Status Count(absl::Span<const TVMFFIAny> args, TVMFFIAny*) {
  const DLTensor& y = **AnyToTensor(args[args.size() - 1]);
  for (int64_t i = 0; i < y.shape[0]; ++i) {
    static_cast<float*>(y.data)[i] = static_cast<float>(y.shape[0]);
  }
  return absl::OkStatus();
}

// x is f32[A], n is i64[1], whose value is B. C is A / 2 and D is B / 2:
// outputs f32[C] and f32[D].
std::unique_ptr<GraphExecutor> Halves() {
  auto module = std::make_shared<TableModule>("kernels");
  EXPECT_TRUE(module->Add("count", Function::FromLambda(Count)).ok());
  PlanMaker m(4);
  *m.plan()->mutable_symbols(2)->mutable_value() = Half(kSymbol);
  *m.plan()->mutable_symbols(3)->mutable_value() = Half(kSymbol + 1);
  const uint32_t x = m.Input(kF32, {kSymbol});
  const uint32_t n = m.Input(kI64, {1});
  const uint32_t c = m.Tensor(kF32, {kSymbol + 2});
  const uint32_t bound = m.Tensor(kI64, {1});
  const uint32_t d = m.Tensor(kF32, {kSymbol + 3});
  m.Call("count", {x}, {c});
  m.BindDims(n, bound, 1);
  m.Call("count", {x}, {d});
  m.Output(c);
  m.Output(d);
  auto executor = GraphExecutor::Create(SharePlan(m.Finish()), module, nullptr);
  EXPECT_TRUE(executor.ok()) << executor.status();
  return executor.ok() ? *std::move(executor) : nullptr;
}

TEST(Symbols, FollowFromOthers) {
  auto executor = Halves();
  ASSERT_NE(executor, nullptr);
  for (const auto& [a, b] : std::vector<std::pair<int64_t, int64_t>>{
           {5, 3}, {5, 8}, {2, 8}, {2, 0}}) {
    Tensor x = *Tensor::Empty(kF32, {a}), n = *Tensor::Empty(kI64, {1});
    n.mutable_data<int64_t>()[0] = b;
    const auto y = executor->Run({x, n});
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_THAT((*y)[0].shape(), ElementsAre(a / 2));
    EXPECT_THAT((*y)[1].shape(), ElementsAre(b / 2));
    EXPECT_EQ((*y)[0].data<float>()[0], static_cast<float>(a / 2));
    if (b > 1) EXPECT_EQ((*y)[1].data<float>()[0], static_cast<float>(b / 2));
  }
}

TEST(Symbols, SaysWhichHasNoValue) {
  PlanMaker m(2);
  DimExpr* value = m.plan()->mutable_symbols(1)->mutable_value();
  *value = Half(4);
  value->mutable_operands(1)->set_op(DimExpr::SYMBOL);
  value->mutable_operands(1)->set_value(0);
  const uint32_t x = m.Input(kF32, {kSymbol});
  m.Tensor(kF32, {kSymbol + 1});
  m.Output(x);
  auto executor =
      GraphExecutor::Create(SharePlan(m.Finish()), nullptr, nullptr);
  ASSERT_TRUE(executor.ok()) << executor.status();
  EXPECT_TRUE((*executor)->Run({*Tensor::Empty(kF32, {2})}).ok());
  EXPECT_THAT((*executor)->Run({*Tensor::Empty(kF32, {0})}).status().message(),
              HasSubstr("symbol 'B': a dimension's expression divides"));
}

}  // namespace
}  // namespace ingot
