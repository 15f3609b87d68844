// For tests: processors with vectors of any width, and a device.
#ifndef INGOT_COMPILER_MACHINE_TEST_MACHINE_H_
#define INGOT_COMPILER_MACHINE_TEST_MACHINE_H_

#include "compiler/machine/machine_model.h"

namespace ingot {

// One like those of x86 whose vectors have so many bits.
inline MachineModel TestCpu(int vector_bits) {
  MachineModel cpu;
  cpu.vector_bits = vector_bits;
  cpu.vector_registers = vector_bits == 512 ? 32 : 16;
  cpu.fma = true;
  return cpu;
}

// The same with caches that small problems do not fit in, so that they are
// blocked.
inline MachineModel TestCpuWithSmallCaches(int vector_bits) {
  MachineModel cpu = TestCpu(vector_bits);
  cpu.l1_bytes = 1 << 10;
  cpu.l2_bytes = 4 << 10;
  return cpu;
}

// One that runs groups of threads which share memory.
inline MachineModel TestGpu() {
  MachineModel gpu;
  gpu.group_cores = 64;
  gpu.shared_bytes = 48 << 10;
  return gpu;
}

// The same with units that multiply tiles of 16-bit floats, or of f32 as well.
inline MachineModel TestGpuWithWarpTiles(bool has_tf32 = false) {
  MachineModel gpu = TestGpu();
  gpu.units = {MachineUnit::kWarpTiles};
  if (has_tf32) gpu.units.insert(MachineUnit::kTf32WarpTiles);
  gpu.ahead_bytes = 192 << 10;
  return gpu;
}

// The same with those of four warps.
inline MachineModel TestGpuWithWarpGroupTiles() {
  MachineModel gpu = TestGpuWithWarpTiles();
  gpu.units.insert(MachineUnit::kWarpGroupTiles);
  return gpu;
}

}  // namespace ingot

#endif  // INGOT_COMPILER_MACHINE_TEST_MACHINE_H_
