// Every family, on processors of several widths, with sizes that do not divide
// and with symbolic ones, against loops without a schedule.
#include <vector>

#include "compiler/te/schedules/schedule_for_cpu.h"
#include "compiler/te/tags.h"
#include "compiler/te/testing/check.h"
#include "gtest/gtest.h"

namespace ingot::te {
namespace {

using Tags = std::map<std::string, std::string>;

constexpr DataType kF32 = DataType::Float(32);

CpuModel Cpu(int bits) {
  CpuModel cpu;
  cpu.vector_bits = bits;
  cpu.vector_registers = bits == 512 ? 32 : 16;
  cpu.fma = true;
  // Small caches, so that small sizes are blocked.
  cpu.l1_bytes = 1 << 10;
  cpu.l2_bytes = 4 << 10;
  return cpu;
}

Expr I(int64_t value) { return tir::MakeInt(value); }
Expr F(double value) { return tir::MakeFloat(value); }

class SchedulesTest : public testing::TestWithParam<int> {
 protected:
  void Check(const Kernel& kernel, const DimValues& dims = {},
             float tolerance = 0) {
    auto schedule = ScheduleForCpu(kernel.graph, kernel.outputs, Cpu(bits()));
    ASSERT_TRUE(schedule.ok()) << schedule.status();
    ExpectSame(kernel, *schedule, dims, tolerance);
  }
  int bits() const { return GetParam(); }
};

Tensor Relu(Graph* g, const Tensor& x) {
  return g->Compute("relu", x.shape(),
                    [&](auto& i) { return tir::Max(x(i), F(0)); });
}

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

struct MatmulSize {
  int64_t batch, m, n, k;
};

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
    for (bool transposed : {false, true}) {
      Kernel k;
      Graph& g = k.graph;
      Tensor a = g.Placeholder("a", kF32, ConstShape({s.batch, s.m, s.k}));
      Tensor b = g.Placeholder(
          "b", kF32,
          transposed ? ConstShape({s.n, s.k}) : ConstShape({s.k, s.n}));
      auto shape = ConstShape({s.batch, s.m, s.n});
      Tensor c = g.Reduce(
          "c", shape, {I(s.k)}, Reducer::Sum(kF32),
          [&](auto& i, auto& r) {
            return a({i[0], i[1], r[0]}) *
                   (transposed ? b({i[2], r[0]}) : b({r[0], i[2]}));
          },
          Tags{{kAnchor, kMatmul}});
      Tensor bias = g.Placeholder("bias", kF32, ConstShape({s.n}));
      Tensor d =
          g.Compute("d", shape, [&](auto& i) { return c(i) + bias({i[2]}); });
      k.inputs = {a, b, bias};
      k.outputs = {Relu(&g, d)};
      Check(k);
    }
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
  auto schedule = ScheduleForCpu(k.graph, k.outputs, Cpu(bits()));
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
  const CpuModel cpu = Cpu(bits());
  for (MatmulSize s : std::vector<MatmulSize>{
           {1, 1, 10, 7}, {1, 9, 33, 8}, {2, 30, 64, 12}, {1, 200, 40, 9}}) {
    Kernel k;
    Graph& g = k.graph;
    const int64_t nr = PreferredPanelWidth(cpu, kF32, s.n);
    Tensor a = g.Placeholder("a", kF32, ConstShape({s.batch, s.m, s.k}));
    Tensor w =
        g.Placeholder("w", kF32, ConstShape({(s.n + nr - 1) / nr, s.k, nr}));
    Tensor c = g.Reduce(
        "c", ConstShape({s.batch, s.m, s.n}), {I(s.k)}, Reducer::Sum(kF32),
        [&](auto& i, auto& r) {
          return a({i[0], i[1], r[0]}) * w({i[2] / I(nr), r[0], i[2] % I(nr)});
        },
        Tags{{kAnchor, kDensePacked}});
    k.inputs = {a, w};
    k.outputs = {Relu(&g, c)};
    Check(k);
  }
}

Tensor Pad(Graph* g, const Tensor& x, int64_t pad) {
  std::vector<Expr> shape = x.shape();
  shape[2] = shape[2] + 2 * pad;
  shape[3] = shape[3] + 2 * pad;
  return g->Compute(
      "pad", shape,
      [&](auto& i) {
        Expr inside = tir::And(
            tir::And(tir::Ge(i[2], I(pad)), tir::Lt(i[2], x.shape()[2] + pad)),
            tir::And(tir::Ge(i[3], I(pad)), tir::Lt(i[3], x.shape()[3] + pad)));
        Indices at = i;
        at[2] = at[2] - pad;
        at[3] = at[3] - pad;
        return tir::MakeSelect(inside, x(at), F(0));
      },
      Tags{{kPad, "1"}});
}

struct ConvSize {
  int64_t n, ic, oc, size, kernel, stride, pad, groups;
};

Kernel BlockedConv(const ConvSize& s, int64_t b, Expr batch, Expr height) {
  Kernel k;
  Graph& g = k.graph;
  const int64_t icb = s.ic / b / s.groups, ocb = s.oc / b;
  Tensor x =
      g.Placeholder("x", kF32, {batch, I(s.ic / b), height, I(s.size), I(b)});
  Tensor w = g.Placeholder("w", kF32,
                           ConstShape({ocb, icb, s.kernel, s.kernel, b, b}));
  Tensor bias = g.Placeholder("bias", kF32, ConstShape({ocb, b}));
  Tensor y = s.pad > 0 ? Pad(&g, x, s.pad) : x;
  Expr oh = (height + (2 * s.pad - s.kernel)) / I(s.stride) + 1;
  std::vector<Expr> shape = {batch, I(ocb), oh,
                             I((s.size + 2 * s.pad - s.kernel) / s.stride + 1),
                             I(b)};
  Tensor c = g.Reduce(
      "c", shape, ConstShape({icb, s.kernel, s.kernel, b}), Reducer::Sum(kF32),
      [&](auto& i, auto& r) {
        Expr channel = i[1] / I(ocb / s.groups) * icb + r[0];
        return y({i[0], channel, i[2] * s.stride + r[1], i[3] * s.stride + r[2],
                  r[3]}) *
               w({i[1], r[0], r[1], r[2], r[3], i[4]});
      },
      Tags{{kAnchor, kConv2dNchwc}});
  Tensor residual = g.Placeholder("residual", kF32, shape);
  Tensor d = g.Compute("d", shape, [&](auto& i) {
    return c(i) + bias({i[1], i[4]}) + residual(i);
  });
  k.inputs = {x, w, bias, residual};
  k.outputs = {Relu(&g, d)};
  return k;
}

TEST_P(SchedulesTest, Conv2dBlocked) {
  for (ConvSize s : std::vector<ConvSize>{{1, 8, 16, 7, 1, 1, 0, 1},
                                          {2, 8, 24, 5, 3, 1, 1, 1},
                                          {1, 16, 8, 13, 3, 2, 1, 1},
                                          {1, 16, 16, 9, 5, 1, 2, 2}}) {
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
      Kernel k;
      Graph& g = k.graph;
      const int64_t b = 8, out = (s.size + 2 - 3) / s.stride + 1;
      Tensor x =
          g.Placeholder("x", kF32, ConstShape({s.n, s.ic, s.size, s.size}));
      Tensor y = Pad(&g, x, 1);
      Tensor w = g.Placeholder("w", kF32,
                               blocked ? ConstShape({s.oc / b, s.ic, 3, 3, b})
                                       : ConstShape({s.oc, s.ic, 3, 3}));
      auto shape = blocked ? ConstShape({s.n, s.oc / b, out, out, b})
                           : ConstShape({s.n, s.oc, out, out});
      Tensor c = g.Reduce(
          "c", shape, ConstShape({s.ic, 3, 3}), Reducer::Sum(kF32),
          [&](auto& i, auto& r) {
            Expr weight = blocked ? w({i[1], r[0], r[1], r[2], i[4]})
                                  : w({i[1], r[0], r[1], r[2]});
            return y({i[0], r[0], i[2] * s.stride + r[1],
                      i[3] * s.stride + r[2]}) *
                   weight;
          },
          Tags{{kAnchor, blocked ? kConv2dNchwc : kConv2dNchw}});
      k.inputs = {x, w};
      k.outputs = {Relu(&g, c)};
      Check(k);
    }
  }
}

