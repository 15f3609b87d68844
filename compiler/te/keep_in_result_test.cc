// Stages whose elements lie where the consumer's result will be.
#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/te/lower.h"
#include "compiler/te/schedule.h"
#include "compiler/te/testing/check.h"
#include "gtest/gtest.h"

namespace ingot::te {
namespace {

// Rows of n elements less their sums: double = 2 * x; y = double - sum(double).
class KeepInResultTest : public testing::Test {
 protected:
  KeepInResultTest() {
    const DataType f32 = DataType::Float(32);
    const std::vector<Expr> shape = {I(5), n_};
    const Tensor x = kernel_.graph.Placeholder("x", f32, shape);
    double_ = kernel_.graph.Compute("double", shape,
                                    [&](auto& i) { return x(i) * F(2); });
    sum_ = kernel_.graph.Reduce("sum", {I(5)}, {n_}, Reducer::Sum(f32),
                                [&](auto& i, auto& r) {
                                  return double_({i[0], r[0]});
                                });
    kernel_.inputs = {x};
    kernel_.outputs = {kernel_.graph.Compute(
        "y", shape, [&](auto& i) { return double_(i) - sum_({i[0]}); })};
  }

  Schedule Make() {
    auto schedule = Schedule::Create(kernel_.graph, kernel_.outputs);
    EXPECT_TRUE(schedule.ok()) << schedule.status();
    return *std::move(schedule);
  }

  const tir::VarPtr n_ = tir::MakeVar("n");
  Kernel kernel_;
  Tensor double_, sum_;
};

TEST_F(KeepInResultTest, NeedsNoOtherMemory) {
  for (const bool parallel : {false, true}) {
    Schedule s = Make();
    Stage* y = s.Find(kernel_.outputs[0]);
    const Loop row = y->axis(0);
    if (parallel) y->Parallel(row);
    y->Vectorize(y->Split(y->axis(1), 4).second);
    s.Find(double_)->ComputeAt(y, row);
    s.Find(double_)->KeepInResult();
    s.Find(sum_)->ComputeAt(y, row);
    for (int64_t n : {0, 1, 4, 11}) ExpectSame(kernel_, s, {{n_.get(), n}});
    auto f = Lower("f", kernel_.graph, kernel_.inputs, kernel_.outputs, s);
    ASSERT_TRUE(f.ok()) << f.status();
    EXPECT_EQ(f->num_workspaces, 0);
  }
}

TEST_F(KeepInResultTest, NeedsAConsumer) {
  Schedule s = Make();
  s.Find(double_)->KeepInResult();
  EXPECT_FALSE(s.status().ok());
}

TEST_F(KeepInResultTest, NeedsAResultOfTheSameRank) {
  Schedule s = Make();
  Stage* y = s.Find(kernel_.outputs[0]);
  s.Find(sum_)->ComputeAt(y, y->axis(0));
  s.Find(sum_)->KeepInResult();
  EXPECT_FALSE(s.status().ok());
}

}  // namespace
}  // namespace ingot::te
