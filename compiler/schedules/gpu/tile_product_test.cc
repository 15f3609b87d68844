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
Schedule Scheduled(const Kernel& kernel, int64_t tile, int64_t step) {
  const MachineModel machine = TestGpu();
  auto schedule = ScheduleKernel(
      kernel.graph, kernel.outputs, {gpu::TemplateNamed("gpu.tile_product")},
      machine,
      [&](const ScheduleTemplate&, const ScheduleSite&, ScheduleChoice choice) {
        choice.Set("tile", tile);
        choice.Set("step", step);
        return choice;
      });
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  return *std::move(schedule);
}

TEST(TileProduct, IsTheProduct) {
  struct Case {
    int64_t batch, m, n, k, tile, step;
    bool transposed, epilogue;
  };
  for (const Case& c : std::vector<Case>{
           {1, 64, 64, 32, 32, 16, false, false},  // nothing is left over
           {1, 64, 32, 16, 32, 8, true, true},
           {1, 33, 70, 19, 32, 8, false, true},  // something on each side
           {2, 35, 40, 20, 32, 16, true, false},
           {3, 5, 100, 7, 64, 8, false, true},  // fewer rows than a tile
           {1, 1, 1, 1, 64, 16, false, false},
           {1, 130, 129, 9, 128, 8, false, false},
       }) {
    SCOPED_TRACE(testing::Message()
                 << c.batch << " x " << c.m << " x " << c.n << " x " << c.k
                 << " by " << c.tile << ", " << c.step);
    const Kernel kernel =
        Product(c.batch, c.m, c.n, c.k, c.transposed, c.epilogue);
    ExpectSame(kernel, Scheduled(kernel, c.tile, c.step));
  }
}

TEST(TileProduct, SharesOperandsAndKeepsSums) {
  const Kernel kernel = Product(1, 64, 64, 32, false, true);
  const auto func = Lower("f", kernel.graph, kernel.inputs, kernel.outputs,
                          Scheduled(kernel, 32, 16));
  ASSERT_TRUE(func.ok()) << func.status();
  const std::string text = tir::Print(*func);
  EXPECT_THAT(text, HasSubstr("block "));
  EXPECT_THAT(text, HasSubstr("alloc %c: f32[1, 16, 16, 1, 2, 2] registers"));
  EXPECT_THAT(text, HasSubstr("alloc %a.tile: f32[1, 16, 32] shared"));
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
  // One for each of two operands.
  EXPECT_LE(2 * 4 * choice.Get("tile") * choice.Get("step"), 8 << 10);
}

TEST(TileProduct, TakesLargerTilesWhereThereAreMany) {
  const auto tile_of = [](int64_t n) {
    const Kernel kernel = Product(1, n, n, 64, false, false);
    auto schedule = Schedule::Create(kernel.graph, kernel.outputs);
    const MachineModel machine = TestGpu();
    const ScheduleSite site{*schedule, *schedule->stages()[0], machine};
    return CheapestPoint(gpu::TemplateNamed("gpu.tile_product"), site)
        .parameters.Get("tile");
  };
  EXPECT_EQ(tile_of(4096), 128);
  EXPECT_EQ(tile_of(64), 32);
}

}  // namespace
}  // namespace ingot::te
