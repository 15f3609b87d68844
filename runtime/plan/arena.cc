#include "runtime/plan/arena.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <cstddef>

#include "absl/status/statusor.h"
#include "base/alignment.h"
#include "base/status_macros.h"
#include "runtime/device.h"

namespace ingot {
namespace {

absl::StatusOr<std::shared_ptr<void>> Allocate(const OpenDevice& on,
                                               uint64_t bytes) {
  constexpr size_t kLargePage = size_t{2} << 20;
  const bool large = on.device.is_cpu() && bytes >= 2 * kLargePage;
  INGOT_ASSIGN_OR_RETURN(
      void* memory,
      on.api->Allocate(on.device, bytes, large ? kLargePage : kAlignment));
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  // Only a hint: a system that cannot follow it loses nothing.
  if (large) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  return std::shared_ptr<void>(memory,
                               [on](void* p) { on.api->Free(on.device, p); });
}

}  // namespace

absl::Status Arena::Reserve(uint64_t bytes) {
  if (Fits(bytes)) return absl::OkStatus();
  // The old memory goes first, unless a view holds it.
  memory_ = nullptr;
  bytes_ = 0;
  INGOT_ASSIGN_OR_RETURN(std::shared_ptr<void> memory,
                         Allocate(device_, bytes));
  memory_ = std::move(memory);
  bytes_ = bytes;
  return absl::OkStatus();
}

}  // namespace ingot
