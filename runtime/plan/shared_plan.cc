#include "runtime/plan/shared_plan.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "google/protobuf/arena.h"

namespace ingot {

SharedPlan SharePlan(Plan plan) {
  return std::make_shared<const Plan>(std::move(plan));
}

absl::StatusOr<SharedPlan> ReadPlan(absl::string_view bytes) {
  // Protobuf itself refuses more than 2 GiB, and nests no deeper than 100.
  const auto no_plan = [] {
    return absl::InvalidArgumentError("these bytes are no plan");
  };
  if (bytes.size() > (size_t{1} << 30)) return no_plan();
  // Messages in memory are some ten times as large as in a file.
  google::protobuf::ArenaOptions blocks;
  blocks.start_block_size =
      std::clamp<size_t>(8 * bytes.size(), 1 << 10, 1 << 20);
  blocks.max_block_size = 1 << 20;
  auto arena = std::make_shared<google::protobuf::Arena>(blocks);
  Plan* plan = google::protobuf::Arena::CreateMessage<Plan>(arena.get());
  if (!plan->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return no_plan();
  }
  return SharedPlan(std::move(arena), plan);
}

}  // namespace ingot
