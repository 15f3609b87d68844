// Sums along windows, columns and groups of channels, on processors of several
// widths, with sizes that do not divide, against loops without a schedule.
#include <map>
#include <string>
#include <vector>

#include "compiler/machine/test_machine.h"
#include "compiler/schedules/cpu/templates.h"
#include "compiler/schedules/cpu/test_kernels.h"
#include "compiler/schedules/schedule_kernel.h"
#include "compiler/te/tags.h"
#include "compiler/te/testing/check.h"
#include "gtest/gtest.h"

namespace ingot::te::cpu {
namespace {

using Tags = std::map<std::string, std::string>;

class SumsTest : public testing::TestWithParam<int> {
 protected:
  void Check(const Kernel& kernel) {
    auto schedule = ScheduleKernel(kernel.graph, kernel.outputs, CpuTemplates(),
                                   TestCpuWithSmallCaches(GetParam()));
    ASSERT_TRUE(schedule.ok()) << schedule.status();
    ExpectSame(kernel, *schedule);
  }
};

TEST_P(SumsTest, PoolPlain) {
  struct Size {
    int64_t width, kernel, stride;
  };
  for (Size s : std::vector<Size>{
           {7, 3, 1}, {57, 3, 1}, {70, 3, 2}, {40, 5, 1}, {45, 7, 1}}) {
    Kernel k;
    Tensor x = k.graph.Placeholder("x", kF32, ConstShape({1, 2, 9, s.width}));
    Tensor y = Pad(&k.graph, x, s.kernel / 2);
    const auto shape = ConstShape(
        {1, 2, (9 - 1) / s.stride + 1, (s.width - 1) / s.stride + 1});
    Tensor sum = k.graph.Reduce(
        "p", shape, ConstShape({s.kernel, s.kernel}), Reducer::Sum(kF32),
        [&](auto& i, auto& r) {
          return y(
              {i[0], i[1], i[2] * s.stride + r[0], i[3] * s.stride + r[1]});
        },
        Tags{{kAnchor, kPool2d}});
    k.inputs = {x};
    k.outputs = {Relu(&k.graph, sum)};
    Check(k);
  }
}

// Windows over three dimensions, which move by two.
TEST_P(SumsTest, PoolOfThreeDimensions) {
  for (int64_t width : {3, 14, 37}) {
    Kernel k;
    Tensor x = k.graph.Placeholder("x", kF32, ConstShape({2, 4, 6, 2 * width}));
    k.inputs = {x};
    k.outputs = {k.graph.Reduce(
        "p", ConstShape({2, 2, 3, width}), ConstShape({2, 2, 2}),
        Reducer::Max(kF32), [&](auto& i, auto& r) {
          return x({i[0], i[1] * 2 + r[0], i[2] * 2 + r[1], i[3] * 2 + r[2]});
        })};
    Check(k);
  }
}

// Channels of a group share what they read, in tiles that need not divide them.
TEST_P(SumsTest, ConvolutionsOfGroups) {
  for (ConvSize s : std::vector<ConvSize>{{1, 4, 26, 9, 3, 1, 1, 2},
                                          {2, 9, 33, 20, 3, 2, 1, 3},
                                          {1, 6, 34, 70, 3, 1, 1, 2},
                                          {1, 8, 8, 9, 3, 1, 1, 4}}) {
    Check(PlainDataConv(s, /*blocked=*/false));
  }
}

// Moments of groups of channels, of whole rows and of parts of them, which do
// not go on where the next row begins.
TEST_P(SumsTest, GroupNorm) {
  struct Size {
    int64_t group, width, summed;
  };
  for (Size size : std::vector<Size>{{1, 10, 10},
                                     {3, 10, 10},
                                     {4, 10, 10},
                                     {1, 21, 21},
                                     {3, 37, 37},
                                     {3, 37, 36},
                                     {1, 70, 69}}) {
    Kernel k;
    Graph& g = k.graph;
    const auto shape = ConstShape({2, 12, 3, size.width});
    Tensor x = g.Placeholder("x", kF32, shape);
    Tensor s =
        g.Reduce("s", ConstShape({2, 12 / size.group}),
                 ConstShape({size.group, 3, size.summed}), Reducer::Sum(kF32),
                 [&](auto& i, auto& r) {
                   return x({i[0], i[1] * size.group + r[0], r[1], r[2]});
                 });
    k.inputs = {x};
    k.outputs = {g.Compute("y", shape, [&](auto& i) {
      return x(i) - s({i[0], i[1] / I(size.group)}) * F(0.125);
    })};
    Check(k);
  }
}

// Means of columns, next to one another, and what is left of rows after that.
TEST_P(SumsTest, ColumnsNextToOneAnother) {
  for (std::vector<int64_t> dims : std::vector<std::vector<int64_t>>{
           {2, 9, 1100}, {3, 4, 7}, {1, 66, 40}, {2, 1, 16}}) {
    for (const bool keeps_rows : {false, true}) {
      Kernel k;
      Graph& g = k.graph;
      auto shape = ConstShape(dims);
      Tensor x = g.Placeholder("x", kF32, shape);
      const std::vector<Expr> out = {shape[0], I(1), shape[2]};
      Tensor s = g.Reduce("s", out, {shape[1]}, Reducer::Sum(kF32),
                          [&](auto& i, auto& r) {
                            return x({i[0], r[0], i[2]});
                          });
      k.inputs = {x};
      k.outputs = {g.Compute("y", keeps_rows ? shape : out, [&](auto& i) {
        const Expr mean = s({i[0], I(0), i[2]}) * F(0.25);
        return keeps_rows ? x(i) - mean : mean;
      })};
      Check(k);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(VectorBits, SumsTest,
                         testing::Values(0, 128, 256, 512));

}  // namespace
}  // namespace ingot::te::cpu
