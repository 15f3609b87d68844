// Every family, on processors of several widths, with sizes that do not divide
// and with symbolic ones, against loops without a schedule.
#include <vector>

#include "compiler/machine/test_machine.h"
#include "compiler/schedules/cpu/layouts.h"
#include "compiler/schedules/cpu/templates.h"
#include "compiler/schedules/cpu/test_kernels.h"
#include "compiler/schedules/schedule_kernel.h"
#include "compiler/te/tags.h"
#include "compiler/te/testing/check.h"
#include "gtest/gtest.h"

namespace ingot::te::cpu {
namespace {

using Tags = std::map<std::string, std::string>;

class SchedulesTest : public testing::TestWithParam<int> {
 protected:
  void Check(const Kernel& kernel, const DimValues& dims = {},
             float tolerance = 0) {
    auto schedule = ScheduleKernel(kernel.graph, kernel.outputs, CpuTemplates(),
                                   TestCpuWithSmallCaches(bits()));
    ASSERT_TRUE(schedule.ok()) << schedule.status();
    ExpectSame(kernel, *schedule, dims, tolerance);
  }
  int bits() const { return GetParam(); }
};

TEST_P(SchedulesTest, Elementwise) {
  for (std::vector<int64_t> dims : std::vector<std::vector<int64_t>>{
           {}, {1}, {37}, {3, 5}, {4, 1, 19}, {2, 3, 5, 8}, {70, 1000}}) {
    Kernel k;
    auto shape = ConstShape(dims);
    Tensor x = k.graph.Placeholder("x", kF32, shape);
    Tensor y = k.graph.Placeholder("y", kF32, shape);
    Tensor s = k.graph.Compute("s", shape,
                               [&](auto& i) { return x(i) + y(i) * x(i); });
    k.inputs = {x, y};
    k.outputs = {Relu(&k.graph, s)};
    Check(k);
  }
}

TEST_P(SchedulesTest, ElementwiseSymbolic) {
  tir::VarPtr n = tir::MakeVar("n"), m = tir::MakeVar("m");
  Kernel k;
  Tensor x = k.graph.Placeholder("x", kF32, {n, m});
  Tensor y = k.graph.Placeholder("y", kF32, {m});
  k.inputs = {x, y};
  k.outputs = {
      k.graph.Compute("z", {n, m}, [&](auto& i) { return x(i) - y({i[1]}); })};
  for (int64_t size : {1, 2, 7, 16, 33}) {
    Check(k, {{n.get(), size}, {m.get(), size + 3}});
  }
}

// The kernel of depth_to_space, a slice and a bias on blocks of channels; with
// `parts`, it moves the concatenation of as many.
Kernel Interleaved(int64_t height, int64_t width, int64_t offset,
                   const Expr& rows, bool parts) {
  Kernel k;
  const std::vector<Expr> x_shape = {I(2), I(height * 4), rows, I(width),
                                     I(16)};
  Tensor x = k.graph.Placeholder("x", kF32, x_shape);
  Tensor y = k.graph.Placeholder("y", kF32, x_shape);
  Tensor bias = k.graph.Placeholder("b", kF32, ConstShape({2, 16}));
  k.inputs = {x, y, bias};
  const std::vector<Expr> shape = {I(2), I(2), rows * height,
                                   I(width * 2 - offset), I(16)};
  Tensor moved = k.graph.Compute("moved", shape, [&](auto& i) {
    const Expr column = i[3] + offset;
    const Expr channel = (i[2] % I(height) * 2 + column % I(2)) * 2 + i[1];
    const Expr row = i[2] / I(height), half = column / I(2);
    if (!parts) return x({i[0], channel, row, half, i[4]});
    return tir::MakeSelect(tir::Lt(channel, I(3)),
                           x({i[0], channel, row, half, i[4]}),
                           y({i[0], channel, row, half, i[4]}));
  });
  Tensor sum = k.graph.Compute("sum", shape, [&](auto& i) {
    return moved(i) + bias({i[1], i[4]});
  });
  k.outputs = {Relu(&k.graph, sum)};
  return k;
}

// Whether positions are written out by their turns, which needs as many of
// them along an axis as a multiple of these.
bool TakesTurns(const Kernel& kernel, int bits) {
  bool found = false;
  const auto schedule =
      ScheduleKernel(kernel.graph, kernel.outputs, CpuTemplates(),
                     TestCpuWithSmallCaches(bits),
                     [&](const ScheduleTemplate& t, const ScheduleSite&,
                         const ScheduleChoice& cheapest) {
                       found = found || t.name == "cpu.interleave";
                       return cheapest;
                     });
  return schedule.ok() && found;
}

TEST_P(SchedulesTest, Interleave) {
  EXPECT_TRUE(TakesTurns(Interleaved(1, 5, 0, I(3), false), bits()));
  EXPECT_FALSE(TakesTurns(Interleaved(1, 5, 1, I(3), false), bits()));
  EXPECT_TRUE(TakesTurns(Interleaved(2, 5, 1, I(3), true), bits()));
  for (int64_t height : {1, 2, 3}) {
    for (int64_t offset : {0, 1, 2}) {
      for (bool parts : {false, true}) {
        Check(Interleaved(height, 5, offset, I(3), parts));
        tir::VarPtr n = tir::MakeVar("n");
        const Kernel k = Interleaved(height, 5, offset, n, parts);
        for (int64_t rows : {0, 1, 4}) Check(k, {{n.get(), rows}});
      }
    }
  }
}

TEST_P(SchedulesTest, TransposeAndConcat) {
  Kernel k;
  Tensor x = k.graph.Placeholder("x", kF32, ConstShape({9, 11}));
  Tensor y = k.graph.Placeholder("y", kF32, ConstShape({11, 13}));
  k.inputs = {x, y};
  k.outputs = {k.graph.Compute("c", ConstShape({11, 22}), [&](auto& i) {
    return tir::MakeSelect(tir::Lt(i[1], I(9)), x({i[1], i[0]}),
                           y({i[0], i[1] - 9}));
  })};
  Check(k);
}

TEST_P(SchedulesTest, Matmul) {
  for (MatmulSize s : std::vector<MatmulSize>{{1, 1, 1, 1},
                                              {1, 1, 40, 9},
                                              {2, 5, 16, 3},
                                              {1, 13, 33, 17},
                                              {3, 28, 40, 20},
                                              {2, 3, 0, 5},
                                              {1, 0, 0, 1},
                                              {1, 0, 4, 3},
                                              {1, 3, 4, 0},
                                              {1, 150, 70, 33}}) {
    for (bool transposed : {false, true}) Check(Product(s, transposed));
  }
}

// A large matrix, of which each row is long.
TEST_P(SchedulesTest, FewRowsByAMatrix) {
  for (MatmulSize s : std::vector<MatmulSize>{{1, 1, 1024, 70},
                                              {1, 2, 1500, 67},
                                              {3, 1, 515, 130},
                                              {1, 70, 1, 90}}) {
    Check(Product(s, false));
  }
}

TEST_P(SchedulesTest, MatmulIsTheProduct) {
  const int64_t m = 14, n = 21, kk = 10;
  Kernel k;
  Tensor a = k.graph.Placeholder("a", kF32, ConstShape({m, kk}));
  Tensor b = k.graph.Placeholder("b", kF32, ConstShape({kk, n}));
  auto product = [&](auto& i, auto& r) {
    return a({i[0], r[0]}) * b({r[0], i[1]});
  };
  Tensor c =
      k.graph.Reduce("c", ConstShape({m, n}), {I(kk)}, Reducer::Sum(kF32),
                     product, Tags{{kAnchor, kMatmul}});
  k.inputs = {a, b};
  k.outputs = {c};
  auto schedule = ScheduleKernel(k.graph, k.outputs, CpuTemplates(),
                                 TestCpuWithSmallCaches(bits()));
  ASSERT_TRUE(schedule.ok());
  auto inputs = RandomInputs(k, {}, 3);
  auto outputs = RunSchedule(k, *schedule, inputs, {}, true);
  ASSERT_EQ(outputs.size(), 1u);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t r = 0; r < kk; ++r) {
        sum += inputs[0].data<float>()[i * kk + r] *
               inputs[1].data<float>()[r * n + j];
      }
      ASSERT_EQ(outputs[0].data<float>()[i * n + j], sum) << i << " " << j;
    }
  }
}

