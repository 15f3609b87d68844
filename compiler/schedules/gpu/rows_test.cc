// Rows by blocks of threads against plain loops, in the interpreter, which also
// finds races between threads and reads of memory that was not written.
#include <algorithm>
#include <string>
#include <vector>

#include "compiler/machine/test_machine.h"
#include "compiler/schedules/gpu/templates.h"
#include "compiler/schedules/gpu/test_templates.h"
#include "compiler/schedules/schedule_kernel.h"
#include "compiler/te/lower.h"
#include "compiler/te/schedule_template.h"
#include "compiler/te/tags.h"
#include "compiler/te/testing/check.h"
#include "compiler/tir/printer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::te {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const DataType kF32 = DataType::Float(32);

Indices With(Indices i, size_t axis, const Expr& value) {
  i[axis] = value;
  return i;
}

// Softmax along one axis, but of whole numbers, which stay exact: twice what
// is above the mean of the row's smallest and largest, and the row's sum of
// that.
Kernel Softmax(const std::vector<int64_t>& shape, size_t axis) {
  Kernel kernel;
  Graph& g = kernel.graph;
  const Tensor x = g.Placeholder("x", kF32, ConstShape(shape));
  std::vector<int64_t> rows = shape;
  rows[axis] = 1;
  const auto reduce = [&](const char* name, const Tensor& of, Reducer reducer) {
    return g.Reduce(name, ConstShape(rows), {I(shape[axis])}, reducer,
                    [&](const Indices& i, const Indices& r) {
                      return of(With(i, axis, r[0]));
                    },
                    {{kAnchor, kSoftmax}});
  };
  const Tensor top = reduce("top", x, Reducer::Max(kF32));
  const Tensor bottom = reduce("bottom", x, Reducer::Min(kF32));
  const Tensor above =
      g.Compute("above", ConstShape(shape), [&](const Indices& i) {
        const Indices row = With(i, axis, I(0));
        return tir::MakeCall(tir::Intrinsic::kExp,
                             {x(i) - top(row) - bottom(row)}) *
               F(0);
      });
  const Tensor centred =
      g.Compute("centred", ConstShape(shape), [&](const Indices& i) {
        const Indices row = With(i, axis, I(0));
        return x(i) + x(i) - top(row) - bottom(row) + above(i);
      });
  const Tensor sum = reduce("sum", centred, Reducer::Sum(kF32));
  kernel.inputs = {x};
  kernel.outputs = {g.Compute("y", ConstShape(shape), [&](const Indices& i) {
    return centred(i) - sum(With(i, axis, I(0)));
  })};
  return kernel;
}

// Every group of `per_group` channels by its sum and its largest number.
Kernel GroupNorm(int64_t channels, int64_t per_group, int64_t h, int64_t w) {
  Kernel kernel;
  Graph& g = kernel.graph;
  const Tensor x = g.Placeholder("x", kF32, ConstShape({2, channels, h, w}));
  const auto reduce = [&](const char* name, Reducer reducer) {
    return g.Reduce(name, ConstShape({2, channels / per_group}),
                    {I(per_group), I(h), I(w)}, reducer,
                    [&](const Indices& i, const Indices& r) {
                      return x({i[0], i[1] * per_group + r[0], r[1], r[2]});
                    },
                    {{kAnchor, kNorm}});
  };
  const Tensor sum = reduce("sum", Reducer::Sum(kF32));
  const Tensor top = reduce("top", Reducer::Max(kF32));
  kernel.inputs = {x};
  kernel.outputs = {
      g.Compute("y", ConstShape({2, channels, h, w}), [&](const Indices& i) {
        const Indices row = {i[0], i[1] / I(per_group)};
        return x(i) + top(row) - sum(row);
      })};
  return kernel;
}

// Subtracts the sum and the largest number of all axes from `axis` on.
Kernel LayerNorm(const std::vector<int64_t>& shape, size_t axis) {
  Kernel kernel;
  Graph& g = kernel.graph;
  const Tensor x = g.Placeholder("x", kF32, ConstShape(shape));
  const std::vector<Expr> rows =
      ConstShape({shape.begin(), shape.begin() + axis});
  const auto reduce = [&](const char* name, Reducer reducer) {
    return g.Reduce(name, rows, ConstShape({shape.begin() + axis, shape.end()}),
                    reducer,
                    [&](const Indices& i, const Indices& r) {
                      Indices at = i;
                      at.insert(at.end(), r.begin(), r.end());
                      return x(at);
                    },
                    {{kAnchor, kNorm}});
  };
  const Tensor sum = reduce("sum", Reducer::Sum(kF32));
  const Tensor top = reduce("top", Reducer::Max(kF32));
  kernel.inputs = {x};
  kernel.outputs = {g.Compute("y", ConstShape(shape), [&](const Indices& i) {
    const Indices row(i.begin(), i.begin() + axis);
    return x(i) - sum(row) - top(row);
  })};
  return kernel;
}

