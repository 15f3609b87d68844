// Transpositions, on processors of several widths, with sizes that do not
// divide and with symbolic ones, against loops without a schedule.
#include <string>
#include <vector>

#include "compiler/machine/test_machine.h"
#include "compiler/schedules/cpu/templates.h"
#include "compiler/schedules/cpu/test_kernels.h"
#include "compiler/schedules/schedule_kernel.h"
#include "compiler/schedules/stage_facts.h"
#include "compiler/te/testing/check.h"
#include "gtest/gtest.h"

namespace ingot::te::cpu {
namespace {

using Shape = std::vector<Expr>;

// Element `i` of the result is element i[inverse[...]] of x, plus y.
Kernel Transposed(const Shape& shape, const std::vector<int>& order,
                  DataType type = kF32) {
  Kernel k;
  Tensor x = k.graph.Placeholder("x", type, shape);
  Shape result;
  for (int axis : order) result.push_back(shape[axis]);
  Tensor y = k.graph.Placeholder("y", type, {result.back()});
  k.inputs = {x, y};
  k.outputs = {k.graph.Compute("z", result, [&](auto& i) {
    Indices at(shape.size());
    for (size_t d = 0; d < order.size(); ++d) at[order[d]] = i[d];
    return x(at) + y({i.back()});
  })};
  return k;
}

// Blocks of channels last: [n, c, h, w] to [n, c / block, h, w, block].
Kernel ToBlocks(const Shape& x_shape, int64_t block) {
  Kernel k;
  Tensor x = k.graph.Placeholder("x", kF32, x_shape);
  k.inputs = {x};
  k.outputs = {k.graph.Compute(
      "z",
      {x_shape[0], x_shape[1] / I(block), x_shape[2], x_shape[3], I(block)},
      [&](auto& i) {
        return x({i[0], i[1] * block + i[4], i[2], i[3]});
      })};
  return k;
}

// The other way round, of so many channels; 0: of all.
Kernel FromBlocks(const Shape& x_shape, int64_t channels = 0) {
  Kernel k;
  Tensor x = k.graph.Placeholder("x", kF32, x_shape);
  const Expr block = x_shape[4];
  const Expr result = channels > 0 ? I(channels) : x_shape[1] * block;
  k.inputs = {x};
  k.outputs = {k.graph.Compute(
      "z", {x_shape[0], result, x_shape[2], x_shape[3]}, [&](auto& i) {
        return x({i[0], i[1] / block, i[2], i[3], i[1] % block});
      })};
  return k;
}

class TransposeTest : public testing::TestWithParam<int> {
 protected:
  // Returns whether the template for transpositions was used.
  bool Check(const Kernel& kernel, const DimValues& dims = {}) {
    bool used = false;
    auto schedule = ScheduleKernel(
        kernel.graph, kernel.outputs, CpuTemplates(), TestCpu(GetParam()),
        [&](const ScheduleTemplate& t, const ScheduleSite&,
            const ScheduleChoice& cheapest) {
          used = used || t.name == "cpu.transpose";
          return cheapest;
        });
    EXPECT_TRUE(schedule.ok()) << schedule.status();
    if (schedule.ok()) ExpectSame(kernel, *schedule, dims);
    return used;
  }
  bool has_vectors() const { return GetParam() > 0; }
};

TEST_P(TransposeTest, Matrices) {
  for (const std::vector<int64_t>& dims :
       std::vector<std::vector<int64_t>>{{2, 2},
                                         {3, 5},
                                         {16, 16},
                                         {17, 33},
                                         {50, 7},
                                         {7, 50},
                                         {513, 17},
                                         {600, 4}}) {
    EXPECT_EQ(Check(Transposed(ConstShape(dims), {1, 0})), has_vectors());
  }
  EXPECT_FALSE(Check(Transposed(ConstShape({1, 9}), {1, 0})));
  EXPECT_FALSE(Check(Transposed(ConstShape({9, 1}), {1, 0})));
  Check(Transposed(ConstShape({0, 9}), {1, 0}));
  EXPECT_EQ(Check(Transposed(ConstShape({19, 21}), {1, 0}, DataType::Int(64))),
            has_vectors());
}

TEST_P(TransposeTest, Orders) {
  const Shape shape = ConstShape({9, 18, 21});
  for (const std::vector<int>& order : std::vector<std::vector<int>>{
           {0, 2, 1}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}) {
    EXPECT_EQ(Check(Transposed(shape, order)), has_vectors());
  }
  // Rows stay as they are.
  EXPECT_FALSE(Check(Transposed(shape, {1, 0, 2})));
  EXPECT_FALSE(Check(Transposed(shape, {0, 1, 2})));
  EXPECT_EQ(
      Check(Transposed(ConstShape({1, 4, 2, 5, 6, 16}), {0, 5, 3, 1, 4, 2})),
      has_vectors());
}

TEST_P(TransposeTest, Symbols) {
  const tir::VarPtr n = tir::MakeVar("n"), m = tir::MakeVar("m");
  for (const std::vector<int>& order : std::vector<std::vector<int>>{
           {0, 2, 1}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}) {
    const Kernel both = Transposed({n, I(5), m}, order);
    const Kernel first = Transposed({n, I(3), I(17)}, order);
    const Kernel last = Transposed({I(17), I(3), m}, order);
    for (int64_t size : {0, 1, 7, 16, 37}) {
      const DimValues dims = {{n.get(), size}, {m.get(), size + 3}};
      Check(both, dims);
      Check(first, dims);
      Check(last, dims);
    }
  }
}

TEST_P(TransposeTest, Layouts) {
  for (int64_t block : {4, 8, 16}) {
    for (int64_t width : {1, 2, 5, 7, 14, 20}) {
      Check(ToBlocks({I(2), I(2 * block), I(3), I(width)}, block));
      Check(FromBlocks({I(2), I(2), I(3), I(width), I(block)}));
    }
    const tir::VarPtr n = tir::MakeVar("n");
    const Kernel to = ToBlocks({n, I(2 * block), I(3), n}, block);
    const Kernel from = FromBlocks({n, I(2), n, n, I(block)});
    for (int64_t size : {0, 1, 9}) {
      Check(to, {{n.get(), size}});
      Check(from, {{n.get(), size}});
    }
  }
  EXPECT_EQ(Check(ToBlocks(ConstShape({1, 16, 5, 9}), 8)), has_vectors());
  EXPECT_EQ(Check(FromBlocks(ConstShape({1, 2, 5, 9, 8}))), has_vectors());
}

// A sum of 800 nodes or so, made of x alone, and a transposition that reads it
// so many times.
Kernel ReadsALargeValue(int reads) {
  Kernel k;
  Tensor x = k.graph.Placeholder("x", kF32, ConstShape({20, 17}));
  Tensor sum = k.graph.Compute("sum", x.shape(), [&](auto& i) {
    Expr value = x(i);
    for (int step = 0; step < 200; ++step) value = value * F(0.5) + F(step);
    return value;
  });
  k.inputs = {x};
  k.outputs = {k.graph.Compute("z", ConstShape({17, 20}), [&](auto& i) {
    Expr value = F(0);
    for (int read = 0; read < reads; ++read) {
      value = value * F(0.5) + sum({i[1], i[0]});
    }
    return value;
  })};
  return k;
}

// Whether stage `name` became part of those that read it.
bool Inlines(const Kernel& kernel, const std::string& name, int bits) {
  auto schedule = ScheduleKernel(kernel.graph, kernel.outputs, CpuTemplates(),
                                 TestCpu(bits));
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  for (const Stage* stage : schedule->stages()) {
    if (stage->output().buffer->name == name) return stage->IsInlined();
  }
  return true;
}

// All copies of a value together stay small, too: as one expression, several
// times in the body of a loop, they would take minutes to compile.
// Channels that fill up the last block are left out.
TEST_P(TransposeTest, PartsOfBlocks) {
  const auto h = tir::MakeVar("h"), w = tir::MakeVar("w");
  for (const int64_t channels : {2, 3, 5, 11, 15, 17, 20, 21, 31}) {
    SCOPED_TRACE(channels);
    const int64_t blocks = CeilDiv(channels, 16);
    EXPECT_EQ(
        Check(FromBlocks({I(2), I(blocks), I(3), I(40), I(16)}, channels)),
        has_vectors());
    const Kernel open =
        FromBlocks({I(1), I(blocks), Expr(h), Expr(w), I(16)}, channels);
    for (const int64_t width : {0, 1, 5, 35}) {
      Check(open, {{h.get(), 2}, {w.get(), width}});
    }
  }
}

TEST_P(TransposeTest, ALargeValueIsCopiedAFewTimes) {
  EXPECT_TRUE(Inlines(ReadsALargeValue(2), "sum", GetParam()));
  EXPECT_FALSE(Inlines(ReadsALargeValue(40), "sum", GetParam()));
  Check(ReadsALargeValue(40));
}

INSTANTIATE_TEST_SUITE_P(VectorBits, TransposeTest,
                         testing::Values(0, 128, 256, 512));

}  // namespace
}  // namespace ingot::te::cpu
