#include "compiler/schedules/cpu/register_tile.h"

#include <cmath>

#include "gtest/gtest.h"

namespace ingot::te::cpu {
namespace {

MachineModel WithRegisters(int count) {
  MachineModel machine;
  machine.vector_registers = count;
  return machine;
}

// The tiles that libraries of kernels use by hand: 6 x 2 vectors with 16
// registers (AVX2), 24 accumulators and more with 32 (AVX-512, Neon).
TEST(RegisterTile, ProductsUseTheTilesOfLibraries) {
  const RegisterTile avx2 = ProductTile(WithRegisters(16));
  EXPECT_EQ(avx2.rows, 6);
  EXPECT_EQ(avx2.vectors, 2);
  const RegisterTile avx512 = ProductTile(WithRegisters(32));
  EXPECT_EQ(avx512.rows, 6);
  EXPECT_EQ(avx512.vectors, 4);
}

TEST(RegisterTile, TilesFitTheRegisters) {
  for (int registers = 3; registers <= 64; ++registers) {
    const MachineModel machine = WithRegisters(registers);
    EXPECT_TRUE(FitsRegisters(machine, ProductTile(machine))) << registers;
  }
  // Accumulators, two vectors and a broadcast element.
  EXPECT_TRUE(FitsRegisters(WithRegisters(15), {6, 2}));
  EXPECT_TRUE(FillsRegisters(WithRegisters(15), {6, 2}));
  EXPECT_FALSE(FitsRegisters(WithRegisters(14), {6, 2}));
  EXPECT_TRUE(std::isinf(ProductCycles(WithRegisters(14), {6, 2})));
  EXPECT_TRUE(std::isinf(PlaneCycles(WithRegisters(14), 6, 2, {6, 2})));
}

TEST(RegisterTile, StepsWaitForWhatIsSlowest) {
  EXPECT_EQ(StepCycles({1, 1}), 4);   // the latency
  EXPECT_EQ(StepCycles({15, 1}), 8);  // the loads
  EXPECT_EQ(StepCycles({6, 4}), 12);  // the multiplications
}

// 14 elements by 3 vectors in tiles of 4 x 2: the edges are tiles, too.
TEST(RegisterTile, PlanesCountTheirEdges) {
  const double whole = 3 * StepCycles({4, 2}) + StepCycles({2, 2});
  const double edge = 3 * StepCycles({4, 1}) + StepCycles({2, 1});
  EXPECT_DOUBLE_EQ(PlaneCycles(WithRegisters(16), 14, 3, {4, 2}),
                   (whole + edge) * 1.005);
}

}  // namespace
}  // namespace ingot::te::cpu
