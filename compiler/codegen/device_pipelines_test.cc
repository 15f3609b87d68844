// Which loops of a block may copy ahead.
#include "compiler/codegen/device_pipelines.h"

#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "compiler/codegen/device_kernels.h"
#include "compiler/tir/parser.h"
#include "compiler/tir/verifier.h"
#include "gtest/gtest.h"

namespace ingot::codegen {
namespace {

// Adds 64 rows, one after the other.
constexpr char kRows[] = R"(func @f(%x: f32[64, 16]) -> (%y: f32[16]) {
  block b in [0, 1) {
    alloc %sum: f32[16, 1] registers
    thread t in [0, 16) {
      %sum[t, 0] = 0.0f
    }
    for k in [0, 64) {
      alloc %row: f32[16] shared
      thread t_1 in [0, 16) {
        %row[t_1] = %x[k, t_1]
      }
      thread t_2 in [0, 16) {
        %sum[t_2, 0] = %sum[t_2, 0] + %row[15 - t_2]
      }
    }
    thread t_3 in [0, 16) {
      %y[t_3] = %sum[t_3, 0]
    }
  }
}
)";

// The pipelines of the only block of `text`, by their slots.
std::vector<int64_t> SlotsIn(const std::string& text) {
  const auto func = tir::Parse(text);
  EXPECT_TRUE(func.ok()) << func.status();
  if (!func.ok()) return {};
  const absl::Status verified = tir::Verify(*func);
  EXPECT_TRUE(verified.ok()) << verified;
  const auto kernels = KernelsOf(*func);
  EXPECT_TRUE(kernels.ok()) << kernels.status();
  if (!kernels.ok() || kernels->size() != 1) return {};
  std::vector<int64_t> slots;
  for (const auto& [loop, pipeline] :
       FindPipelines(*(*kernels)[0].loop, kMaxSharedBytes)) {
    EXPECT_EQ(pipeline.copies.size(), 1u);
    EXPECT_EQ(pipeline.rest.size(), 1u);
    EXPECT_EQ(pipeline.buffers.size(), 1u);
    slots.push_back(pipeline.slots);
  }
  return slots;
}

std::string With(const char* from, const char* to) {
  EXPECT_NE(std::string(kRows).find(from), std::string::npos) << from;
  return absl::StrReplaceAll(kRows, {{from, to}});
}

TEST(DevicePipelines, AreLoopsThatBeginWithCopies) {
  EXPECT_EQ(SlotsIn(kRows), std::vector<int64_t>{4});
  // Padding is copied, too.
  EXPECT_EQ(SlotsIn(With("%row[t_1] = %x[k, t_1]",
                         "%row[t_1] = select(t_1 < 9, %x[k, t_1], 0.0f)")),
            std::vector<int64_t>{4});
}

// The place of a step along several dimensions is named first.
TEST(DevicePipelines, MayNameWhatTheyCompute) {
  const std::string named =
      absl::StrReplaceAll(kRows, {{"for k in [0, 64) {",
                                   "for i in [0, 64) {\n      let k: i64 = "
                                   "i // 2 + i % 2 * 32"}});
  EXPECT_EQ(SlotsIn(named), std::vector<int64_t>{4});
}

TEST(DevicePipelines, HaveNoMoreSlotsThanIterationsAndRoom) {
  EXPECT_EQ(SlotsIn(With("[0, 64)", "[0, 3)")), std::vector<int64_t>{3});
  EXPECT_EQ(SlotsIn(With("[0, 64)", "[0, 1)")), std::vector<int64_t>{});
  // 20 of 48 KiB, and 32.
  EXPECT_EQ(SlotsIn(With("%row: f32[16]", "%row: f32[5120]")),
            std::vector<int64_t>{2});
  EXPECT_EQ(SlotsIn(With("%row: f32[16]", "%row: f32[8192]")),
            std::vector<int64_t>{});
}

// Vectors in any slot begin where they may.
TEST(DevicePipelines, BeginSlotsAtMultiplesOf16Bytes) {
  const auto buffer = [](int64_t elements) {
    return tir::MakeBuffer("b", DataType::Float(32), {tir::MakeInt(elements)},
                           tir::Scope::kShared);
  };
  EXPECT_EQ(SlotBytes(*buffer(16)), 64);
  EXPECT_EQ(SlotBytes(*buffer(189)), 768);
}

TEST(DevicePipelines, CopyNothingThatTheLoopOrOthersChange) {
  // From what an iteration computes.
  EXPECT_EQ(SlotsIn(With("= %x[k, t_1]", "= %sum[t_1, 0]")),
            std::vector<int64_t>{});
  // The copy is used after the loop.
  EXPECT_EQ(SlotsIn(absl::StrReplaceAll(
                kRows, {{"      alloc %row: f32[16] shared\n", ""},
                        {"    alloc %sum",
                         "    alloc %row: f32[16] shared\n"
                         "    alloc %sum"},
                        {"= %sum[t_3, 0]", "= %row[t_3]"}})),
            std::vector<int64_t>{});
  // The copy is changed.
  EXPECT_EQ(SlotsIn(With("%sum[t_2, 0] = %sum[t_2, 0] + %row[15 - t_2]",
                         "%row[t_2] = %sum[t_2, 0]")),
            std::vector<int64_t>{});
}

}  // namespace
}  // namespace ingot::codegen
