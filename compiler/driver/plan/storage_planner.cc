#include "compiler/driver/plan/storage_planner.h"

#include <algorithm>
#include <numeric>

#include "base/alignment.h"
#include "compiler/tir/arith/simplify.h"

namespace ingot {
namespace {

int64_t AlignUp(int64_t bytes) {
  return (bytes + int64_t{kAlignment} - 1) / int64_t{kAlignment} *
         int64_t{kAlignment};
}

bool Overlap(const StorageRequest& a, const StorageRequest& b) {
  return a.first <= b.last && b.first <= a.last;
}

struct Placed {
  const StorageRequest* request;
  int64_t offset;
  int64_t size;
};

// The lowest offset at which `size` bytes are free during `request`.
int64_t LowestFreeOffset(const StorageRequest& request, int64_t size,
                         const std::vector<Placed>& placed_by_offset) {
  int64_t offset = 0;
  for (const Placed& p : placed_by_offset) {
    if (!Overlap(*p.request, request)) continue;
    if (offset + size <= p.offset) break;
    offset = std::max(offset, p.offset + p.size);
  }
  return offset;
}

}  // namespace

StoragePlan AssignStorage(const std::vector<StorageRequest>& requests) {
  StoragePlan plan;
  plan.assignments.resize(requests.size());

  std::vector<std::pair<int64_t, int>> by_size;  // constant ones
  std::vector<int> symbolic;
  for (int i = 0; i < static_cast<int>(requests.size()); ++i) {
    int64_t bytes;
    if (tir::AsConstInt(requests[i].bytes, &bytes)) {
      by_size.emplace_back(AlignUp(bytes), i);
    } else {
      symbolic.push_back(i);
    }
  }

  if (!by_size.empty()) {
    // The largest first; among equals the one that was asked for first.
    std::sort(by_size.begin(), by_size.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    std::vector<Placed> placed;  // by offset
    int64_t arena = 0;
    for (const auto& [size, i] : by_size) {
      const int64_t offset = LowestFreeOffset(requests[i], size, placed);
      const Placed entry{&requests[i], offset, size};
      placed.insert(std::upper_bound(placed.begin(), placed.end(), entry,
                                     [](const Placed& a, const Placed& b) {
                                       return a.offset < b.offset;
                                     }),
                    entry);
      plan.assignments[i] = {0, offset};
      arena = std::max(arena, offset + size);
    }
    plan.storages.push_back({tir::MakeInt(arena)});
    plan.phases.push_back(0);
  }

  const int first_symbolic = static_cast<int>(plan.storages.size());
  std::vector<std::vector<int>> users(plan.storages.size());
  for (int i : symbolic) {
    int chosen = -1;
    bool chosen_equal = false;
    for (int s = first_symbolic; s < static_cast<int>(plan.storages.size());
         ++s) {
      const bool is_free =
          std::none_of(users[s].begin(), users[s].end(), [&](int u) {
            return requests[u].phase != requests[i].phase ||
                   Overlap(requests[u], requests[i]);
          });
      if (!is_free) continue;
      const bool equal =
          std::any_of(plan.storages[s].begin(), plan.storages[s].end(),
                      [&](const tir::Expr& e) {
                        return tir::ProveEqual(e, requests[i].bytes);
                      });
      if (chosen < 0 || (equal && !chosen_equal)) {
        chosen = s;
        chosen_equal = equal;
      }
    }
    if (chosen < 0) {
      chosen = static_cast<int>(plan.storages.size());
      plan.storages.emplace_back();
      plan.phases.push_back(requests[i].phase);
      users.emplace_back();
    }
    if (!chosen_equal) plan.storages[chosen].push_back(requests[i].bytes);
    users[chosen].push_back(i);
    plan.assignments[i] = {chosen, 0};
  }
  return plan;
}

}  // namespace ingot
