// The planner chooses where intermediate tensors live: tensors whose life times
// do not overlap share memory.

#ifndef INGOT_COMPILER_DRIVER_PLAN_STORAGE_PLANNER_H_
#define INGOT_COMPILER_DRIVER_PLAN_STORAGE_PLANNER_H_

#include <cstdint>
#include <vector>

#include "compiler/tir/ir.h"

namespace ingot {

// A piece of memory that is needed from call `first` to call `last`, both
// included.
struct StorageRequest {
  tir::Expr bytes;
  int first = 0;
  int last = 0;
  // The first phase of the plan in which its size is known.
  int phase = 0;
};

struct StorageAssignment {
  int storage = 0;
  int64_t offset = 0;  // bytes, a multiple of kAlignment
};

struct StoragePlan {
  std::vector<StorageAssignment> assignments;  // parallel to the requests
  // Sizes; a storage's size is the largest of its list.
  std::vector<std::vector<tir::Expr>> storages;
  std::vector<int> phases;  // parallel to storages: when their sizes are known
};

// Requests of constant size are packed into one storage by offset, the largest
// first, each at the lowest place that is free during its whole life (greedy by
// size, as in Pisarchyk and Lee, "Efficient Memory Management for Deep Neural
// Net Inference", 2020). A request of symbolic size gets a storage that it
// shares with others of its phase whose lives do not overlap its own; storages
// with a provably equal size come first.
StoragePlan AssignStorage(const std::vector<StorageRequest>& requests);

}  // namespace ingot

#endif  // INGOT_COMPILER_DRIVER_PLAN_STORAGE_PLANNER_H_
