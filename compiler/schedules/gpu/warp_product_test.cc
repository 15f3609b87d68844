// Products by the units of warps, and of four warps, against plain loops, in
// the interpreter, which also finds threads that disturb one another. What a
// unit gives is backends/cuda's to test.
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

struct Sizes {
  int64_t batch, m, n, k;
  bool transposed = false;
};

// a [batch, m, k] times b [k, n], or [n, k] where that is transposed, with
// relu.
Kernel Product(const Sizes& s, DataType type) {
  Kernel kernel;
  Graph& g = kernel.graph;
  const DataType f32 = DataType::Float(32);
  const Tensor a = g.Placeholder("a", type, ConstShape({s.batch, s.m, s.k}));
  const Tensor b =
      g.Placeholder("b", type,
                    ConstShape(s.transposed ? std::vector<int64_t>{s.n, s.k}
                                            : std::vector<int64_t>{s.k, s.n}));
  const Tensor c = g.Reduce(
      "c", ConstShape({s.batch, s.m, s.n}), {I(s.k)}, Reducer::Sum(f32),
      [&](const Indices& i, const Indices& r) {
        return tir::MakeCast(f32, a({i[0], i[1], r[0]})) *
               tir::MakeCast(f32,
                             s.transposed ? b({i[2], r[0]}) : b({r[0], i[2]}));
      },
      {{kAnchor, kMatmul}});
  kernel.inputs = {a, b};
  kernel.outputs = {g.Compute(
      "d", c.shape(), [&](const Indices& i) { return tir::Max(c(i), F(0)); })};
  return kernel;
}

// A point of a template's space.
struct Point {
  int64_t rows, columns;
  int64_t warps;  // 0: those that the rows need, of gpu.warp_group_product
  int64_t step, chunks;
};

Schedule Scheduled(const Kernel& kernel, const Point& p) {
  MachineModel machine = TestGpuWithWarpTiles(/*has_tf32=*/true);
  machine.units.insert(MachineUnit::kWarpGroupTiles);
  auto schedule = ScheduleKernel(
      kernel.graph, kernel.outputs,
      {gpu::TemplateNamed(p.warps == 0 ? "gpu.warp_group_product"
                                       : "gpu.warp_product")},
      machine,
      [&](const ScheduleTemplate&, const ScheduleSite&, ScheduleChoice choice) {
        choice.Set("rows", p.rows);
        choice.Set("columns", p.columns);
        if (p.warps > 0) choice.Set("warps", p.warps);
        choice.Set("step", p.step);
        choice.Set("chunks", p.chunks);
        return choice;
      });
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  return *std::move(schedule);
}

TEST(WarpProduct, IsTheProduct) {
  struct Case {
    Sizes sizes;
    Point point;
  };
  for (const Case& c : std::vector<Case>{
           {{1, 64, 64, 32}, {64, 64, 4, 32, 1}},  // nothing left over
           {{1, 64, 64, 32, true}, {32, 32, 4, 16, 1}},
           {{2, 33, 70, 19}, {32, 64, 4, 16, 1}},  // something on each side
           {{1, 72, 72, 40}, {64, 64, 8, 32, 1}},  // runs of zeros
           {{1, 72, 72, 40, true}, {64, 64, 8, 32, 1}},
           {{1, 47, 70, 33, true}, {32, 64, 4, 16, 1}},
           {{1, 32, 32, 16}, {32, 32, 4, 16, 1}},
           {{1, 33, 80, 96}, {32, 64, 4, 16, 4}},
           {{1, 130, 132, 9}, {128, 64, 8, 32, 1}},
           {{1, 64, 64, 128}, {64, 64, 0, 64, 1}},
           {{2, 72, 80, 136, true}, {64, 64, 0, 64, 1}},
           {{1, 65, 72, 40}, {64, 64, 0, 64, 1}},
           {{1, 128, 64, 256}, {128, 64, 0, 64, 2}},
           {{1, 130, 136, 72, true}, {128, 128, 0, 64, 1}},
       }) {
    for (const DataType type :
         {DataType::Float(16), DataType::BFloat16(), DataType::Float(32)}) {
      const Point& p = c.point;
      if (p.warps == 0 && type.bits == 32) continue;
      SCOPED_TRACE(testing::Message()
                   << c.sizes.m << " x " << c.sizes.n << " x " << c.sizes.k
                   << " of " << type.ToString() << " by " << p.rows << ", "
                   << p.columns << ", " << p.warps << ", " << p.step);
      const Kernel kernel = Product(c.sizes, type);
      ExpectSame(kernel, Scheduled(kernel, p));
    }
  }
}

