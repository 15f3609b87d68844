// Products with matrices of few bits by tiles, in every point of the template's
// space, against plain loops of the operator's other form, which unpacks
// numbers in registers: the same bits. (How a processor runs such loops is
// backends/llvm/few_bits_tiles_test.cc's.)
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/relay/few_bits.h"
#include "compiler/relay/ir.h"
#include "compiler/relay/op.h"
#include "compiler/schedules/choose.h"
#include "compiler/schedules/cpu/templates.h"
#include "compiler/schedules/schedule_kernel.h"
#include "compiler/te/testing/check.h"
#include "gtest/gtest.h"
#include "runtime/tensor.h"

namespace ingot::te::cpu {
namespace {

const DataType kF32 = DataType::Float(32), kI32 = DataType::Int(32);
constexpr char kTemplate[] = "cpu.few_bits_tiles";

MachineModel WithTiles(int vector_bits) {
  MachineModel machine;
  machine.vector_bits = vector_bits;
  machine.vector_registers = 32;
  // Small, so that small sizes are blocked.
  machine.l2_bytes = 8 << 10;
  machine.units = {MachineUnit::kInt8Tiles, MachineUnit::kInt8Dot};
  return machine;
}

struct Problem {
  std::vector<int64_t> rows;  // the data's dimensions but the last
  int64_t units;
  relay::FewBitsWords form;
  bool has_zeros = false;
  bool symbolic = false;  // the first dimension

