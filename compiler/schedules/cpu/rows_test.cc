// Softmax, its logarithm and norms of rows that are long or short, many or few,
// with sizes that do not divide, against loops without a schedule.
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/machine/test_machine.h"
#include "compiler/schedules/cpu/templates.h"
#include "compiler/schedules/cpu/test_kernels.h"
#include "compiler/schedules/schedule_kernel.h"
#include "compiler/te/lower.h"
#include "compiler/te/testing/check.h"
#include "gtest/gtest.h"

namespace ingot::te::cpu {
namespace {

using tir::Intrinsic;

// Rows that are taken together and rows that are not, of less than a vector,
// and of several with a rest.
const std::vector<std::vector<int64_t>> kSizes = {
    {64, 40}, {4, 48, 75}, {2, 20, 3},  {100, 16}, {51, 130},
    {3, 600}, {7, 1},      {1, 64, 64}, {32, 259}, {2, 16, 32, 9}};

class RowsTest : public testing::TestWithParam<int> {
 protected:
  Schedule ScheduleOf(const Kernel& kernel) {
    MachineModel machine = TestCpuWithSmallCaches(GetParam());
    machine.l1_bytes = 8 << 10;
    machine.wide_vectors = true;
    auto schedule =
        ScheduleKernel(kernel.graph, kernel.outputs, CpuTemplates(), machine);
    EXPECT_TRUE(schedule.ok()) << schedule.status();
    return *std::move(schedule);
  }

  // Checks the kernels that `make` makes for operands of each size.
  void Check(const std::function<Kernel(const std::vector<Expr>&)>& make) {
    for (const std::vector<int64_t>& size : kSizes) {
      std::string name;
      for (int64_t n : size) absl::StrAppend(&name, n, " ");
      SCOPED_TRACE(name);
      const Kernel kernel = make(ConstShape(size));
      ExpectSame(kernel, ScheduleOf(kernel), {}, 1e-5F);
    }
  }
};

Indices Row(const Indices& i) { return {i.begin(), i.end() - 1}; }
Indices InRow(const Indices& i, const Indices& r) {
  Indices at = i;
  at.push_back(r[0]);
  return at;
}

// Sums along the last dimension.
Tensor SumOfRows(Graph* g, const std::vector<Expr>& shape,
                 const std::function<Expr(const Indices&)>& term) {
  return g->Reduce("sum", {shape.begin(), shape.end() - 1}, {shape.back()},
                   Reducer::Sum(kF32),
                   [&](auto& i, auto& r) { return term(InRow(i, r)); });
}

TEST_P(RowsTest, Softmax) {
  Check([](const std::vector<Expr>& shape) {
    return Softmax(shape, static_cast<int>(shape.size()) - 1);
  });
}

// The exponents are in the place of the result, which fewer workspaces show.
TEST_P(RowsTest, ExponentsAreKeptInTheResult) {
  const Kernel kernel = Softmax(ConstShape({3, 60000}), 1);
  const Schedule schedule = ScheduleOf(kernel);
  auto func = Lower("k", kernel.graph, kernel.inputs, kernel.outputs, schedule);
  ASSERT_TRUE(func.ok()) << func.status();
  EXPECT_EQ(func->num_workspaces, 0);
}

// A stage that is read at other points, too, has a place of its own.
TEST_P(RowsTest, ReversedSoftmax) {
  Check([](const std::vector<Expr>& shape) {
    Kernel k;
    Tensor x = k.graph.Placeholder("x", kF32, shape);
    Tensor e = k.graph.Compute("e", shape, [&](auto& i) {
      return tir::MakeCall(Intrinsic::kExp, {x(i)});
    });
    Tensor sum = SumOfRows(&k.graph, shape, [&](auto& i) { return e(i); });
    k.inputs = {x};
    k.outputs = {k.graph.Compute("y", shape, [&](auto& i) {
      Indices back = i;
      back.back() = shape.back() - 1 - i.back();
      return (e(i) + e(back)) / sum(Row(i));
    })};
    return k;
  });
}

TEST_P(RowsTest, LogSoftmax) {
  Check([](const std::vector<Expr>& shape) {
    Kernel k;
    Tensor x = k.graph.Placeholder("x", kF32, shape);
    Tensor sum = SumOfRows(&k.graph, shape, [&](auto& i) {
      return tir::MakeCall(Intrinsic::kExp, {x(i)});
    });
    k.inputs = {x};
    k.outputs = {k.graph.Compute("y", shape, [&](auto& i) {
      return x(i) - tir::MakeCall(Intrinsic::kLog, {sum(Row(i))});
    })};
    return k;
  });
}

// One result for each row, in vectors of rows.
TEST_P(RowsTest, LogOfSums) {
  for (const bool keeps_axis : {false, true}) {
    Check([keeps_axis](const std::vector<Expr>& shape) {
      Kernel k;
      Tensor x = k.graph.Placeholder("x", kF32, shape);
      Tensor sum = SumOfRows(&k.graph, shape, [&](auto& i) {
        return tir::MakeCall(Intrinsic::kExp, {x(i)});
      });
      std::vector<Expr> rows(shape.begin(), shape.end() - 1);
      if (keeps_axis) rows.push_back(I(1));
      k.inputs = {x};
      k.outputs = {k.graph.Compute("y", rows, [&](auto& i) {
        return tir::MakeCall(Intrinsic::kLog, {sum(keeps_axis ? Row(i) : i)});
      })};
      return k;
    });
  }
}

TEST_P(RowsTest, Variance) {
  Check([](const std::vector<Expr>& shape) {
    Kernel k;
    Graph& g = k.graph;
    Tensor x = g.Placeholder("x", kF32, shape);
    Tensor w = g.Placeholder("w", kF32, {shape.back()});
    Tensor sum = SumOfRows(&g, shape, [&](auto& i) { return x(i); });
    const std::vector<Expr> rows(shape.begin(), shape.end() - 1);
    Tensor mean =
        g.Compute("mean", rows, [&](auto& i) { return sum(i) * F(0.125); });
    Tensor squares = SumOfRows(&g, shape, [&](auto& i) {
      const Expr d = x(i) - mean(Row(i));
      return d * d;
    });
    k.inputs = {x, w};
    k.outputs = {g.Compute("y", shape, [&](auto& i) {
      return (x(i) - mean(Row(i))) * w({i.back()}) / (squares(Row(i)) + F(1));
    })};
    return k;
  });
}

INSTANTIATE_TEST_SUITE_P(VectorBits, RowsTest,
                         testing::Values(0, 128, 256, 512));

}  // namespace
}  // namespace ingot::te::cpu
