// The device's one instruction.
#ifndef INGOT_BACKENDS_EXAMPLE_NPU_EXECUTE_H_
#define INGOT_BACKENDS_EXAMPLE_NPU_EXECUTE_H_

#include <array>
#include <cstdint>

#include "backends/example_npu/stream.h"

namespace ingot::example_npu {

// The elements of an operand in the simulator's memory; those of one that is
// left out are zeros.
struct Elements {
  char* data = nullptr;
  uint64_t bytes = 0;
};

// Runs a command that ReadStream has checked on operands as large as it says.
void Execute(const Command& command,
             const std::array<Elements, kNumOperands>& operands);

}  // namespace ingot::example_npu

#endif  // INGOT_BACKENDS_EXAMPLE_NPU_EXECUTE_H_
