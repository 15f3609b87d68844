// Interpolation by tables, whose rows are made one by one, against sums in
// double over all dimensions at once.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/machine/test_machine.h"
#include "compiler/relay/ir.h"
#include "compiler/schedules/cpu/operator_kernel.h"
#include "compiler/schedules/schedule_kernel.h"
#include "compiler/te/testing/check.h"
#include "gtest/gtest.h"

namespace ingot::te::cpu {
namespace {

using Ints = std::vector<int64_t>;

constexpr DataType kF32 = DataType::Float(32);

// A resampling of half-pixel positions.
struct Problem {
  Ints from, to;
  std::string mode = "linear";
  bool relu = false;      // follows
  bool symbolic = false;  // all extents are symbols
};

// The elements that position `i` of a dimension is made of, and their weights.
std::map<int64_t, double> TapsOf(const Problem& p, size_t d, int64_t i) {
  const int64_t n = p.from[d];
  if (n == p.to[d]) return {{i, 1.0}};
  const double at = (static_cast<double>(i) + 0.5) * static_cast<double>(n) /
                        static_cast<double>(p.to[d]) -
                    0.5;
  const auto inside = [n](double place) {
    return std::max<int64_t>(std::min(static_cast<int64_t>(place), n - 1),
                             int64_t{0});
  };
  if (p.mode == "nearest") return {{inside(std::ceil(at - 0.5)), 1.0}};
  const auto weight = [&](double distance) {
    const double t = std::abs(distance), a = -0.75;
    if (p.mode == "linear") return std::max(1 - t, 0.0);
    if (t <= 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
    return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
  };
  std::map<int64_t, double> taps;
  for (int k = -1; k <= 2; ++k) {
    const double place = std::floor(at) + k;
    taps[inside(place)] += weight(at - place);
  }
  return taps;
}

double Between(const Problem& p, const ingot::Tensor& x, const Ints& at,
               size_t d, int64_t place) {
  if (d == at.size()) return x.data<float>()[place];
  double sum = 0;
  for (const auto& [index, weight] : TapsOf(p, d, at[d])) {
    if (weight == 0) continue;
    sum += weight * Between(p, x, at, d + 1, place * p.from[d] + index);
  }
  return sum;
}

std::vector<double> Expected(const Problem& p, const ingot::Tensor& x) {
  int64_t count = 1;
  for (int64_t extent : p.to) count *= extent;
  std::vector<double> y;
  for (int64_t point = 0; point < count; ++point) {
    Ints at(p.to.size());
    int64_t rest = point;
    for (size_t d = at.size(); d-- > 0; rest /= p.to[d]) at[d] = rest % p.to[d];
    const double value = Between(p, x, at, 0, 0);
    y.push_back(p.relu ? std::max(value, 0.0) : value);
  }
  return y;
}

void Define(const Problem& p, Kernel* kernel, Dimensions* dims) {
  relay::Attrs attrs;
  attrs.Set("sizes", dims->Of(p.to));
  attrs.Set("mode", p.mode);
  DefineOperator("resize", {{kF32, dims->Of(p.from)}}, attrs, kernel);
  if (!p.relu || testing::Test::HasFatalFailure()) return;
  const Tensor y = kernel->outputs[0];
  kernel->outputs = {kernel->graph.Compute(
      "relu", y.shape(), [&](auto& i) { return tir::Max(y(i), F(0)); })};
}

// `rows`: whether each row's part of a table is made where the row is.
void Check(const Problem& p, const MachineModel& machine, bool rows) {
  SCOPED_TRACE(p.mode + " with vectors of " +
               std::to_string(machine.vector_bits));
  Kernel kernel;
  Dimensions dims(p.symbolic);
  Define(p, &kernel, &dims);
  if (testing::Test::HasFatalFailure()) return;
  const auto inputs = RandomInputs(kernel, dims.values(), 1);
  bool used;
  const ingot::Tensor result = RunScheduled(
      kernel, machine, inputs, dims.values(), "cpu.table_rows", &used);
  EXPECT_EQ(used, rows);
  const std::vector<double> expected = Expected(p, inputs[0]);
  ASSERT_EQ(result.NumElements(), static_cast<int64_t>(expected.size()));
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(result.data<float>()[i], expected[i], 2e-4) << i;
  }
}

class TableRowsTest : public testing::TestWithParam<int> {
 protected:
  void CheckModes(Problem p, bool rows) {
    for (const char* mode : {"linear", "cubic", "nearest"}) {
      p.mode = mode;
      // The nearest elements are read where they are.
      Check(p, TestCpu(GetParam()), rows && p.mode != "nearest");
    }
  }
};

TEST_P(TableRowsTest, Planes) {
  CheckModes({{2, 3, 5, 7}, {2, 3, 10, 14}}, true);
  CheckModes({{1, 3, 16, 21}, {1, 3, 7, 19}}, true);
  CheckModes({{1, 1, 1, 1}, {1, 1, 9, 33}}, true);
  CheckModes({{4, 3}, {1, 1}}, true);
}

TEST_P(TableRowsTest, BlocksOfChannels) {
  CheckModes({{1, 2, 5, 7, 8}, {1, 2, 11, 20, 8}}, true);
  CheckModes({{1, 2, 9, 12, 4}, {1, 2, 4, 5, 4}}, true);
}

// With one dimension there is nothing that is read several times; of three, two
// are a table of their own.
TEST_P(TableRowsTest, OtherNumbersOfDimensions) {
  CheckModes({{2, 3, 9}, {2, 3, 20}}, false);
  CheckModes({{2, 9, 3}, {2, 20, 3}}, false);
  CheckModes({{1, 2, 3, 4, 5}, {1, 2, 7, 6, 13}}, true);
  CheckModes({{2, 3, 2, 3}, {3, 5, 5, 4}}, true);
}

// Most of each row would be made for nothing.
TEST_P(TableRowsTest, MuchSmallerResults) {
  CheckModes({{2, 3, 64, 64}, {2, 3, 5, 6}}, false);
}

TEST_P(TableRowsTest, WhatFollows) {
  CheckModes({{2, 3, 5, 7}, {2, 3, 10, 14}, "", /*relu=*/true}, true);
}

TEST_P(TableRowsTest, Symbols) {
  Problem p;
  p.symbolic = true;
  for (const auto& [from, to] :
       std::vector<std::pair<Ints, Ints>>{{{2, 3, 5, 7}, {2, 3, 10, 14}},
                                          {{1, 3, 16, 21}, {1, 3, 7, 19}},
                                          {{1, 4, 5, 6}, {1, 4, 1, 1}},
                                          {{0, 3, 5, 7}, {0, 3, 10, 14}}}) {
    p.from = from;
    p.to = to;
    CheckModes(p, true);
  }
}

INSTANTIATE_TEST_SUITE_P(VectorBits, TableRowsTest,
                         testing::Values(0, 128, 256, 512));

// A device computes all of a result's points at once.
TEST(TableTest, IsNoneOnADevice) {
  Kernel kernel;
  Dimensions dims(/*symbolic=*/false);
  Define({{2, 3, 5, 7}, {2, 3, 10, 14}}, &kernel, &dims);
  const auto schedule =
      ScheduleKernel(kernel.graph, kernel.outputs, {}, TestGpu());
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  EXPECT_EQ(schedule->stages().size(), 1u);
}

}  // namespace
}  // namespace ingot::te::cpu
