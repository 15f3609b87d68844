// Products by blocks of threads against plain loops, in the interpreter, which
// also finds threads that disturb one another.
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

// a [batch, m, k] times b [k, n], or [n, k] where that is transposed; with a
// bias and relu where there is an epilogue.
Kernel Product(int64_t batch, int64_t m, int64_t n, int64_t k, bool transposed,
               bool epilogue) {
  Kernel kernel;
  Graph& g = kernel.graph;
  const DataType f32 = DataType::Float(32);
  const Tensor a = g.Placeholder("a", f32, ConstShape({batch, m, k}));
  const Tensor b =
      g.Placeholder("b", f32,
                    ConstShape(transposed ? std::vector<int64_t>{n, k}
                                          : std::vector<int64_t>{k, n}));
  const Tensor c =
      g.Reduce("c", ConstShape({batch, m, n}), {I(k)}, Reducer::Sum(f32),
               [&](const Indices& i, const Indices& r) {
                 return a({i[0], i[1], r[0]}) *
                        (transposed ? b({i[2], r[0]}) : b({r[0], i[2]}));
               },
               {{kAnchor, kMatmul}});
  kernel.inputs = {a, b};
  kernel.outputs = {c};
  if (epilogue) {
    const Tensor bias = g.Placeholder("bias", f32, ConstShape({n}));
    kernel.inputs.push_back(bias);
    kernel.outputs = {g.Compute(
        "d", ConstShape({batch, m, n}),
        [&](const Indices& i) { return tir::Max(c(i) + bias({i[2]}), F(0)); })};
  }
  return kernel;
}

// One point of the space.
Schedule Scheduled(const Kernel& kernel, int64_t rows, int64_t columns,
                   int64_t step, int64_t chunks, int64_t terms_last = 0) {
  const MachineModel machine = TestGpu();
  auto schedule = ScheduleKernel(
      kernel.graph, kernel.outputs, {gpu::TemplateNamed("gpu.tile_product")},
      machine,
      [&](const ScheduleTemplate&, const ScheduleSite&, ScheduleChoice choice) {
        choice.Set("rows", rows);
        choice.Set("columns", columns);
        choice.Set("step", step);
        choice.Set("chunks", chunks);
        choice.Set("terms_last", terms_last);
        return choice;
      });
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  return *std::move(schedule);
}

TEST(TileProduct, IsTheProduct) {
  struct Case {
    int64_t batch, m, n, k, rows, columns, step, chunks;
    bool transposed, epilogue;
  };
  for (const Case& c : std::vector<Case>{
           {1, 64, 64, 32, 32, 32, 16, 1, false, false},  // nothing left over
           {1, 64, 32, 16, 32, 16, 8, 1, true, true},
           {1, 33, 70, 19, 32, 64, 8, 1, false,
            true},  // something on each side
           {2, 35, 40, 20, 32, 16, 16, 1, true, false},
           {3, 17, 100, 7, 16, 64, 8, 1, false, true},
           {1, 16, 16, 1, 16, 16, 16, 1, false, false},
           {1, 130, 132, 9, 128, 128, 8, 1, false, false},  // runs of zeros
           {1, 130, 129, 9, 128, 32, 8, 1, false, true},
           // Parts of the sum, which are joined with and without an epilogue.
           {1, 64, 64, 32, 32, 64, 8, 2, false, true},
           {2, 35, 40, 24, 16, 32, 16, 4, true, false},
           {1, 33, 70, 96, 32, 64, 8, 8, false, true},
       }) {
    SCOPED_TRACE(testing::Message()
                 << c.batch << " x " << c.m << " x " << c.n << " x " << c.k
                 << " by " << c.rows << ", " << c.columns << ", " << c.step
                 << ", " << c.chunks);
    const Kernel kernel =
        Product(c.batch, c.m, c.n, c.k, c.transposed, c.epilogue);
    for (const int64_t terms_last : {0, 1}) {
      ExpectSame(kernel, Scheduled(kernel, c.rows, c.columns, c.step, c.chunks,
                                   terms_last));
    }
  }
}