// a [m, k] times b [k, n], or [n, k] where that is transposed.
Kernel Product(int64_t m, int64_t n, int64_t k, bool transposed) {
  Kernel kernel;
  Graph& g = kernel.graph;
  const Tensor a = g.Placeholder("a", kF32, ConstShape({m, k}));
  const Tensor b =
      g.Placeholder("b", kF32,
                    ConstShape(transposed ? std::vector<int64_t>{n, k}
                                          : std::vector<int64_t>{k, n}));
  kernel.inputs = {a, b};
  kernel.outputs = {
      g.Reduce("c", ConstShape({m, n}), {I(k)}, Reducer::Sum(kF32),
               [&](const Indices& i, const Indices& r) {
                 return a({i[0], r[0]}) *
                        (transposed ? b({i[1], r[0]}) : b({r[0], i[1]}));
               },
               {{kAnchor, kMatmul}})};
  return kernel;
}

// Sums of some axes, kept or not.
Kernel Sums(const std::vector<int64_t>& rows,
            const std::vector<int64_t>& terms) {
  Kernel kernel;
  Graph& g = kernel.graph;
  std::vector<int64_t> shape = rows;
  shape.insert(shape.end(), terms.begin(), terms.end());
  const Tensor x = g.Placeholder("x", kF32, ConstShape(shape));
  kernel.inputs = {x};
  const Tensor sum =
      g.Reduce("sum", ConstShape(rows), ConstShape(terms), Reducer::Sum(kF32),
               [&](const Indices& i, const Indices& r) {
                 Indices at = i;
                 at.insert(at.end(), r.begin(), r.end());
                 return x(at);
               },
               {{kAnchor, kReduce}});
  kernel.outputs = {g.Compute("y", ConstShape(rows), [&](const Indices& i) {
    return sum(i) + sum(i);
  })};
  return kernel;
}

// Whether the template's space has it: one thread for a row is for kernels of
// several reductions.
bool HasPoint(const Kernel& kernel, int64_t threads) {
  const auto schedule = Schedule::Create(kernel.graph, kernel.outputs);
  const MachineModel machine = TestGpu();
  const auto space = gpu::TemplateNamed("gpu.rows")
                         .space({*schedule, *schedule->stages()[0], machine});
  const std::vector<int64_t>& values = space.parameters[0].values;
  return std::count(values.begin(), values.end(), threads) != 0;
}

Schedule Scheduled(const Kernel& kernel, int64_t threads,
                   MachineModel machine = TestGpu()) {
  auto schedule = ScheduleKernel(
      kernel.graph, kernel.outputs, {gpu::TemplateNamed("gpu.rows")}, machine,
      [&](const ScheduleTemplate&, const ScheduleSite&, ScheduleChoice choice) {
        choice.Set("threads", threads);
        return choice;
      });
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  return *std::move(schedule);
}

std::string LoopsOf(const Kernel& kernel, const Schedule& schedule) {
  const auto func =
      Lower("f", kernel.graph, kernel.inputs, kernel.outputs, schedule);
  EXPECT_TRUE(func.ok()) << func.status();
  return func.ok() ? tir::Print(*func) : "";
}

// Everything is in one block loop.
void ExpectOneKernel(const Kernel& kernel, const Schedule& schedule) {
  const std::string text = LoopsOf(kernel, schedule);
  const size_t first = text.find("\n  block ");
  ASSERT_NE(first, std::string::npos) << text;
  EXPECT_EQ(text.find("\n  block ", first + 1), std::string::npos) << text;
  EXPECT_THAT(text, Not(HasSubstr("\n  parallel "))) << text;
  EXPECT_THAT(text, Not(HasSubstr("\n  for "))) << text;
}

TEST(Rows, AreOneKernelEach) {
  const std::vector<Kernel> kernels = [] {
    std::vector<Kernel> k;
    k.push_back(Softmax({3, 70}, 1));
    k.push_back(Softmax({2, 5, 33}, 2));
    k.push_back(Softmax({2, 19, 6}, 1));  // threads are neighbours across rows
    k.push_back(Softmax({300, 2}, 1));
    k.push_back(Softmax({7, 1}, 0));
    k.push_back(Softmax({1}, 0));
    k.push_back(GroupNorm(6, 1, 5, 7));
    k.push_back(GroupNorm(6, 3, 5, 7));
    k.push_back(GroupNorm(4, 4, 1, 9));
    k.push_back(Product(1, 70, 33, false));
    k.push_back(Product(2, 5, 300, true));
    k.push_back(LayerNorm({4, 50}, 0));
    k.push_back(LayerNorm({2, 3, 50}, 2));
    k.push_back(Sums({4, 3}, {100}));
    k.push_back(Sums({5}, {7, 3, 20}));
    k.push_back(Sums({1, 1}, {600}));
    return k;
  }();
  for (size_t i = 0; i < kernels.size(); ++i) {
    for (const int64_t threads : {1, 2, 8, 16, 64, 256}) {
      if (!HasPoint(kernels[i], threads)) continue;
      SCOPED_TRACE(testing::Message()
                   << "kernel " << i << ", " << threads << " threads");
      const Schedule schedule = Scheduled(kernels[i], threads);
      ExpectOneKernel(kernels[i], schedule);
      ExpectSame(kernels[i], schedule);
    }
  }
}

