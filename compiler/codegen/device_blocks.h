// Blocks of threads as the work items of a group see them. Private to this
// folder.
#ifndef INGOT_COMPILER_CODEGEN_DEVICE_BLOCKS_H_
#define INGOT_COMPILER_CODEGEN_DEVICE_BLOCKS_H_

#include <cstdint>
#include <set>

#include "compiler/tir/ir.h"

namespace ingot::codegen {

// Fields as DeviceKernel has them.
struct BlockOfItems {
  tir::Stmt loop;
  int64_t items = 1;
  std::set<const tir::For*> barriers;  // in `loop`
};

BlockOfItems SplitBlock(const tir::For& block);

}  // namespace ingot::codegen

#endif  // INGOT_COMPILER_CODEGEN_DEVICE_BLOCKS_H_