// Terms that lie one after the other are shared so, four by four, and read by
// threads with neighbouring rows; nothing else changes.
TEST(TileProduct, MayShareTermsAsTheyLie) {
  const Kernel kernel = Product(1, 64, 64, 64, false, false);
  const auto text_of = [&](int64_t terms_last) {
    const auto func = Lower("f", kernel.graph, kernel.inputs, kernel.outputs,
                            Scheduled(kernel, 64, 64, 16, 1, terms_last));
    EXPECT_TRUE(func.ok()) << func.status();
    return func.ok() ? tir::Print(*func) : "";
  };
  EXPECT_THAT(text_of(0), HasSubstr(".tile: f32[1, 16, 68] shared"));
  EXPECT_THAT(text_of(1), HasSubstr(".tile: f32[1, 64, 20] shared"));
  EXPECT_THAT(text_of(1), HasSubstr(".tile: f32[16, 64] shared"));
}

// A convolution of one tap: channels are the rows, points of the image the
// columns.
TEST(TileProduct, IsAConvolutionOfOneTap) {
  for (const int64_t chunks : {1, 4}) {
    Kernel kernel;
    Graph& g = kernel.graph;
    const DataType f32 = DataType::Float(32);
    const Tensor data = g.Placeholder("data", f32, ConstShape({2, 24, 1, 49}));
    const Tensor weight = g.Placeholder("w", f32, ConstShape({40, 24, 1, 1}));
    const Tensor c =
        g.Reduce("c", ConstShape({2, 40, 1, 49}), {I(24), I(1), I(1)},
                 Reducer::Sum(f32), [&](const Indices& i, const Indices& r) {
                   return data({i[0], r[0], i[2] + r[1], i[3] + r[2]}) *
                          weight({i[1], r[0], r[1], r[2]});
                 });
    kernel.inputs = {data, weight};
    kernel.outputs = {g.Compute("d", c.shape(), [&](const Indices& i) {
      return tir::Max(c(i), F(0));
    })};
    ExpectSame(kernel, Scheduled(kernel, 32, 32, 16, chunks));
  }
}

// Convolutions of many taps: a tile has points of several rows of the image,
// and a step one tap of some channels, or some taps of one row.
TEST(TileProduct, IsAConvolution) {
  struct Case {
    int64_t channels, size, taps, stride, pad, rows, columns, step, chunks;
  };
  for (const Case& c : std::vector<Case>{
           {16, 14, 3, 1, 1, 32, 32, 8, 1},
           {16, 14, 3, 1, 1, 32, 64, 16, 2},
           {20, 15, 3, 2, 1, 32, 32, 16,
            1},  // channels that steps stick out of
           {3, 64, 16, 16, 0, 32, 16, 16, 1},  // patches
           {24, 9, 1, 2, 0, 32, 16, 8, 1},
       }) {
    SCOPED_TRACE(testing::Message() << c.channels << " channels, " << c.taps
                                    << " taps, stride " << c.stride);
    Kernel kernel;
    Graph& g = kernel.graph;
    const DataType f32 = DataType::Float(32);
    const int64_t padded = c.size + 2 * c.pad;
    const int64_t out = (padded - c.taps) / c.stride + 1;
    const Tensor data =
        g.Placeholder("data", f32, ConstShape({2, c.channels, c.size, c.size}));
    const Tensor weight =
        g.Placeholder("w", f32, ConstShape({40, c.channels, c.taps, c.taps}));
    const Tensor image = c.pad == 0 ? data : gpu::Padded(&g, data, 2, 2, c.pad);
    const Tensor sum =
        g.Reduce("c", ConstShape({2, 40, out, out}),
                 {I(c.channels), I(c.taps), I(c.taps)}, Reducer::Sum(f32),
                 [&](const Indices& i, const Indices& r) {
                   return image({i[0], r[0], i[2] * I(c.stride) + r[1],
                                 i[3] * I(c.stride) + r[2]}) *
                          weight({i[1], r[0], r[1], r[2]});
                 });
    kernel.inputs = {data, weight};
    kernel.outputs = {g.Compute("d", sum.shape(), [&](const Indices& i) {
      return tir::Max(sum(i), F(0));
    })};
    ExpectSame(kernel, Scheduled(kernel, c.rows, c.columns, c.step, c.chunks));
  }
}