// The sum of products in f32, of data that batches share or not, whose rows or
// columns lie together.
Kernel ProductOf(DataType type, bool shared, bool by_columns, const Expr& m,
                 int64_t n, int64_t depth) {
  Kernel k;
  const Expr batch = I(shared ? 1 : 2);
  Tensor x =
      k.graph.Placeholder("x", type,
                          by_columns ? std::vector<Expr>{batch, I(depth), m}
                                     : std::vector<Expr>{batch, m, I(depth)});
  Tensor y = k.graph.Placeholder("y", type, {I(2), I(depth), I(n)});
  const auto as_f32 = [](const Expr& e) {
    return e->dtype == kF32 ? e : tir::MakeCast(kF32, e);
  };
  k.inputs = {x, y};
  k.outputs = {k.graph.Reduce(
      "c", {I(2), m, I(n)}, {I(depth)}, Reducer::Sum(kF32),
      [&](auto& i, auto& r) {
        const Expr b = shared ? I(0) : i[0];
        return as_f32(by_columns ? x({b, r[0], i[1]}) : x({b, i[1], r[0]})) *
               as_f32(y({i[0], r[0], i[2]}));
      },
      Tags{{kAnchor, kMatmul}})};
  return k;
}

TEST_P(SchedulesTest, MatmulOfCopiedRows) {
  const tir::VarPtr rows = tir::MakeVar("rows");
  for (const DataType type :
       {kF32, DataType::Float(16), DataType::BFloat16()}) {
    for (const bool by_columns : {false, true}) {
      for (const int64_t n : {1, 33, 300}) {
        for (const int64_t m : {0, 1, 40}) {
          Check(ProductOf(type, m == 1, by_columns, I(m), n, 24));
        }
        Check(ProductOf(type, true, by_columns, rows, n, 5),
              {{rows.get(), 17}});
      }
    }
  }
}

