// Results that are put together from parts, on processors of several widths,
// against loops without a schedule.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "compiler/machine/test_machine.h"
#include "compiler/schedules/cpu/templates.h"
#include "compiler/schedules/cpu/test_kernels.h"
#include "compiler/schedules/schedule_kernel.h"
#include "compiler/te/lower.h"
#include "compiler/te/testing/check.h"
#include "compiler/tir/printer.h"
#include "gtest/gtest.h"

namespace ingot::te::cpu {
namespace {

using Sizes = std::vector<Expr>;

// Parts of `rows` and these columns side by side, and each element plus one
// where `plus_one`.
Kernel SideBySide(const Expr& rows, const Sizes& columns, bool plus_one) {
  Kernel k;
  Sizes starts = {I(0)};
  for (const Expr& size : columns) {
    k.inputs.push_back(k.graph.Placeholder("x", kF32, {rows, size}));
    starts.push_back(starts.back() + size);
  }
  k.outputs = {k.graph.Compute("y", {rows, starts.back()}, [&](auto& i) {
    const auto part = [&](size_t p) {
      const Expr value = k.inputs[p]({i[0], i[1] - starts[p]});
      return plus_one ? value + F(1) : value;
    };
    Expr value = part(columns.size() - 1);
    for (size_t p = columns.size() - 1; p-- > 0;) {
      value = tir::MakeSelect(tir::Lt(i[1], starts[p + 1]), part(p), value);
    }
    return value;
  })};
  return k;
}

// Returns the loops of the kernel, which is as it should be where symbols have
// these values.
int64_t CheckLoops(const Kernel& kernel, int bits,
                   const std::vector<DimValues>& all_values) {
  const auto schedule =
      ScheduleKernel(kernel.graph, kernel.outputs, CpuTemplates(),
                     TestCpuWithSmallCaches(bits));
  EXPECT_TRUE(schedule.ok()) << schedule.status();
  if (!schedule.ok()) return 0;
  for (const DimValues& values : all_values) {
    ExpectSame(kernel, *schedule, values);
  }
  const auto func =
      Lower("f", kernel.graph, kernel.inputs, kernel.outputs, *schedule);
  EXPECT_TRUE(func.ok()) << func.status();
  if (!func.ok()) return 0;
  int64_t loops = 0;
  for (absl::string_view word : absl::StrSplit(tir::Print(*func), ' ')) {
    loops += word == "in" ? 1 : 0;
  }
  return loops;
}

class PartsTest : public testing::TestWithParam<int> {};

TEST_P(PartsTest, CopiesOfSymbolsAreOneLoopEach) {
  constexpr int kParts = 7;
  Sizes columns;
  std::vector<DimValues> all_values(4);
  for (int64_t p = 0; p < kParts; ++p) {
    const tir::VarPtr n = tir::MakeVar("n");
    columns.push_back(n);
    const std::vector<int64_t> values = {0, 1, p % 3, p * 11};
    for (size_t v = 0; v < values.size(); ++v) {
      all_values[v][n.get()] = values[v];
    }
  }
  EXPECT_EQ(
      CheckLoops(SideBySide(I(1), columns, false), GetParam(), all_values),
      kParts);
  CheckLoops(SideBySide(I(3), columns, false), GetParam(), all_values);
  CheckLoops(SideBySide(I(300), columns, false), GetParam(), {all_values[3]});
  // Arithmetic is done in vectors.
  EXPECT_GT(CheckLoops(SideBySide(I(1), columns, true), GetParam(), all_values),
            kParts);
}

TEST_P(PartsTest, KnownSizes) {
  CheckLoops(SideBySide(I(2), {I(5), I(1), I(40)}, false), GetParam(), {{}});
  CheckLoops(SideBySide(I(2), {I(5), I(1), I(40)}, true), GetParam(), {{}});
}

INSTANTIATE_TEST_SUITE_P(Bits, PartsTest, testing::Values(128, 256, 512));

}  // namespace
}  // namespace ingot::te::cpu
