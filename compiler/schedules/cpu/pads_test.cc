// Paddings that repeat what is inside: loops that are cut at the borders
// against plain loops written here.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/machine/test_machine.h"
#include "compiler/relay/ir.h"
#include "compiler/relay/op.h"
#include "compiler/schedules/cpu/templates.h"
#include "compiler/schedules/schedule_kernel.h"
#include "compiler/te/testing/check.h"
#include "gtest/gtest.h"
#include "runtime/tensor.h"

namespace ingot::te::cpu {
namespace {

const DataType kF32 = DataType::Float(32);

struct Problem {
  int64_t rows, columns;
  // At the beginnings of both axes, then at their ends.
  std::vector<int64_t> pads;
};

// The element that is repeated at `place`, of one axis of n elements.
int64_t Source(const std::string& mode, int64_t place, int64_t n) {
  if (mode == "edge") return place < 0 ? 0 : place >= n ? n - 1 : place;
  if (mode == "wrap") return ((place % n) + n) % n;
  while (place < 0 || place >= n) {  // reflect
    if (n == 1) return 0;
    place = place < 0 ? -place : 2 * (n - 1) - place;
  }
  return place;
}

Kernel Padded(const Problem& p, const std::string& mode, const Expr& rows,
              const Expr& columns) {
  Kernel k;
  relay::Function function("main");
  const relay::TensorType type{kF32, {rows, columns}};
  const relay::Value x{function.AddInput("x", type)};
  k.inputs = {k.graph.Placeholder("x", kF32, type.shape)};
  const auto node =
      function.AddOp("pad", "y", {x}, {{"pads", p.pads}, {"mode", mode}});
  EXPECT_TRUE(node.ok()) << node.status();
  if (!node.ok()) return k;
  const auto y = (*node)->op->compute(relay::ComputeContext{
      k.graph, k.inputs, (*node)->attrs, (*node)->outputs, "y"});
  EXPECT_TRUE(y.ok()) << y.status();
  if (y.ok()) k.outputs = *y;
  return k;
}

void Check(const Problem& p, const std::string& mode, const Kernel& kernel,
           const DimValues& dims, int bits) {
  SCOPED_TRACE(absl::StrCat(mode, " ", p.rows, " x ", p.columns));
  ASSERT_EQ(kernel.outputs.size(), 1u);
  const auto schedule = ScheduleKernel(kernel.graph, kernel.outputs,
                                       CpuTemplates(), TestCpu(bits));
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  const auto inputs = RandomInputs(kernel, dims, 5);
  for (bool passes : {false, true}) {
    const auto outputs = RunSchedule(kernel, *schedule, inputs, dims, passes);
    ASSERT_EQ(outputs.size(), 1u);
    const int64_t height = p.rows + p.pads[0] + p.pads[2];
    const int64_t width = p.columns + p.pads[1] + p.pads[3];
    ASSERT_EQ(outputs[0].NumElements(), height * width);
    for (int64_t i = 0; i < height; ++i) {
      for (int64_t j = 0; j < width; ++j) {
        const int64_t row = Source(mode, i - p.pads[0], p.rows);
        const int64_t column = Source(mode, j - p.pads[1], p.columns);
        ASSERT_EQ(outputs[0].data<float>()[i * width + j],
                  inputs[0].data<float>()[row * p.columns + column])
            << i << " " << j;
      }
    }
  }
}

TEST(Pads, RepeatWhatIsInside) {
  const std::vector<Problem> problems = {
      {5, 40, {2, 3, 2, 3}},    {5, 40, {0, 3, 1, 0}}, {4, 17, {0, 0, 0, 5}},
      {3, 9, {-1, 2, 2, -3}},   {1, 1, {2, 2, 1, 1}},  {2, 3, {7, 8, 9, 10}},
      {6, 20, {-2, -3, -1, -4}}};
  for (const char* mode : {"edge", "reflect", "wrap"}) {
    for (const Problem& p : problems) {
      const tir::VarPtr n = tir::MakeVar("n"), m = tir::MakeVar("m");
      for (int bits : {0, 128, 256}) {
        Check(p, mode, Padded(p, mode, I(p.rows), I(p.columns)), {}, bits);
        Check(p, mode, Padded(p, mode, n, m),
              {{n.get(), p.rows}, {m.get(), p.columns}}, bits);
      }
    }
  }
}

}  // namespace
}  // namespace ingot::te::cpu