TEST_P(SchedulesTest, MatmulSymbolic) {
  tir::VarPtr b = tir::MakeVar("b"), m = tir::MakeVar("m"),
              n = tir::MakeVar("n"), kd = tir::MakeVar("k");
  Kernel k;
  Tensor x = k.graph.Placeholder("x", kF32, {b, m, kd});
  Tensor y = k.graph.Placeholder("y", kF32, {b, kd, n});
  k.inputs = {x, y};
  k.outputs = {k.graph.Reduce(
      "c", {b, m, n}, {kd}, Reducer::Sum(kF32),
      [&](auto& i, auto& r) {
        return x({i[0], i[1], r[0]}) * y({i[0], r[0], i[2]});
      },
      Tags{{kAnchor, kMatmul}})};
  for (int64_t s : {1, 3, 16, 29}) {
    Check(k, {{b.get(), 2}, {m.get(), s}, {n.get(), s + 5}, {kd.get(), s}});
  }
}

TEST_P(SchedulesTest, DensePacked) {
  for (MatmulSize s : std::vector<MatmulSize>{{1, 1, 10, 7},
                                              {1, 9, 33, 8},
                                              {2, 30, 64, 12},
                                              {1, 300, 40, 9},
                                              {21, 1, 33, 8},
                                              {3, 1, 40, 9}}) {
    Check(PackedProduct(s, PanelWidth(TestCpuWithSmallCaches(bits()), kF32,
                                      {s.m, s.n, s.k * 4})));
  }
}