// The exponentials are too large here for shared memory.
TEST(Rows, LeaveWhatIsLargeInMemory) {
  const Kernel kernel = Softmax({3, 1000}, 1);
  MachineModel machine = TestGpu();
  EXPECT_THAT(LoopsOf(kernel, Scheduled(kernel, 256, machine)),
              HasSubstr("alloc %above: f32[1, 1000] shared"));
  machine.shared_bytes = 6000;
  const Schedule schedule = Scheduled(kernel, 256, machine);
  EXPECT_THAT(LoopsOf(kernel, schedule), HasSubstr("workspace(%above: "));
  ExpectOneKernel(kernel, schedule);
  ExpectSame(kernel, schedule);
}

// As many threads for a row as leave room for what a block's rows have between
// statistics and result, and not one for each of many long rows.
TEST(Rows, KeepWhatFitsByTheirCosts) {
  for (const std::vector<int64_t>& shape : std::vector<std::vector<int64_t>>{
           {37824, 197}, {49152, 128}, {262144, 1024}}) {
    const Kernel kernel = Softmax(shape, 1);
    EXPECT_EQ(gpu::TemplateFor(kernel, TestGpu()), "gpu.rows") << shape[1];
    auto schedule = ScheduleKernel(kernel.graph, kernel.outputs,
                                   gpu::GpuTemplates(), TestGpu());
    ASSERT_TRUE(schedule.ok()) << schedule.status();
    const std::string text = LoopsOf(kernel, *schedule);
    EXPECT_THAT(text, HasSubstr(" shared")) << shape[1];
    EXPECT_THAT(text, Not(HasSubstr("workspace"))) << shape[1];
  }
}

TEST(Rows, JoinPartsInSteps) {
  const Kernel kernel = Sums({1, 1}, {600});
  const std::string text = LoopsOf(kernel, Scheduled(kernel, 256));
  EXPECT_THAT(text, HasSubstr("alloc %sum.parts: f32[1, 1, 256] shared"));
  EXPECT_THAT(text, HasSubstr("alloc %sum.parts8: f32[1, 1, 8] shared"));
  // Each thread adds up its terms in registers.
  EXPECT_THAT(text, HasSubstr("alloc %sum.parts.acc: f32[1, 1, 1] stack"));
}

// Neighbouring threads read neighbouring elements: those of a row, or those of
// neighbouring rows.
TEST(Rows, ReadMemoryAlongThreads) {
  const auto product = [](bool transposed) {
    const Kernel kernel = Product(1, 64, 32, transposed);
    return LoopsOf(kernel, Scheduled(kernel, 8));
  };
  // 32 columns, and 8 parts of each.
  EXPECT_THAT(product(true),
              HasSubstr("thread i0_i1_pi in [0, 256) {\n"
                        "      alloc %c.parts.acc: f32[1, 1, 1] stack\n"
                        "      %c.parts.acc[0, 0, 0] = 0.0f\n"
                        "      for r in [0, 4) {\n"));
  EXPECT_THAT(product(true), HasSubstr("r * 8 + i0_i1_pi % 8]"));
  EXPECT_THAT(product(false), HasSubstr("r * 8 + p_i0_i1i // 32, "));
}

TEST(Rows, AreForMachinesWithGroups) {
  EXPECT_EQ(gpu::TemplateFor(Softmax({3, 70}, 1), TestGpu()), "gpu.rows");
  EXPECT_EQ(gpu::TemplateFor(Softmax({3, 70}, 1), MachineModel()), "gpu.sums");
  EXPECT_EQ(gpu::TemplateFor(Product(1, 4096, 512, false), TestGpu()),
            "gpu.rows");
  // One item for each of many sums of few terms has no parts to join.
  EXPECT_EQ(gpu::TemplateFor(Sums({100000}, {4}), TestGpu()), "gpu.sums");
  // One sum of very many is made by the whole device.
  EXPECT_EQ(gpu::TemplateFor(Sums({1}, {50000000}), TestGpu()), "gpu.sums");
}

}  // namespace
}  // namespace ingot::te