TEST_P(SchedulesTest, DepthwiseAndPool) {
  for (bool pool : {false, true}) {
    for (ConvSize s : std::vector<ConvSize>{{1, 16, 0, 7, 3, 1, 1, 1},
                                            {2, 8, 0, 14, 3, 2, 1, 1},
                                            {1, 8, 0, 12, 5, 1, 2, 1},
                                            {1, 8, 0, 8, 2, 2, 0, 1}}) {
      Kernel k;
      Graph& g = k.graph;
      const int64_t b = 8;
      const int64_t out = (s.size + 2 * s.pad - s.kernel) / s.stride + 1;
      Tensor x = g.Placeholder("x", kF32,
                               ConstShape({s.n, s.ic / b, s.size, s.size, b}));
      Tensor w = g.Placeholder("w", kF32,
                               ConstShape({s.ic / b, s.kernel, s.kernel, b}));
      Tensor y = s.pad > 0 ? Pad(&g, x, s.pad) : x;
      Tensor c = g.Reduce(
          "c", ConstShape({s.n, s.ic / b, out, out, b}),
          ConstShape({s.kernel, s.kernel}),
          pool ? Reducer::Max(kF32) : Reducer::Sum(kF32),
          [&](auto& i, auto& r) {
            Expr v = y({i[0], i[1], i[2] * s.stride + r[0],
                        i[3] * s.stride + r[1], i[4]});
            return pool ? v : v * w({i[1], r[0], r[1], i[4]});
          },
          Tags{{kAnchor, pool ? kPool2d : kDepthwiseNchwc}});
      k.inputs = {x, w};
      k.outputs = {pool ? c : Relu(&g, c)};
      Check(k);
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

// `axis` of three.
Kernel Softmax(const std::vector<Expr>& shape, int axis) {
  Kernel k;
  Graph& g = k.graph;
  Tensor x = g.Placeholder("x", kF32, shape);
  std::vector<Expr> kept = shape;
  kept[axis] = I(1);
  Tags tags{{kAnchor, kSoftmax}};
  auto at = [&](const Indices& i, Expr r) {
    Indices result = i;
    result[axis] = r;
    return result;
  };
  Tensor m = g.Reduce(
      "max", kept, {shape[axis]}, Reducer::Max(kF32),
      [&](auto& i, auto& r) { return x(at(i, r[0])); }, tags);
  Tensor e = g.Compute(
      "exp", shape,
      [&](auto& i) {
        return tir::MakeCall(tir::Intrinsic::kExp, {x(i) - m(at(i, I(0)))});
      },
      tags);
  Tensor s = g.Reduce(
      "sum", kept, {shape[axis]}, Reducer::Sum(kF32),
      [&](auto& i, auto& r) { return e(at(i, r[0])); }, tags);
  k.inputs = {x};
  k.outputs = {g.Compute(
      "out", shape, [&](auto& i) { return e(i) / s(at(i, I(0))); }, tags)};
  return k;
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
           {4, 6, 50}, {33, 2, 7}, {1, 1, 300}, {20, 30, 1}}) {
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
}  // namespace ingot::te