TEST_P(SchedulesTest, Conv2dBlocked) {
  for (ConvSize s : std::vector<ConvSize>{{1, 8, 16, 7, 1, 1, 0, 1},
                                          {2, 8, 24, 5, 3, 1, 1, 1},
                                          {1, 16, 8, 13, 3, 2, 1, 1},
                                          {1, 16, 16, 9, 5, 1, 2, 2},
                                          {1, 16, 176, 7, 1, 1, 0, 2}}) {
    for (int64_t b : {4, 8}) {
      Check(BlockedConv(s, b, I(s.n), I(s.size)));
    }
  }
}

TEST_P(SchedulesTest, Conv2dBlockedSymbolic) {
  tir::VarPtr n = tir::MakeVar("n"), h = tir::MakeVar("h");
  ConvSize s{0, 8, 16, 9, 3, 2, 1, 1};
  Kernel k = BlockedConv(s, 8, n, h);
  for (int64_t height : {1, 4, 9}) {
    Check(k, {{n.get(), 2}, {h.get(), height}});
  }
}

TEST_P(SchedulesTest, Conv2dFirstLayerAndPlain) {
  for (bool blocked : {true, false}) {
    for (ConvSize s : std::vector<ConvSize>{{1, 3, 16, 11, 3, 2, 1, 1},
                                            {2, 3, 8, 6, 3, 1, 1, 1}}) {
      Check(PlainDataConv(s, blocked));
    }
  }
}

TEST_P(SchedulesTest, DepthwiseAndPool) {
  for (bool pool : {false, true}) {
    for (ConvSize s : std::vector<ConvSize>{{1, 16, 0, 7, 3, 1, 1, 1},
                                            {2, 8, 0, 14, 3, 2, 1, 1},
                                            {1, 8, 0, 12, 5, 1, 2, 1},
                                            {1, 8, 0, 8, 2, 2, 0, 1}}) {
      Check(BlockedWindow(s, pool));
    }
  }
}

TEST_P(SchedulesTest, PoolPlainSymbolic) {
  tir::VarPtr h = tir::MakeVar("h"), w = tir::MakeVar("w");
  Kernel k;
  Tensor x = k.graph.Placeholder("x", kF32, {I(1), I(3), h, w});
  Tensor y = Pad(&k.graph, x, 1);
  k.inputs = {x};
  k.outputs = {k.graph.Reduce(
      "p", {I(1), I(3), h / I(2), w / I(2)}, ConstShape({3, 3}),
      Reducer::Max(kF32),
      [&](auto& i, auto& r) {
        return y({i[0], i[1], i[2] * 2 + r[0], i[3] * 2 + r[1]});
      },
      Tags{{kAnchor, kPool2d}})};
  for (int64_t size : {2, 9, 40}) {
    Check(k, {{h.get(), size}, {w.get(), size + 2}});
  }
}

TEST_P(SchedulesTest, Softmax) {
  for (int axis : {0, 1, 2}) {
    Check(Softmax(ConstShape({3, 5, 70}), axis), {}, 1e-5f);
    Check(Softmax(ConstShape({19, 40, 3}), axis), {}, 1e-5f);
  }
  tir::VarPtr n = tir::MakeVar("n");
  Kernel k = Softmax({I(2), n, n}, 2);
  for (int64_t size : {1, 9, 70}) Check(k, {{n.get(), size}}, 1e-5f);
}

