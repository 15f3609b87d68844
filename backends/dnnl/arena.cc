#include "backends/dnnl/arena.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "base/alignment.h"

namespace ingot::dnnl_backend {

ArenaPlan PlanArena(const std::vector<Interval>& intervals) {
  ArenaPlan plan;
  plan.offsets.assign(intervals.size(), 0);
  std::vector<size_t> order(intervals.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (intervals[a].bytes == intervals[b].bytes) return a < b;
    return intervals[a].bytes > intervals[b].bytes;
  });
  std::vector<size_t> placed;  // by offset
  for (size_t i : order) {
    const Interval& interval = intervals[i];
    const size_t bytes = AlignUp(interval.bytes);
    size_t offset = 0;
    for (size_t j : placed) {
      const Interval& other = intervals[j];
      if (other.last < interval.first || interval.last < other.first) continue;
      if (offset + bytes <= plan.offsets[j]) break;
      offset = std::max(offset, plan.offsets[j] + AlignUp(other.bytes));
    }
    plan.offsets[i] = offset;
    plan.bytes = std::max(plan.bytes, offset + bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), i,
                                   [&](size_t a, size_t b) {
                                     return plan.offsets[a] < plan.offsets[b];
                                   }),
                  i);
  }
  return plan;
}

absl::StatusOr<std::shared_ptr<char>> AllocateArena(size_t bytes) {
  const size_t size = std::max(AlignUp(bytes), kAlignment);
  char* data = static_cast<char*>(std::aligned_alloc(kAlignment, size));
  if (data == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for ", size, " bytes between operators"));
  }
  std::memset(data, 0, size);
  return std::shared_ptr<char>(data, &std::free);
}

}  // namespace ingot::dnnl_backend
