// Points of a template's space whose values go together are right schedules,
// not only the one that its estimate picks: a tuner may measure any of them.
#include <set>
#include <string>
#include <vector>

#include "compiler/machine/test_machine.h"
#include "compiler/relay/ir.h"
#include "compiler/schedules/choose.h"
#include "compiler/schedules/cpu/layouts.h"
#include "compiler/schedules/cpu/operator_kernel.h"
#include "compiler/schedules/cpu/templates.h"
#include "compiler/schedules/cpu/test_kernels.h"
#include "compiler/schedules/schedule_kernel.h"
#include "gtest/gtest.h"

namespace ingot::te::cpu {
namespace {

MachineModel Cpu(int bits) {
  MachineModel machine = TestCpuWithSmallCaches(bits);
  machine.vector_registers = 8;  // few, so that the spaces are small
  machine.fma = false;
  return machine;
}

class SpacesTest : public testing::TestWithParam<int> {
 protected:
  // Runs the kernel at every `step`-th point of the space of its anchor, which
  // must be the template called `name`.
  void CheckPoints(const Kernel& kernel, const std::string& name, size_t step,
                   const std::vector<DimValues>& sizes = {{}}) {
    const std::vector<ScheduleTemplate> templates = CpuTemplates();
    MachineModel machine = Cpu(GetParam());
    if (l2_bytes_ != 0) machine.l2_bytes = l2_bytes_;
    std::vector<ScheduleChoice> points;
    auto build = [&](const ParameterPicker& pick) {
      auto schedule = ScheduleKernel(kernel.graph, kernel.outputs, templates,
                                     machine, pick);
      EXPECT_TRUE(schedule.ok()) << schedule.status();
      return schedule;
    };
    ASSERT_TRUE(build([&](const ScheduleTemplate& t, const ScheduleSite& site,
                          const ScheduleChoice& cheapest) {
                  if (t.name == name) points = AllPoints(t, site);
                  if (t.name == name) cheapest_ = cheapest;
                  return cheapest;
                }).ok());
    ASSERT_GT(points.size(), 1u) << name << " has nothing to choose";
    for (size_t i = 0; i < points.size(); i += step) {
      SCOPED_TRACE(points[i].ToString());
      auto schedule = build([&](const ScheduleTemplate& t, const ScheduleSite&,
                                const ScheduleChoice& cheapest) {
        return t.name == name ? points[i] : cheapest;
      });
      ASSERT_TRUE(schedule.ok());
      for (const DimValues& dims : sizes) ExpectSame(kernel, *schedule, dims);
      if (testing::Test::HasFailure()) return;
    }
  }

  int64_t l2_bytes_ = 0;     // other than Cpu's
  ScheduleChoice cheapest_;  // of the last CheckPoints
};

TEST_P(SpacesTest, Matmul) {
  CheckPoints(Product({1, 13, 33, 5}, false), "cpu.matmul", 7);
  const int64_t nr = PanelWidth(Cpu(GetParam()), kF32, {9, 40, 5 * 4});
  CheckPoints(PackedProduct({2, 9, 40, 5}, nr), "cpu.matmul", 1);
}

TEST_P(SpacesTest, Dot) {
  if (GetParam() == 0) return;  // without vectors there is nothing to add up
  CheckPoints(Product({2, 2, 13, 21}, true), "cpu.dot", 1);
}

TEST_P(SpacesTest, Stream) {
  if (GetParam() == 0) return;
  CheckPoints(Product({1, 2, 1030, 70}, false), "cpu.stream", 1);
}

TEST_P(SpacesTest, Conv2dNchwc) {
  const ConvSize s = {1, 8, 24, 7, 3, 1, 1, 1};
  CheckPoints(BlockedConv(s, 8, tir::MakeInt(s.n), tir::MakeInt(s.size)),
              "cpu.conv2d_nchwc", 5);
}

// The last of a tile's blocks of channels are fewer, whatever the images.
TEST_P(SpacesTest, Conv2dNchwcOfUnevenChannels) {
  const tir::VarPtr n = tir::MakeVar("n");
  const ConvSize s = {0, 8, 200, 4, 3, 1, 1, 1};
  CheckPoints(BlockedConv(s, 8, n, tir::MakeInt(s.size)), "cpu.conv2d_nchwc", 7,
              {{{n.get(), 0}}, {{n.get(), 1}}, {{n.get(), 3}}});
  CheckPoints(BlockedConv(s, 8, tir::MakeInt(2), tir::MakeInt(s.size)),
              "cpu.conv2d_nchwc", 7);
}

// Rows whose data leave the cache are cut into blocks of columns, where the
// padding is made, too.
TEST_P(SpacesTest, Conv2dNchwcOfLongRows) {
  const ConvSize padded = {2, 8, 24, 70, 1, 1, 1, 1};
  CheckPoints(BlockedConv(padded, 8, tir::MakeInt(2), tir::MakeInt(3)),
              "cpu.conv2d_nchwc", 5);
  const ConvSize grouped = {1, 32, 64, 72, 1, 1, 0, 4};
  CheckPoints(BlockedConv(grouped, 8, tir::MakeInt(1), tir::MakeInt(1)),
              "cpu.conv2d_nchwc", 5);
}

// Long rows that windows of several rows share are cut into blocks of columns
// of all rows, whose padding need not be a copy.
TEST_P(SpacesTest, Conv2dNchwcOfTallWindows) {
  l2_bytes_ = 16 << 10;
  const auto f32 = [](std::vector<int64_t> shape) {
    return relay::TensorType{DataType::Float(32), relay::MakeShape(shape)};
  };
  Kernel kernel;
  DefineOperator("conv2d", {f32({2, 1, 9, 96, 8}), f32({4, 1, 3, 1, 8, 8})},
                 {{"data_layout", "NCHW8c"},
                  {"kernel_layout", "OIHW8i8o"},
                  {"pads", std::vector<int64_t>{1, 0, 1, 0}},
                  {"strides", std::vector<int64_t>{2, 1}}},
                 &kernel);
  CheckPoints(kernel, "cpu.conv2d_nchwc", 5);
  EXPECT_LT(cheapest_.Get("columns"), 96);
  EXPECT_EQ(cheapest_.Get("copies_padding"), 0);
}

TEST_P(SpacesTest, Conv2dNchw) {
  CheckPoints(PlainDataConv({1, 3, 6, 11, 3, 2, 1, 1}, false),
              "cpu.conv2d_nchw", 1);
}

TEST_P(SpacesTest, Window) {
  CheckPoints(BlockedWindow({1, 16, 0, 11, 3, 1, 1, 1}, false), "cpu.window",
              1);
  CheckPoints(BlockedWindow({1, 8, 0, 9, 2, 2, 0, 1}, true), "cpu.window", 1);
}

INSTANTIATE_TEST_SUITE_P(VectorBits, SpacesTest, testing::Values(0, 256));

TEST(CpuTemplates, NamesAreUnique) {
  std::set<std::string> names;
  for (const ScheduleTemplate& t : CpuTemplates()) {
    EXPECT_EQ(t.name.rfind("cpu.", 0), 0u) << t.name;
    EXPECT_TRUE(names.insert(t.name).second) << t.name;
    EXPECT_NE(t.matches, nullptr) << t.name;
    EXPECT_NE(t.build, nullptr) << t.name;
  }
  EXPECT_GE(names.size(), 7u);
}

}  // namespace
}  // namespace ingot::te::cpu