TEST_P(SchedulesTest, LayerNorm) {
  for (int64_t n : {5, 64, 100}) {
    Kernel k;
    Graph& g = k.graph;
    Tags tags{{kAnchor, kNorm}};
    auto shape = ConstShape({2, 7, n}), rows = ConstShape({2, 7});
    Tensor x = g.Placeholder("x", kF32, shape);
    Tensor y = g.Placeholder("y", kF32, shape);
    Tensor sum = g.Compute("add", shape, [&](auto& i) { return x(i) + y(i); });
    auto sum_of = [&](auto& i, auto& r) { return sum({i[0], i[1], r[0]}); };
    Tensor s = g.Reduce("s", rows, {I(n)}, Reducer::Sum(kF32), sum_of, tags);
    Tensor mean =
        g.Compute("mean", rows, [&](auto& i) { return s(i) * F(1.0 / n); });
    Tensor v = g.Reduce(
        "v", rows, {I(n)}, Reducer::Sum(kF32),
        [&](auto& i, auto& r) {
          Expr d = sum({i[0], i[1], r[0]}) - mean({i[0], i[1]});
          return d * d;
        },
        tags);
    Tensor out = g.Compute("out", shape, [&](auto& i) {
      Indices row = {i[0], i[1]};
      return (sum(i) - mean(row)) /
             tir::MakeCall(tir::Intrinsic::kSqrt,
                           {v(row) * F(1.0 / n) + F(1e-5)});
    });
    k.inputs = {x, y};
    k.outputs = {sum, out};
    Check(k, {}, 1e-4f);
  }
}

TEST_P(SchedulesTest, Reductions) {
  Tags tags{{kAnchor, kReduce}};
  for (std::vector<int64_t> dims : std::vector<std::vector<int64_t>>{
           {4, 6, 50}, {33, 2, 7}, {1, 1, 300}, {20, 30, 1}, {2, 5, 1030}}) {
    auto shape = ConstShape(dims);
    for (int axis : {0, 1, 2}) {
      Kernel k;
      Tensor x = k.graph.Placeholder("x", kF32, shape);
      std::vector<Expr> out = shape;
      out.erase(out.begin() + axis);
      Tensor s = k.graph.Reduce(
          "s", out, {shape[axis]}, Reducer::Sum(kF32),
          [&](auto& i, auto& r) {
            Indices at = i;
            at.insert(at.begin() + axis, r[0]);
            return x(at);
          },
          tags);
      k.inputs = {x};
      k.outputs = {Relu(&k.graph, s)};
      Check(k);
    }
    Kernel all;  // everything to one number
    Tensor x = all.graph.Placeholder("x", kF32, shape);
    all.inputs = {x};
    all.outputs = {all.graph.Reduce(
        "s", {}, shape, Reducer::Sum(kF32),
        [&](auto&, auto& r) { return x(r); }, tags)};
    Check(all);
  }
}

// One loop of rows, which stays as it is: nothing is split.
TEST_P(SchedulesTest, RowsOfStridedReduction) {
  for (int64_t size : {1, 7, 16}) {
    Kernel k;
    Graph& g = k.graph;
    tir::VarPtr n = tir::MakeVar("n");
    Tensor x = g.Placeholder("x", kF32, {n, I(40), I(1)});
    Tensor s = g.Reduce("s", {n}, {I(40), I(1)}, Reducer::Sum(kF32),
                        [&](auto& i, auto& r) {
                          Expr e = x({i[0], r[0], r[1]});
                          return e * e;
                        });
    k.inputs = {x};
    k.outputs = {g.Compute("out", {n}, [&](auto& i) { return s(i) * F(0.5); })};
    Check(k, {{n.get(), size}});
  }
}