TEST(TileProduct, SharesOperandsAndKeepsSums) {
  const Kernel kernel = Product(1, 64, 64, 32, false, true);
  const auto func = Lower("f", kernel.graph, kernel.inputs, kernel.outputs,
                          Scheduled(kernel, 32, 32, 16, 1));
  ASSERT_TRUE(func.ok()) << func.status();
  const std::string text = tir::Print(*func);
  EXPECT_THAT(text, HasSubstr("block "));
  EXPECT_THAT(text,
              HasSubstr("alloc %c.acc: f32[1, 16, 16, 1, 2, 2] registers"));
  EXPECT_THAT(text, HasSubstr("alloc %a.tile: f32[1, 16, 36] shared"));
  EXPECT_THAT(text, HasSubstr("alloc %b.tile: f32[16, 32] shared"));
}

TEST(TileProduct, IsForMachinesWithGroupsAndEnoughRows) {
  const Kernel square = Product(1, 512, 512, 512, false, true);
  EXPECT_EQ(gpu::TemplateFor(square, TestGpu()), "gpu.tile_product");
  EXPECT_EQ(gpu::TemplateFor(square, MachineModel()), "gpu.sums");
  // Most of a tile would be empty.
  const Kernel row = Product(1, 1, 4096, 512, false, true);
  EXPECT_EQ(gpu::TemplateFor(row, TestGpu()), "gpu.rows");
}

TEST(TileProduct, SharesNoMoreThanThereIs) {
  const Kernel kernel = Product(1, 4096, 4096, 64, false, false);
  auto schedule = Schedule::Create(kernel.graph, kernel.outputs);
  MachineModel machine = TestGpu();
  machine.shared_bytes = 8 << 10;
  const ScheduleSite site{*schedule, *schedule->stages()[0], machine};
  const ScheduleTemplate t = gpu::TemplateNamed("gpu.tile_product");
  const ScheduleChoice choice = CheapestPoint(t, site).parameters;
  EXPECT_LE(
      4 * (choice.Get("rows") + choice.Get("columns")) * choice.Get("step"),
      8 << 10);
}

TEST(TileProduct, TakesLargerTilesWhereThereAreMany) {
  const auto tile_of = [](int64_t n) {
    const Kernel kernel = Product(1, n, n, 64, false, false);
    auto schedule = Schedule::Create(kernel.graph, kernel.outputs);
    const MachineModel machine = TestGpu();
    const ScheduleSite site{*schedule, *schedule->stages()[0], machine};
    return CheapestPoint(gpu::TemplateNamed("gpu.tile_product"), site)
        .parameters.Get("rows");
  };
  EXPECT_EQ(tile_of(4096), 128);
  EXPECT_EQ(tile_of(64), 32);
}

// One block for each of few tiles would leave most of the device idle.
TEST(TileProduct, SharesLongSumsOfFewTiles) {
  const auto chunks_of = [](int64_t m, int64_t k) {
    const Kernel kernel = Product(1, m, 384, k, false, true);
    auto schedule = Schedule::Create(kernel.graph, kernel.outputs);
    const MachineModel machine = TestGpu();
    const ScheduleSite site{*schedule, *schedule->stages()[0], machine};
    return CheapestPoint(gpu::TemplateNamed("gpu.tile_product"), site)
        .parameters.Get("chunks");
  };
  EXPECT_GE(chunks_of(128, 1536), 4);
  EXPECT_EQ(chunks_of(128, 64), 1);
  EXPECT_EQ(chunks_of(8192, 1536), 1);
}

}  // namespace
}  // namespace ingot::te
