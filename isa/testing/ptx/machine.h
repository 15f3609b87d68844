// Runs kernels in PTX on this process's memory, as a GPU's threads do. For
// tests of machines without one.
//
// The 32 threads of a warp take each instruction together; where they part,
// those at the smallest address go first, so that they meet again. Warps of
// a block run one after the other from barrier to barrier, and blocks one
// after the other, the last one first. Addresses of global memory are those
// of the process, and have to lie in the ranges that the caller names.
// Shared and local memory and registers are 0xff at first, which are NaNs:
// who reads what was not written sees them. The destination of cp.async is 0xff
// until the thread waits, and that of a bulk copy until all warps wait. A
// kernel fails where one thread reads what another writes, or two write
// different values, and no barrier orders the two, or what a bulk copy
// writes for which it has not waited; where warps wait at different
// barriers; and where it has an instruction that its target or its version
// of PTX has not. Warps that try to wait for an mbarrier in vain let the
// others go on; where that does not help, the kernel fails.
//
// Source of the semantics: NVIDIA's Parallel Thread Execution ISA.
#ifndef INGOT_ISA_TESTING_PTX_MACHINE_H_
#define INGOT_ISA_TESTING_PTX_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "isa/testing/ptx/module.h"

namespace ingot::isa::ptx {

// Memory that kernels may use.
struct Range {
  uint8_t* begin = nullptr;
  size_t bytes = 0;
};

struct Launch {
  uint32_t grid = 1;          // blocks
  uint32_t block = 1;         // threads of each
  uint32_t shared_bytes = 0;  // that each has besides the kernel's arrays
  // For each parameter the address of its value, read before Run returns.
  const void* const* parameters = nullptr;
  std::vector<Range> memory;
};

// Runs a kernel of the module to its end. Thread-safe where no other thread
// uses the memory.
Failure Run(const Module& module, const Kernel& kernel, const Launch& launch);

}  // namespace ingot::isa::ptx

#endif  // INGOT_ISA_TESTING_PTX_MACHINE_H_
