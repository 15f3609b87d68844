// Measures the kernels that the default schedules and the LLVM code generator
// make, on the machine that runs this, in GFLOP/s and as a share of the
// multiply-add peak, which is measured first with the same generator.
//
//   bazel run //bench:kernels_bench -- --benchmark_filter=conv
//
// One thread: threads change how work is shared, not what a kernel does.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/llvmjit/codegen.h"
#include "backends/llvmjit/compile_and_load.h"
#include "benchmark/benchmark.h"
#include "compiler/schedules/cpu/layouts.h"
#include "compiler/schedules/cpu/test_kernels.h"
#include "compiler/schedules/schedule_kernel.h"
#include "compiler/target/target.h"
#include "compiler/te/lower.h"
#include "compiler/te/tags.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/passes/pass.h"
#include "compiler/tir/printer.h"
#include "runtime/host_api.h"
#include "runtime/module.h"
#include "runtime/tensor.h"

namespace ingot {
namespace {

using te::Graph;
using te::Reducer;
using tir::Expr;

constexpr DataType kF32 = DataType::Float(32);

Expr I(int64_t value) { return tir::MakeInt(value); }
Expr F(double value) { return tir::MakeFloat(value); }

std::vector<Expr> Shape(const std::vector<int64_t>& dims) {
  std::vector<Expr> shape;
  for (int64_t dim : dims) shape.push_back(I(dim));
  return shape;
}

template <typename T>
T ValueOrDie(absl::StatusOr<T> value) {
  if (!value.ok()) {
    std::fprintf(stderr, "%s\n", value.status().ToString().c_str());
    std::exit(1);
  }
  return *std::move(value);
}

void OrDie(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

// The target kind, once.
const TargetKind& Kind() {
  static const TargetRegistry* registry = [] {
    auto* r = new TargetRegistry;
    OrDie(RegisterLlvmjitTarget(r));
    return r;
  }();
  return *ValueOrDie(registry->Find("llvmjit"));
}

const MachineModel& Cpu() {
  static const MachineModel cpu = ValueOrDie(
      Kind().MachineOf(ValueOrDie(ParseTarget("llvmjit -mcpu=native"))));
  return cpu;
}

// A kernel that can be called, with its arguments.
class Compiled {
 public:
  explicit Compiled(const tir::PrimFunc& lowered) {
    std::vector<absl::string_view> passes = {"simplify", "plan_workspaces"};
    passes.insert(passes.end(), Kind().tir_passes.begin(),
                  Kind().tir_passes.end());
    tir::PrimFunc func = ValueOrDie(tir::RunPasses(lowered, passes));
    module_ = ValueOrDie(CompileAndLoad({func}, "-mcpu=native"));
    function_ = *module_->GetFunction(func.name);
    for (const tir::Buffer& buffer : func.params) {
      std::vector<int64_t> shape;
      for (const Expr& dim : buffer->shape) {
        int64_t value = 0;
        tir::AsConstInt(tir::Simplify(dim), &value);
        shape.push_back(value);
      }
      Tensor t = ValueOrDie(Tensor::Empty(buffer->dtype, shape));
      for (int64_t i = 0; i < t.NumElements(); ++i) {
        t.mutable_data<float>()[i] = static_cast<float>(i * 37 % 17 - 8) / 8;
      }
      tensors_.push_back(t);
    }
    for (const Tensor& t : tensors_) arguments_.push_back(t.dl());
  }

  void Run() { OrDie(function_.Call(arguments_)); }

 private:
  std::shared_ptr<Module> module_;
  Function function_;
  std::vector<Tensor> tensors_;
  std::vector<DLTensor*> arguments_;
};

// Processor time of this thread: other work on the machine counts less.
double Seconds(const std::function<void()>& fn) {
  auto now = [] {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) +
           static_cast<double>(t.tv_nsec) * 1e-9;
  };
  const double start = now();
  fn();
  return now() - start;
}

// GFLOP/s of multiply-adds on registers only: twelve chains of one vector.
double PeakGflops() {
  static const double peak = [] {
    const int64_t lanes = std::max(Cpu().lanes(32), 1);
    const int64_t chains = 12, steps = 200000;
    tir::Buffer in = tir::MakeBuffer("in", kF32, {I(lanes)});
    tir::Buffer out = tir::MakeBuffer("out", kF32, {I(chains), I(lanes)});
    tir::Buffer acc =
        tir::MakeBuffer("acc", kF32, {I(chains), I(lanes)}, tir::Scope::kStack);
    auto each = [&](const std::function<tir::Stmt(Expr, Expr)>& body) {
      tir::VarPtr c = tir::MakeVar("c"), l = tir::MakeVar("l");
      return tir::MakeFor(c, I(0), I(chains), tir::ForKind::kUnrolled,
                          tir::MakeFor(l, I(0), I(lanes),
                                       tir::ForKind::kVectorized, body(c, l)));
    };
    const tir::Stmt fill = each([&](Expr c, Expr l) {
      return tir::MakeStore(acc, {c, l}, tir::MakeLoad(in, {l}));
    });
    const tir::Stmt multiply_add = each([&](Expr c, Expr l) {
      Expr sum = tir::MakeCall(
          tir::Intrinsic::kMulAdd,
          {tir::MakeLoad(acc, {c, l}), tir::MakeLoad(in, {l}), F(0.5)});
      return tir::MakeStore(acc, {c, l}, sum);
    });
    const tir::Stmt write = each([&](Expr c, Expr l) {
      return tir::MakeStore(out, {c, l}, tir::MakeLoad(acc, {c, l}));
    });
    const tir::Stmt repeat = tir::MakeFor(tir::MakeVar("step"), I(0), I(steps),
                                          tir::ForKind::kSerial, multiply_add);
    tir::PrimFunc func;
    func.name = "peak";
    func.params = {in, out};
    func.body = tir::MakeAllocate(acc, tir::MakeSeq({fill, repeat, write}));
    Compiled compiled(func);
    double best = 1e9;
    for (int i = 0; i < 30; ++i) {
      best = std::min(best, Seconds([&] { compiled.Run(); }));
    }
    return 2.0 * static_cast<double>(chains * steps * lanes) / best * 1e-9;
  }();
  return peak;
}

// The work that a benchmark measures: a graph, and what one run of it does.
struct Work {
  std::unique_ptr<Graph> graph = std::make_unique<Graph>();
  std::vector<te::Tensor> inputs;
  te::Tensor output;
  double flops = 0;
  double bytes = 0;  // at least moved: inputs and output once
};

void Measure(benchmark::State& state, const std::function<Work()>& make) {
  Work work = make();
  te::Schedule schedule = ValueOrDie(
      te::ScheduleKernel(*work.graph, {work.output}, Kind().templates, Cpu()));
  tir::PrimFunc func = ValueOrDie(
      te::Lower("kernel", *work.graph, work.inputs, {work.output}, schedule));
  // INGOT_BENCH_PRINT=1 shows the loops.
  if (std::getenv("INGOT_BENCH_PRINT") != nullptr) {
    std::printf("%s", tir::Print(func).c_str());
  }
  Compiled compiled(func);
  compiled.Run();
  double best = 1e9;
  for (auto _ : state) {
    double seconds = Seconds([&] { compiled.Run(); });
    best = std::min(best, seconds);
    state.SetIterationTime(seconds);
  }
  // The fastest run counts: other work on the machine only ever slows a kernel.
  state.counters["GFLOP/s"] = work.flops / best * 1e-9;
  state.counters["%peak"] = 100 * work.flops / best * 1e-9 / PeakGflops();
  state.counters["GB/s"] = work.bytes / best * 1e-9;
}

double Bytes(const te::Tensor& t) {
  double bytes = 4;
  for (const Expr& dim : t.shape()) {
    int64_t value = 0;
    tir::AsConstInt(tir::Simplify(dim), &value);
    bytes *= static_cast<double>(value);
  }
  return bytes;
}

void Finish(Work* work) {
  for (const te::Tensor& t : work->inputs) work->bytes += Bytes(t);
  work->bytes += Bytes(work->output);
}

Work Matmul(int64_t m, int64_t n, int64_t k) {
  Work work;
  Graph& g = *work.graph;
  te::Tensor a = g.Placeholder("a", kF32, Shape({m, k}));
  te::Tensor b = g.Placeholder("b", kF32, Shape({k, n}));
  work.inputs = {a, b};
  auto product = [&](auto& i, auto& r) {
    return a({i[0], r[0]}) * b({r[0], i[1]});
  };
  work.output = g.Reduce("c", Shape({m, n}), Shape({k}), Reducer::Sum(kF32),
                         product, {{te::kAnchor, te::kMatmul}});
  work.flops = 2.0 * m * n * k;
  Finish(&work);
  return work;
}

Work Dense(int64_t m, int64_t n, int64_t k) {
  Work work;
  Graph& g = *work.graph;
  const int64_t nr = te::cpu::PanelWidth(Cpu(), kF32, {m, n, k * 4});
  te::Tensor a = g.Placeholder("a", kF32, Shape({m, k}));
  te::Tensor w = g.Placeholder("w", kF32, Shape({(n + nr - 1) / nr, k, nr}));
  te::Tensor bias = g.Placeholder("bias", kF32, Shape({n}));
  te::Tensor c =
      g.Reduce("c", Shape({m, n}), Shape({k}), Reducer::Sum(kF32),
               [&](auto& i, auto& r) {
                 return a({i[0], r[0]}) * w({i[1] / I(nr), r[0], i[1] % I(nr)});
               },
               {{te::kAnchor, te::kDensePacked}});
  work.inputs = {a, w, bias};
  work.output = g.Compute("d", Shape({m, n}),
                          [&](auto& i) { return c(i) + bias({i[1]}); });
  work.flops = 2.0 * m * n * k;
  Finish(&work);
  return work;
}

// With bias and ReLU, as networks have them. ic = 0: depthwise. A channel
// count that the block does not divide is a first layer's, not blocked.
Work Conv(int64_t ic, int64_t oc, int64_t size, int64_t kernel,
          int64_t stride) {
  Work work;
  Graph& g = *work.graph;
  const int64_t b = te::cpu::ChannelBlock(Cpu(), kF32);
  const int64_t pad = kernel / 2;
  const int64_t out = (size + 2 * pad - kernel) / stride + 1;
  const auto shape = Shape({1, oc / b, out, out, b});
  te::Tensor bias = g.Placeholder("bias", kF32, Shape({oc / b, b}));
  te::Tensor x, w, c;
  double terms = static_cast<double>(kernel * kernel);
  if (ic == 0) {
    x = g.Placeholder("x", kF32, Shape({1, oc / b, size, size, b}));
    w = g.Placeholder("w", kF32, Shape({oc / b, kernel, kernel, b}));
    te::Tensor y = te::cpu::Pad(&g, x, pad);
    c = g.Reduce("c", shape, Shape({kernel, kernel}), Reducer::Sum(kF32),
                 [&](auto& i, auto& r) {
                   return y({i[0], i[1], i[2] * stride + r[0],
                             i[3] * stride + r[1], i[4]}) *
                          w({i[1], r[0], r[1], i[4]});
                 },
                 {{te::kAnchor, te::kDepthwiseNchwc}});
  } else if (ic % b != 0) {
    x = g.Placeholder("x", kF32, Shape({1, ic, size, size}));
    w = g.Placeholder("w", kF32, Shape({oc / b, ic, kernel, kernel, b}));
    te::Tensor y = te::cpu::Pad(&g, x, pad);
    c = g.Reduce(
        "c", shape, Shape({ic, kernel, kernel}), Reducer::Sum(kF32),
        [&](auto& i, auto& r) {
          return y({i[0], r[0], i[2] * stride + r[1], i[3] * stride + r[2]}) *
                 w({i[1], r[0], r[1], r[2], i[4]});
        },
        {{te::kAnchor, te::kConv2dNchwc}});
    terms *= static_cast<double>(ic);
  } else {
    x = g.Placeholder("x", kF32, Shape({1, ic / b, size, size, b}));
    w = g.Placeholder("w", kF32, Shape({oc / b, ic / b, kernel, kernel, b, b}));
    te::Tensor y = te::cpu::Pad(&g, x, pad);
    c = g.Reduce("c", shape, Shape({ic / b, kernel, kernel, b}),
                 Reducer::Sum(kF32),
                 [&](auto& i, auto& r) {
                   return y({i[0], r[0], i[2] * stride + r[1],
                             i[3] * stride + r[2], r[3]}) *
                          w({i[1], r[0], r[1], r[2], r[3], i[4]});
                 },
                 {{te::kAnchor, te::kConv2dNchwc}});
    terms *= static_cast<double>(ic);
  }
  work.inputs = {x, w, bias};
  work.output = g.Compute("d", shape, [&](auto& i) {
    return tir::Max(c(i) + bias({i[1], i[4]}), F(0));
  });
  work.flops = 2.0 * terms * static_cast<double>(oc * out * out);
  Finish(&work);
  return work;
}

Work Softmax(int64_t rows, int64_t n) {
  Work work;
  Graph& g = *work.graph;
  te::Tensor x = g.Placeholder("x", kF32, Shape({rows, n}));
  auto x_of = [&](auto& i, auto& r) { return x({i[0], r[0]}); };
  te::Tensor m =
      g.Reduce("m", Shape({rows}), Shape({n}), Reducer::Max(kF32), x_of);
  te::Tensor e = g.Compute("e", Shape({rows, n}), [&](auto& i) {
    return tir::MakeCall(tir::Intrinsic::kExp, {x(i) - m({i[0]})});
  });
  auto e_of = [&](auto& i, auto& r) { return e({i[0], r[0]}); };
  te::Tensor s =
      g.Reduce("s", Shape({rows}), Shape({n}), Reducer::Sum(kF32), e_of);
  work.inputs = {x};
  work.output = g.Compute("o", Shape({rows, n}),
                          [&](auto& i) { return e(i) / s({i[0]}); });
  Finish(&work);
  return work;
}

Work LayerNorm(int64_t rows, int64_t n) {
  Work work;
  Graph& g = *work.graph;
  te::Tensor x = g.Placeholder("x", kF32, Shape({rows, n}));
  te::Tensor scale = g.Placeholder("scale", kF32, Shape({n}));
  auto x_of = [&](auto& i, auto& r) { return x({i[0], r[0]}); };
  te::Tensor s =
      g.Reduce("s", Shape({rows}), Shape({n}), Reducer::Sum(kF32), x_of);
  te::Tensor mean = g.Compute("mean", Shape({rows}), [&](auto& i) {
    return s(i) * F(1.0 / static_cast<double>(n));
  });
  te::Tensor v = g.Reduce("v", Shape({rows}), Shape({n}), Reducer::Sum(kF32),
                          [&](auto& i, auto& r) {
                            Expr d = x({i[0], r[0]}) - mean({i[0]});
                            return d * d;
                          });
  work.inputs = {x, scale};
  work.output = g.Compute("o", Shape({rows, n}), [&](auto& i) {
    Expr variance = v({i[0]}) * F(1.0 / static_cast<double>(n)) + F(1e-5);
    return (x(i) - mean({i[0]})) * scale({i[1]}) /
           tir::MakeCall(tir::Intrinsic::kSqrt, {variance});
  });
  Finish(&work);
  return work;
}

void Register(const std::string& name, const std::function<Work()>& make) {
  benchmark::RegisterBenchmark(
      name.c_str(), [make](benchmark::State& state) { Measure(state, make); })
      ->UseManualTime()
      ->MinTime(0.1)
      ->Unit(benchmark::kMicrosecond);
}

struct ConvShape {
  int64_t ic, oc, size, kernel, stride;
};

void RegisterAll() {
  for (auto [m, n, k] : std::vector<std::array<int64_t, 3>>{
           {384, 384, 384}, {1024, 1024, 1024}, {197, 197, 64}}) {
    Register(absl::StrCat("matmul/", m, "x", n, "x", k),
             [m = m, n = n, k = k] { return Matmul(m, n, k); });
  }
  for (auto [m, n, k] : std::vector<std::array<int64_t, 3>>{
           {384, 1536, 384}, {197, 384, 1536}, {1, 1000, 2048}}) {
    Register(absl::StrCat("dense/", m, "x", n, "x", k),
             [m = m, n = n, k = k] { return Dense(m, n, k); });
  }
  auto convolutions = [](absl::string_view family,
                         const std::vector<ConvShape>& shapes) {
    for (const ConvShape& s : shapes) {
      Register(absl::StrCat(family, "/", s.ic, "_", s.oc, "_", s.size, "_k",
                            s.kernel, "s", s.stride),
               [s] { return Conv(s.ic, s.oc, s.size, s.kernel, s.stride); });
    }
  };
  convolutions(
      "conv_resnet50",
      {{3, 64, 224, 7, 2},    {64, 64, 56, 1, 1},    {64, 64, 56, 3, 1},
       {64, 256, 56, 1, 1},   {256, 64, 56, 1, 1},   {256, 128, 56, 1, 1},
       {128, 128, 56, 3, 2},  {128, 128, 28, 3, 1},  {128, 512, 28, 1, 1},
       {512, 128, 28, 1, 1},  {256, 512, 56, 1, 2},  {256, 256, 28, 3, 2},
       {256, 256, 14, 3, 1},  {256, 1024, 14, 1, 1}, {1024, 256, 14, 1, 1},
       {512, 1024, 28, 1, 2}, {512, 512, 14, 3, 2},  {512, 512, 7, 3, 1},
       {512, 2048, 7, 1, 1},  {2048, 512, 7, 1, 1},  {1024, 2048, 14, 1, 2}});
  convolutions("conv_mobilenet", {{3, 32, 224, 3, 2},
                                  {32, 16, 112, 1, 1},
                                  {16, 96, 112, 1, 1},
                                  {96, 24, 56, 1, 1},
                                  {24, 144, 56, 1, 1},
                                  {384, 64, 14, 1, 1},
                                  {160, 960, 7, 1, 1},
                                  {320, 1280, 7, 1, 1}});
  convolutions("depthwise", {{0, 32, 112, 3, 1},
                             {0, 96, 112, 3, 2},
                             {0, 144, 56, 3, 1},
                             {0, 384, 14, 3, 1},
                             {0, 960, 7, 3, 1},
                             {0, 128, 28, 5, 1}});
  for (auto [rows, n] :
       std::vector<std::pair<int64_t, int64_t>>{{4608, 384}, {1182, 197}}) {
    Register(absl::StrCat("softmax/", rows, "x", n),
             [rows = rows, n = n] { return Softmax(rows, n); });
    Register(absl::StrCat("layer_norm/", rows, "x", n),
             [rows = rows, n = n] { return LayerNorm(rows, n); });
  }
}

}  // namespace
}  // namespace ingot

int main(int argc, char** argv) {
  setenv("INGOT_NUM_THREADS", "1", /*overwrite=*/0);
  benchmark::Initialize(&argc, argv);
  ingot::RegisterAll();
  std::printf("vectors of %d bits, %d registers; peak %.1f GFLOP/s\n",
              ingot::Cpu().vector_bits, ingot::Cpu().vector_registers,
              ingot::PeakGflops());
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
