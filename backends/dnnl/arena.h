// An arena holds buffers with known life times in one piece of memory.
#ifndef INGOT_BACKENDS_DNNL_ARENA_H_
#define INGOT_BACKENDS_DNNL_ARENA_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"

namespace ingot::dnnl_backend {

// A buffer that is used from step `first` to step `last`, both included.
struct Interval {
  size_t bytes = 0;
  int first = 0;
  int last = 0;
};

struct ArenaPlan {
  std::vector<size_t> offsets;  // one for each interval
  size_t bytes = 0;             // of the arena
};

// Gives each interval a place such that no two that live at one time overlap.
// Large ones choose first, each the lowest gap that it fits into.
ArenaPlan PlanArena(const std::vector<Interval>& intervals);

// Memory of that size, aligned, all zeros. ResourceExhausted when there is
// none.
absl::StatusOr<std::shared_ptr<char>> AllocateArena(size_t bytes);

}  // namespace ingot::dnnl_backend

#endif  // INGOT_BACKENDS_DNNL_ARENA_H_