// Means of planes, whose rows are long enough for vectors and have a tail.
TEST_P(SchedulesTest, SeveralReducedAxes) {
  for (std::vector<int64_t> dims : std::vector<std::vector<int64_t>>{
           {2, 3, 5, 70}, {1, 4, 9, 64}, {3, 1, 1, 131}, {2, 2, 40, 3}}) {
    Kernel k;
    Graph& g = k.graph;
    auto shape = ConstShape(dims);
    Tensor x = g.Placeholder("x", kF32, shape);
    std::vector<Expr> out = {shape[0], shape[1], I(1), I(1)};
    auto x_of = [&](auto& i, auto& r) { return x({i[0], i[1], r[0], r[1]}); };
    Tensor s =
        g.Reduce("s", out, {shape[2], shape[3]}, Reducer::Sum(kF32), x_of);
    k.inputs = {x};
    k.outputs = {
        g.Compute("mean", out, [&](auto& i) { return s(i) * F(0.25); })};
    Check(k);
  }
}

// Squares of everything, to one element of two dimensions: in one chain of
// additions a long sum would lose digits.
TEST_P(SchedulesTest, SumsOfEverythingAreInLanes) {
  if (bits() == 0) GTEST_SKIP() << "there are no vectors";
  Kernel k;
  Graph& g = k.graph;
  Tensor x = g.Placeholder("x", kF32, {I(6), I(300)});
  Tensor s = g.Reduce("s", {I(1), I(1)}, {I(6), I(300)}, Reducer::Sum(kF32),
                      [&](auto&, auto& r) { return x(r) * x(r); });
  k.inputs = {x};
  k.outputs = {
      g.Compute("y", {I(1), I(1)}, [&](auto& i) { return s(i) * F(0.5); })};
  auto schedule = ScheduleKernel(g, k.outputs, CpuTemplates(),
                                 TestCpuWithSmallCaches(bits()));
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  bool has_lanes = false;
  for (const Stage* stage : schedule->stages()) {
    has_lanes = has_lanes || stage->output().buffer->name == "s.lanes";
  }
  EXPECT_TRUE(has_lanes);
  ExpectSame(k, *schedule, {}, 0);
}

TEST_P(SchedulesTest, SeveralOutputsAndExtern) {
  Kernel k;
  Graph& g = k.graph;
  auto shape = ConstShape({6, 20});
  Tensor x = g.Placeholder("x", kF32, shape);
  Tensor a = Relu(&g, x);
  std::vector<Tensor> e = g.Extern(
      "double", {shape}, {kF32}, {a}, [&](absl::Span<const Tensor> out) {
        tir::VarPtr i = tir::MakeVar("i"), j = tir::MakeVar("j");
        return tir::MakeFor(
            i, I(0), I(6), tir::ForKind::kSerial,
            tir::MakeFor(
                j, I(0), I(20), tir::ForKind::kSerial,
                tir::MakeStore(out[0].buffer, {i, j}, a({i, j}) + a({i, j}))));
      });
  auto e_of = [&](auto& i, auto& q) { return e[0]({i[0], q[0]}); };
  Tensor r = g.Reduce("r", ConstShape({6}), {I(20)}, Reducer::Max(kF32), e_of);
  k.inputs = {x};
  k.outputs = {
      g.Compute("b", shape, [&](auto& i) { return a(i) + e[0](i); }), r,
      g.Compute("c", ConstShape({6}), [&](auto& i) { return r(i) + r(i); })};
  Check(k);
}

// Each stage reads the one before twice: all of it in one place would be 2^60
// times as large as one.
TEST_P(SchedulesTest, AChainThatDoublesStaysSmall) {
  Kernel k;
  Graph& g = k.graph;
  auto shape = ConstShape({3, 40});
  Tensor x = g.Placeholder("x", kF32, shape);
  Tensor y = x;
  for (int step = 0; step < 60; ++step) {
    Tensor read = y;
    y = g.Compute("y" + std::to_string(step), shape, [&](auto& i) {
      return (read(i) + F(1)) * F(0.5) - read(i) * F(0.25);
    });
  }
  k.inputs = {x};
  k.outputs = {y};
  Check(k);
}

INSTANTIATE_TEST_SUITE_P(VectorBits, SchedulesTest,
                         testing::Values(0, 128, 256, 512));

}  // namespace
}  // namespace ingot::te::cpu