// data [n, h, w, i] by kernels [kh, kw, i, o]: all points of the images are
// rows, so that tiles go on from one image to the next.
TEST(WarpProduct, IsAConvolutionOfChannelsLast) {
  struct Case {
    int64_t channels, size, taps, stride, pad;
    Point point;
  };
  for (const Case& c : std::vector<Case>{
           {16, 7, 3, 1, 1, {32, 32, 4, 16, 1}},
           {24, 7, 3, 2, 1, {32, 32, 4, 16, 1}},  // a step sticks out
           {64, 5, 3, 1, 1, {32, 32, 4, 32, 2}},
           {32, 6, 2, 2, 0, {32, 64, 4, 32, 1}},
           {12, 7, 1, 1, 0, {64, 32, 4, 16, 1}},  // no runs of 8
           {3, 9, 7, 2, 3, {32, 32, 4, 16, 1}},   // terms are joined
           {2, 9, 4, 1, 0, {32, 64, 4, 16, 2}},
       }) {
    SCOPED_TRACE(testing::Message() << c.channels << " channels, " << c.taps
                                    << " taps, stride " << c.stride);
    Kernel kernel;
    Graph& g = kernel.graph;
    const DataType f32 = DataType::Float(32), f16 = DataType::Float(16);
    constexpr int64_t kImages = 4, kOut = 72;
    const int64_t padded = c.size + 2 * c.pad;
    const int64_t out = (padded - c.taps) / c.stride + 1;
    const Tensor data = g.Placeholder(
        "data", f16, ConstShape({kImages, 1, c.size, c.size, c.channels}));
    const Tensor weight = g.Placeholder(
        "w", f16, ConstShape({1, 1, c.taps, c.taps, c.channels, kOut}));
    const Tensor image = c.pad == 0 ? data : gpu::Padded(&g, data, 2, 2, c.pad);
    const Tensor sum = g.Reduce(
        "c", ConstShape({kImages, 1, out, out, kOut}),
        {I(1), I(c.taps), I(c.taps), I(c.channels)}, Reducer::Sum(f32),
        [&](const Indices& i, const Indices& r) {
          return tir::MakeCast(f32,
                               image({i[0], r[0], i[2] * I(c.stride) + r[1],
                                      i[3] * I(c.stride) + r[2], r[3]})) *
                 tir::MakeCast(f32,
                               weight({i[1], r[0], r[1], r[2], r[3], i[4]}));
        });
    kernel.inputs = {data, weight};
    kernel.outputs = {g.Compute("d", sum.shape(), [&](const Indices& i) {
      return tir::Max(sum(i), F(0));
    })};
    ExpectSame(kernel, Scheduled(kernel, c.point));
  }
}

TEST(WarpProduct, SharesRowsAsTheyLieInMemory) {
  const Kernel kernel = Product({1, 64, 64, 64}, DataType::Float(16));
  const auto func = Lower("f", kernel.graph, kernel.inputs, kernel.outputs,
                          Scheduled(kernel, {64, 64, 4, 32, 1}));
  ASSERT_TRUE(func.ok()) << func.status();
  const std::string text = tir::Print(*func);
  EXPECT_THAT(text,
              HasSubstr("alloc %c.acc: f32[1, 16, 8, 1, 4, 8] registers"));
  EXPECT_THAT(text, HasSubstr("alloc %a.tile: f16[1, 64, 40] shared"));
  EXPECT_THAT(text, HasSubstr("alloc %b.tile: f16[32, 72] shared"));
  EXPECT_THAT(text, HasSubstr("tensorized r0i in [0, 32)"));
}

