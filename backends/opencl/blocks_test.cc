// Blocks of threads as groups of work items on a device of OpenCL, against the
// interpreter. Without a driver, such as Debian's pocl-opencl-icd, what needs
// one is skipped.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "backends/opencl/device.h"
#include "backends/opencl/opencl_writer.h"
#include "compiler/codegen/device_kernels.h"
#include "compiler/machine/test_machine.h"
#include "compiler/schedules/gpu/templates.h"
#include "compiler/schedules/schedule_kernel.h"
#include "compiler/te/lower.h"
#include "compiler/te/tags.h"
#include "compiler/te/testing/check.h"
#include "compiler/tir/arith/simplify.h"
#include "compiler/tir/interpreter.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::opencl {
namespace {

using ::testing::HasSubstr;

// relu(a b + bias), a [m, k], b [k, n].
tir::PrimFunc Product(int64_t m, int64_t n, int64_t k, int64_t tile) {
  te::Kernel kernel;
  te::Graph& g = kernel.graph;
  const DataType f32 = DataType::Float(32);
  const te::Tensor a = g.Placeholder("a", f32, te::ConstShape({m, k}));
  const te::Tensor b = g.Placeholder("b", f32, te::ConstShape({k, n}));
  const te::Tensor bias = g.Placeholder("bias", f32, te::ConstShape({n}));
  const te::Tensor c =
      g.Reduce("c", te::ConstShape({m, n}), {te::I(k)}, te::Reducer::Sum(f32),
               [&](const te::Indices& i, const te::Indices& r) {
                 return a({i[0], r[0]}) * b({r[0], i[1]});
               },
               {{te::kAnchor, te::kMatmul}});
  const te::Tensor d =
      g.Compute("d", te::ConstShape({m, n}), [&](const te::Indices& i) {
        return tir::Max(c(i) + bias({i[1]}), te::F(0));
      });
  // Products of any size take tiles, also where others would cost less.
  std::vector<te::ScheduleTemplate> tiles = te::gpu::GpuTemplates();
  tiles.erase(std::remove_if(tiles.begin(), tiles.end(),
                             [](const te::ScheduleTemplate& t) {
                               return t.name != "gpu.tile_product";
                             }),
              tiles.end());
  const auto schedule = te::ScheduleKernel(
      g, {d}, tiles, TestGpu(),
      [&](const te::ScheduleTemplate&, const te::ScheduleSite&,
          te::ScheduleChoice choice) {
        choice.Set("rows", tile);
        choice.Set("columns", tile);
        choice.Set("step", 16);
        choice.Set("chunks", 1);
        return choice;
      });
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  const auto lowered = te::Lower("product", g, {a, b, bias}, {d}, *schedule);
  EXPECT_TRUE(lowered.ok()) << lowered.status();
  return tir::Simplify(*lowered);
}

Tensor Numbers(std::vector<int64_t> shape, int seed) {
  Tensor x = *Tensor::Empty(DataType::Float(32), std::move(shape));
  for (int64_t i = 0; i < x.NumElements(); ++i) {
    x.mutable_data<float>()[i] = static_cast<float>((i * 7 + seed) % 9 - 4);
  }
  return x;
}

std::vector<codegen::DeviceKernel> Kernels(const tir::PrimFunc& func) {
  const auto kernels = codegen::KernelsOf(func);
  EXPECT_TRUE(kernels.ok()) << kernels.status();
  return *kernels;
}

std::string Source(const tir::PrimFunc& func,
                   const std::vector<codegen::DeviceKernel>& kernels) {
  OpenClWriter writer;
  EXPECT_TRUE(writer.Add(func, kernels).ok());
  return writer.Source();
}

TEST(Blocks, AreGroupsThatShareMemory) {
  const tir::PrimFunc func = Product(40, 70, 20, 32);
  const auto kernels = Kernels(func);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].group, 256);
  EXPECT_EQ(kernels[0].WorkItems(), 2 * 3 * 256);
  // After copying, and after adding, before the next step copies.
  EXPECT_EQ(kernels[0].barriers.size(), 3u);
  const std::string source = Source(func, kernels);
  EXPECT_THAT(source, HasSubstr("__local float a_tile[576];\n"));
  EXPECT_THAT(source, HasSubstr("float c_acc[4];\n"));
  EXPECT_THAT(source, HasSubstr("get_group_id(0)"));
  EXPECT_THAT(source, HasSubstr("get_local_id(0)"));
  EXPECT_THAT(
      source,
      HasSubstr("barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"));
}

// On the device: its copies of the arguments, then of the result.
Tensor RunOnDevice(const OpenDevice& on, const tir::PrimFunc& func,
                   const std::vector<Tensor>& arguments) {
  auto& device = static_cast<ClDevice&>(*on.api);
  const auto kernels = Kernels(func);
  const auto code = device.LoadCode(Source(func, kernels), nullptr);
  EXPECT_TRUE(code.ok()) << code.status();
  std::vector<void*> memory;
  for (const Tensor& t : arguments) {
    memory.push_back(*device.Allocate(on.device, t.bytes(), 64));
    EXPECT_TRUE(
        device.CopyFromCpu(on.device, memory.back(), t.raw_data(), t.bytes())
            .ok());
  }
  for (const codegen::DeviceKernel& kernel : kernels) {
    const device::Launch launch = {kernel.name, kernel.WorkItems(),
                                   kernel.group};
    const auto handle = device.FindKernel(*code, launch, memory.size());
    EXPECT_TRUE(handle.ok()) << handle.status();
    EXPECT_TRUE(device.Run(*handle, launch, memory).ok());
  }
  Tensor result = *arguments.back().Clone();
  EXPECT_TRUE(device
                  .CopyToCpu(on.device, result.mutable_raw_data(),
                             memory.back(), result.bytes())
                  .ok());
  for (void* m : memory) device.Free(on.device, m);
  device.UnloadCode(*code);
  return result;
}

TEST(Blocks, ComputeTheProduct) {
  const auto on = ClDevice::Open();
  if (!on.ok()) GTEST_SKIP() << on.status().message();
  struct Case {
    int64_t m, n, k, tile;
  };
  for (const Case& c : std::vector<Case>{{64, 64, 32, 32},
                                         {40, 70, 20, 32},
                                         {65, 130, 17, 64},
                                         {130, 17, 33, 16},
                                         {16, 16, 1, 16}}) {
    SCOPED_TRACE(testing::Message() << c.m << " x " << c.n << " x " << c.k);
    const tir::PrimFunc func = Product(c.m, c.n, c.k, c.tile);
    const std::vector<Tensor> arguments = {
        Numbers({c.m, c.k}, 1), Numbers({c.k, c.n}, 2), Numbers({c.n}, 3),
        Numbers({c.m, c.n}, 4)};
    const Tensor result = RunOnDevice(*on, func, arguments);
    const absl::Status interpreted = tir::Interpret(func, arguments);
    ASSERT_TRUE(interpreted.ok()) << interpreted;
    for (int64_t i = 0; i < result.NumElements(); ++i) {
      ASSERT_EQ(result.data<float>()[i], arguments[3].data<float>()[i]) << i;
    }
  }
}

}  // namespace
}  // namespace ingot::opencl