  std::string Name() const {
    return absl::StrCat(rows.front(), "x", rows.back(), " rows, ", units,
                        " columns, ", form.bits, " bits, ", form.blocks,
                        " blocks of ", form.block());
  }
};

// The shapes of the operator's operands.
std::vector<relay::TensorType> TypesOf(const Problem& p) {
  const int64_t panels = (p.units - 1) / p.form.columns + 1;
  const auto of_data = [&](DataType type, int64_t last) {
    std::vector<int64_t> shape = p.rows;
    shape.push_back(last);
    return relay::TensorType{type, relay::MakeShape(shape)};
  };
  const relay::TensorType of_columns{
      kF32, relay::MakeShape({panels, p.form.blocks, p.form.columns})};
  std::vector<relay::TensorType> types = {
      of_data(DataType::UInt(8), p.form.depth()),
      of_data(kF32, p.form.groups()),
      of_data(kI32, p.form.groups()),
      {kI32,
       relay::MakeShape({panels, p.form.blocks, p.form.words, p.form.columns})},
      of_columns};
  if (p.has_zeros) types.push_back(of_columns);
  return types;
}

std::vector<ingot::Tensor> MakeOperands(const Problem& p) {
  std::mt19937 random(7);
  std::vector<ingot::Tensor> operands;
  for (const relay::TensorType& type : TypesOf(p)) {
    ingot::Tensor t =
        *ingot::Tensor::Empty(type.dtype, *relay::ConstShape(type.shape));
    const bool is_words = operands.size() == 3;
    for (int64_t i = 0; i < t.NumElements(); ++i) {
      const uint32_t number = random();
      if (type.dtype == kF32) {
        t.mutable_data<float>()[i] = static_cast<float>(number % 2001) / 1000;
      } else if (type.dtype == kI32) {
        t.mutable_data<int32_t>()[i] =
            is_words ? static_cast<int32_t>(number)
                     : static_cast<int32_t>(number % 8001) - 4000;
      } else {
        t.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(number);
      }
    }
    operands.push_back(std::move(t));
  }
  return operands;
}

// The product, and something that is added to it.
void Define(const Problem& p, int64_t tile_rows, const tir::VarPtr& rows,
            Kernel* kernel) {
  relay::Function function("main");
  std::vector<relay::Value> values;
  for (relay::TensorType& type : TypesOf(p)) {
    if (p.symbolic && values.size() < 3) type.shape[0] = rows;
    const std::string name = absl::StrCat("x", values.size());
    values.push_back(relay::Value{function.AddInput(name, type)});
    kernel->inputs.push_back(
        kernel->graph.Placeholder(name, type.dtype, type.shape));
  }
  const auto node = function.AddOp(
      "dense_bits_packed", "y", values,
      {{"bits", p.form.bits}, {"units", p.units}, {"tile_rows", tile_rows}});
  ASSERT_TRUE(node.ok()) << node.status();
  const auto product = (*node)->op->compute(relay::ComputeContext{
      kernel->graph, kernel->inputs, (*node)->attrs, (*node)->outputs, "y"});
  ASSERT_TRUE(product.ok()) << product.status();
  kernel->outputs = {kernel->graph.Compute(
      "added", (*node)->outputs[0].shape, [&](const Indices& i) {
        return (*product)[0](i) + tir::MakeConst(kF32, 0.5);
      })};
}

// Runs the product by tiles at a point of the template's space. Returns all
// points.
std::vector<ScheduleChoice> Check(const Problem& p, int vector_bits,
                                  const ScheduleChoice* point) {
  SCOPED_TRACE(p.Name());
  const tir::VarPtr rows = tir::MakeVar("m");
  Kernel direct, tiles;
  Define(p, 0, rows, &direct);
  Define(p, 16, rows, &tiles);
  const DimValues dims = {{rows.get(), p.rows[0]}};
  std::vector<ScheduleChoice> points;
  const auto plain = Schedule::Create(direct.graph, direct.outputs);
  const auto schedule = ScheduleKernel(
      tiles.graph, tiles.outputs, CpuTemplates(), WithTiles(vector_bits),
      [&](const ScheduleTemplate& t, const ScheduleSite& site,
          const ScheduleChoice& cheapest) {
        if (t.name != kTemplate) return cheapest;
        points = AllPoints(t, site);
        return point != nullptr ? *point : cheapest;
      });
  EXPECT_TRUE(plain.ok() && schedule.ok()) << schedule.status();
  if (!plain.ok() || !schedule.ok()) return {};
  const std::vector<ingot::Tensor> operands = MakeOperands(p);
  const auto want = RunSchedule(direct, *plain, operands, dims, false);
  const auto got = RunSchedule(tiles, *schedule, operands, dims, true);
  EXPECT_EQ(want.size(), 1u);
  EXPECT_EQ(got.size(), 1u);
  if (want.size() == 1 && got.size() == 1) {
    EXPECT_TRUE(want[0].values<float>() == got[0].values<float>());
  }
  return points;
}

void CheckAllPoints(const Problem& p, int vector_bits = 512) {
  const std::vector<ScheduleChoice> points = Check(p, vector_bits, nullptr);
  ASSERT_GT(points.size(), 1u) << "another template schedules " << p.Name();
  for (const ScheduleChoice& point : points) {
    SCOPED_TRACE(point.ToString());
    Check(p, vector_bits, &point);
  }
}

TEST(FewBitsTiles, ComputesWhatUnpackingInRegistersDoes) {
  // Bits, blocks, words of a block, columns of a panel.
  CheckAllPoints({{64}, 32, {4, 3, 4, 16}});
  CheckAllPoints({{33}, 41, {4, 2, 16, 16}, true});
  CheckAllPoints({{17}, 16, {2, 4, 1, 16}});
  CheckAllPoints({{31}, 20, {2, 2, 4, 16}, true});
  CheckAllPoints({{16}, 33, {8, 2, 8, 16}});
  CheckAllPoints({{20}, 17, {8, 1, 32, 16}, true});
  CheckAllPoints({{19}, 24, {4, 5, 2, 16}});
  CheckAllPoints({{90}, 18, {4, 2, 4, 16}, true});
}

TEST(FewBitsTiles, TakesVectorsOfHalfATile) {
  CheckAllPoints({{33}, 41, {4, 3, 4, 16}, true}, 256);
}

TEST(FewBitsTiles, TakesRowsInSeveralDimensions) {
  CheckAllPoints({{2, 19}, 20, {4, 2, 4, 16}, true});
  CheckAllPoints({{18, 1}, 20, {4, 2, 4, 16}});
}

TEST(FewBitsTiles, TakesAnyNumberOfRows) {
  for (const int64_t m : {1, 3, 15, 16, 17, 33, 64}) {
    CheckAllPoints({{m}, 24, {4, 2, 4, 16}, m % 2 == 0, true});
    CheckAllPoints({{m, 1}, 24, {4, 2, 8, 16}, m % 2 == 1, true});
  }
}

// Numbers of a panel of more columns than a processor's stack has room for are
// unpacked for each tile.
TEST(FewBitsTiles, UnpacksDeepPanelsTileByTile) {
  const std::vector<ScheduleChoice> points =
      Check({{16}, 16, {8, 512, 8, 16}}, 512, nullptr);
  EXPECT_EQ(points.size(), 3u);  // bytes need no unpacking
  for (const ScheduleChoice& point :
       Check({{16}, 16, {4, 512, 4, 16}}, 512, nullptr)) {
    EXPECT_EQ(point.Get("unpack"), 1) << point.ToString();
  }
}

// Other machines take the form's loops as they are.
TEST(FewBitsTiles, IsForGroupsThatATileHolds) {
  EXPECT_TRUE(Check({{16}, 16, {8, 3, 1, 16}}, 512, nullptr).empty());
  EXPECT_TRUE(Check({{16}, 16, {4, 3, 4, 8}}, 512, nullptr).empty());
  EXPECT_FALSE(Check({{16}, 16, {4, 3, 4, 16}}, 512, nullptr).empty());
  // So few rows are not unpacked first.
  EXPECT_TRUE(Check({{15}, 16, {4, 3, 4, 16}}, 512, nullptr).empty());
  EXPECT_TRUE(Check({{5, 4}, 16, {4, 3, 4, 16}}, 512, nullptr).empty());
}

}  // namespace
}  // namespace ingot::te::cpu