// One thread copies boxes with rows of 128 bytes, of 64 terms or of 64 columns,
// and a warp has 16 neighbouring rows.
TEST(WarpProduct, SharesBoxesWithFourWarps) {
  const Kernel kernel = Product({1, 64, 128, 128}, DataType::Float(16));
  const auto func = Lower("f", kernel.graph, kernel.inputs, kernel.outputs,
                          Scheduled(kernel, {64, 128, 0, 64, 1}));
  ASSERT_TRUE(func.ok()) << func.status();
  const std::string text = tir::Print(*func);
  EXPECT_THAT(text,
              HasSubstr("alloc %c.acc: f32[1, 32, 4, 1, 2, 32] registers"));
  EXPECT_THAT(text, HasSubstr("alloc %a.tile: f16[1, 1, 64, 64] shared"));
  EXPECT_THAT(text, HasSubstr("alloc %b.tile: f16[2, 64, 64] shared"));
  EXPECT_THAT(text, HasSubstr("in [0, 1) {\n        tensorized "));
}

// A part of a tensor goes on beyond what is multiplied, where boxes would not
// have zeros.
TEST(WarpProduct, CopiesBoxesOfWholeTensors) {
  for (const int64_t rows : {512, 768}) {
    Kernel kernel;
    Graph& g = kernel.graph;
    const DataType f32 = DataType::Float(32), f16 = DataType::Float(16);
    const Tensor a = g.Placeholder("a", f16, ConstShape({800, 512}));
    const Tensor b = g.Placeholder("b", f16, ConstShape({512, 768}));
    const Tensor c =
        g.Reduce("c", ConstShape({rows, 768}), {I(512)}, Reducer::Sum(f32),
                 [&](const Indices& i, const Indices& r) {
                   return tir::MakeCast(f32, a({i[0] + I(8), r[0]})) *
                          tir::MakeCast(f32, b({r[0], i[1]}));
                 },
                 {{kAnchor, kMatmul}});
    kernel.inputs = {a, b};
    kernel.outputs = {c};
    EXPECT_EQ(gpu::TemplateFor(kernel, TestGpuWithWarpGroupTiles()),
              rows == 768 ? "gpu.warp_group_product" : "gpu.warp_product");
  }
}

TEST(WarpProduct, IsForLargeProductsOfNarrowFloats) {
  const Sizes large = {1, 512, 512, 512};
  EXPECT_EQ(gpu::TemplateFor(Product(large, DataType::BFloat16()),
                             TestGpuWithWarpTiles()),
            "gpu.warp_product");
  EXPECT_EQ(gpu::TemplateFor(Product(large, DataType::Float(32)),
                             TestGpuWithWarpTiles()),
            "gpu.tile_product");
  EXPECT_EQ(gpu::TemplateFor(Product(large, DataType::Float(32)),
                             TestGpuWithWarpTiles(/*has_tf32=*/true)),
            "gpu.warp_product");
  EXPECT_EQ(gpu::TemplateFor(Product(large, DataType::BFloat16()),
                             TestGpuWithWarpGroupTiles()),
            "gpu.warp_group_product");
  // Rows that are no multiples of 16 bytes, and a sum of one step, are no boxes
  // that come ahead.
  for (const Sizes& none : {Sizes{1, 512, 516, 512}, Sizes{1, 512, 512, 64}}) {
    EXPECT_EQ(gpu::TemplateFor(Product(none, DataType::BFloat16()),
                               TestGpuWithWarpGroupTiles()),
              "gpu.warp_product");
  }
  EXPECT_EQ(gpu::TemplateFor(Product(large, DataType::Float(16)), TestGpu()),
            "gpu.tile_product");
  EXPECT_EQ(gpu::TemplateFor(Product({1, 8, 512, 512}, DataType::Float(16)),
                             TestGpuWithWarpTiles()),
            "gpu.rows");
}

}  // namespace
}  // namespace ingot::te
