// Convolutions by blocks of threads against plain loops, in the interpreter,
// which also finds races between threads and reads of memory that was not
// written.
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
#include "compiler/tir/visitor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ingot::te {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const DataType kF32 = DataType::Float(32);

struct Sizes {
  int64_t n, channels, in_channels;
  std::vector<int64_t> image, kernel;
  int64_t stride = 1, dilation = 1, pad = 0;
  int64_t groups = 1;
};

// The epilogue is a bias and relu.
Kernel Convolution(const Sizes& s, bool epilogue) {
  Kernel kernel;
  Graph& g = kernel.graph;
  std::vector<int64_t> data = {s.n, s.in_channels * s.groups};
  std::vector<int64_t> weight = {s.channels, s.in_channels},
                       out = {s.n, s.channels};
  std::vector<Expr> terms = {I(s.in_channels)};
  for (size_t d = 0; d < s.image.size(); ++d) {
    data.push_back(s.image[d]);
    weight.push_back(s.kernel[d]);
    out.push_back(
        (s.image[d] + 2 * s.pad - (s.kernel[d] - 1) * s.dilation - 1) /
            s.stride +
        1);
    terms.push_back(I(s.kernel[d]));
  }
  const Tensor x = g.Placeholder("x", kF32, ConstShape(data));
  const Tensor w = g.Placeholder("w", kF32, ConstShape(weight));
  kernel.inputs = {x, w};
  const Tensor from =
      s.pad == 0 ? x : gpu::Padded(&g, x, 2, s.image.size(), s.pad);
  const Tensor c = g.Reduce(
      "c", ConstShape(out), terms, Reducer::Sum(kF32),
      [&](const Indices& i, const Indices& r) {
        Expr channel = r[0];
        if (s.groups > 1) {
          channel =
              i[1] / I(s.channels / s.groups) * I(s.in_channels) + channel;
        }
        Indices at = {i[0], channel}, of = {i[1], r[0]};
        for (size_t d = 0; d < s.image.size(); ++d) {
          at.push_back(i[2 + d] * s.stride + r[1 + d] * s.dilation);
          of.push_back(r[1 + d]);
        }
        return from(at) * w(of);
      },
      {{kAnchor, kConv2dNchw}});
  kernel.outputs = {c};
  if (epilogue) {
    const Tensor bias = g.Placeholder("bias", kF32, ConstShape({s.channels}));
    kernel.inputs.push_back(bias);
    kernel.outputs = {g.Compute("d", ConstShape(out), [&](const Indices& i) {
      return tir::Max(c(i) + bias({i[1]}), F(0));
    })};
  }
  return kernel;
}

struct Point {
  int64_t channels, points, width, step, chunks = 1;
};

Schedule Scheduled(const Kernel& kernel, const Point& point) {
  auto schedule = ScheduleKernel(
      kernel.graph, kernel.outputs, {gpu::TemplateNamed("gpu.tile_conv")},
      TestGpu(),
      [&](const ScheduleTemplate&, const ScheduleSite&, ScheduleChoice choice) {
        choice.Set("channels", point.channels);
        choice.Set("points", point.points);
        choice.Set("width", point.width);
        choice.Set("step", point.step);
        choice.Set("chunks", point.chunks);
        return choice;
      });
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  return *std::move(schedule);
}

TEST(TileConv, IsTheConvolution) {
  struct Case {
    Sizes sizes;
    Point point;
    bool epilogue;
  };
  const std::vector<Case> cases = {
      {{1, 32, 8, {8, 16}, {3, 3}, 1, 1, 1}, {1, 4, 16, 4}, true},
      {{2, 20, 3, {9, 11}, {3, 3}, 1, 1, 1}, {2, 2, 8, 2}, false},
      {{1, 16, 5, {13, 17}, {5, 3}, 2, 1, 1}, {1, 4, 8, 8}, true},
      {{1, 17, 4, {10, 10}, {3, 3}, 1, 2, 0}, {2, 1, 4, 1}, false},
      {{2, 40, 6, {7, 7}, {1, 1}}, {4, 2, 8, 4}, true},
      {{1, 8, 3, {33, 40}, {7, 7}, 2, 1, 3}, {1, 8, 32, 2}, false},
      // One dimension, one row, one column, three dimensions.
      {{2, 18, 4, {50}, {5}, 1, 3, 2}, {2, 2, 8, 4}, true},
      {{1, 18, 4, {1, 50}, {1, 3}, 1, 1, 0}, {1, 2, 16, 4}, false},
      {{1, 18, 4, {50, 1}, {3, 1}, 2, 1, 0}, {1, 2, 16, 2}, true},
      {{1, 6, 2, {3, 5, 9}, {2, 2, 3}, 1, 1, 1}, {1, 1, 8, 2}, true},
      // Parts of the channels, which are joined with and without an epilogue.
      {{2, 20, 16, {9, 11}, {3, 3}, 1, 1, 1}, {2, 2, 8, 2, 4}, true},
      {{1, 40, 32, {7, 7}, {3, 3}, 2, 1, 1}, {8, 2, 4, 8, 2}, false},
      {{1, 17, 8, {10, 10}, {3, 3}, 1, 2, 0}, {2, 1, 4, 1, 8}, false},
      // Tiles that stick out on all sides, with and without padding.
      {{1, 150, 4, {20, 20}, {3, 3}, 1, 1, 1}, {8, 8, 16, 4}, true},
      {{2, 70, 3, {21, 19}, {3, 3}, 2, 1, 0}, {4, 2, 8, 4}, false},
  };
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "case " << i);
    const Kernel kernel = Convolution(cases[i].sizes, cases[i].epilogue);
    ExpectSame(kernel, Scheduled(kernel, cases[i].point));
  }
}

