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

absl::StatusOr<std::shared_ptr<void>> Allocate(uint64_t bytes) {
  constexpr size_t kLargePage = size_t{2} << 20;
  const bool large = bytes >= 2 * kLargePage;
  const std::shared_ptr<DeviceApi> cpu = CpuDeviceApi();
  INGOT_ASSIGN_OR_RETURN(
      void* memory,
      cpu->Allocate(Device::Cpu(), bytes, large ? kLargePage : kAlignment));
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  // Only a hint: a system that cannot follow it loses nothing.
  if (large) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  return std::shared_ptr<void>(memory,
                               [cpu](void* p) { cpu->Free(Device::Cpu(), p); });
}

}  // namespace

absl::Status Arena::Reserve(uint64_t bytes) {
  if (Fits(bytes)) return absl::OkStatus();
  // The old memory goes first, unless a view holds it.
  memory_ = nullptr;
  bytes_ = 0;
  INGOT_ASSIGN_OR_RETURN(std::shared_ptr<void> memory, Allocate(bytes));
  memory_ = std::move(memory);
  bytes_ = bytes;
  return absl::OkStatus();
}

}  // namespace ingot