TEST(TileConv, SharesAPatchWithItsPadding) {
  const Kernel kernel =
      Convolution({1, 64, 16, {28, 28}, {3, 3}, 1, 1, 1}, true);
  const auto func = Lower("f", kernel.graph, kernel.inputs, kernel.outputs,
                          Scheduled(kernel, {4, 4, 16, 4}));
  ASSERT_TRUE(func.ok()) << func.status();
  const std::string text = tir::Print(*func);
  EXPECT_THAT(text, HasSubstr("alloc %pad.tile: f32[1, 4, 6, 18] shared"));
  EXPECT_THAT(text, HasSubstr("alloc %w.tile: f32[36, 68] shared"));
  EXPECT_THAT(
      text, HasSubstr("alloc %c.acc: f32[1, 16, 1, 16, 1, 4, 4, 1] registers"));
  EXPECT_THAT(text, Not(HasSubstr("workspace(")));
}

// The template that the machine takes.
std::string TemplateFor(const Sizes& sizes, const MachineModel& machine) {
  return gpu::TemplateFor(Convolution(sizes, true), machine);
}

TEST(TileConv, IsForMachinesWithGroupsAndWholeChannels) {
  const Sizes large = {1, 128, 128, {28, 28}, {3, 3}, 1, 1, 1};
  EXPECT_EQ(TemplateFor(large, TestGpu()), "gpu.tile_conv");
  // Taps that do not overlap are the terms of a product.
  EXPECT_EQ(TemplateFor({1, 384, 3, {224, 224}, {16, 16}, 16}, TestGpu()),
            "gpu.tile_product");
  EXPECT_EQ(TemplateFor(large, MachineModel()), "gpu.sums");
  Sizes groups = large;
  groups.groups = 2;
  groups.in_channels = 32;
  EXPECT_EQ(TemplateFor(groups, TestGpu()), "gpu.sums");
  // One sum for each channel.
  EXPECT_EQ(TemplateFor({1, 64, 512, {1, 1}, {1, 1}}, TestGpu()), "gpu.rows");
}

// No tile takes groups: an item makes each element, and looks whether a tap is
// inside of the image.
TEST(TileConv, LeavesGroupsToItemsWithTheirPadding) {
  for (const int64_t channels : {1, 2}) {
    const Kernel kernel = Convolution(
        {2, 6 * channels, channels, {9, 11}, {3, 3}, 2, 1, 1, 6}, true);
    const auto schedule = ScheduleKernel(kernel.graph, kernel.outputs,
                                         gpu::GpuTemplates(), TestGpu());
    ASSERT_TRUE(schedule.ok()) << schedule.status();
    ExpectSame(kernel, *schedule);
    const auto func =
        Lower("f", kernel.graph, kernel.inputs, kernel.outputs, *schedule);
    ASSERT_TRUE(func.ok()) << func.status();
    const std::string text = tir::Print(*func);
    EXPECT_THAT(text, HasSubstr("parallel i0_i1_i2_i3 in [0, "));
    EXPECT_THAT(text, Not(HasSubstr("workspace(")));
  }
}

// Whether a thread's products have conditions.
bool HasGuards(const Kernel& kernel, const Schedule& schedule) {
  const auto func =
      Lower("f", kernel.graph, kernel.inputs, kernel.outputs, schedule);
  EXPECT_TRUE(func.ok()) << func.status();
  const std::string text = tir::Print(*func);
  const size_t products = text.find("for r0i in ");
  EXPECT_NE(products, std::string::npos) << text;
  const size_t end = text.find("%w.tile[", products);
  return text.substr(products, end - products).find("if ") != std::string::npos;
}

// A condition for each number of a thread costs more than threads that have
// nothing to do.
TEST(TileConv, TakesPartsThatDivideTheImage) {
  const Kernel kernel =
      Convolution({1, 64, 64, {7, 7}, {3, 3}, 1, 1, 1}, false);
  EXPECT_TRUE(HasGuards(kernel, Scheduled(kernel, {4, 4, 8, 4})));
  const auto schedule =
      ScheduleKernel(kernel.graph, kernel.outputs,
                     {gpu::TemplateNamed("gpu.tile_conv")}, TestGpu());
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  EXPECT_FALSE(HasGuards(kernel, *schedule));
}

class SharedBytes final : public tir::StmtVisitor {
 public:
  int64_t bytes = 0;

 private:
  void VisitAllocate(const tir::Allocate& node) override {
    if (node.buffer->scope == tir::Scope::kShared) {
      int64_t all = node.buffer->dtype.bytes();
      for (const Expr& dim : node.buffer->shape) {
        int64_t extent = 0;
        EXPECT_TRUE(tir::AsConstInt(dim, &extent));
        all *= extent;
      }
      bytes += all;
    }
    StmtVisitor::VisitAllocate(node);
  }
};

TEST(TileConv, SharesNoMoreThanThereIs) {
  MachineModel machine = TestGpu();
  machine.shared_bytes = 8 << 10;
  const Kernel kernel =
      Convolution({1, 256, 3, {224, 224}, {7, 7}, 2, 1, 3}, false);
  const auto schedule =
      ScheduleKernel(kernel.graph, kernel.outputs,
                     {gpu::TemplateNamed("gpu.tile_conv")}, machine);
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  const auto func =
      Lower("f", kernel.graph, kernel.inputs, kernel.outputs, *schedule);
  ASSERT_TRUE(func.ok()) << func.status();
  SharedBytes shared;
  shared.Visit(func->body);
  EXPECT_GT(shared.bytes, 0);
  EXPECT_LE(shared.bytes, machine.shared_bytes);
}

}  // namespace
}  // namespace ingot::te
