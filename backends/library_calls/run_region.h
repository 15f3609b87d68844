// The loaders' half: functions that queue a region's calls on CUDA's devices.
#ifndef INGOT_BACKENDS_LIBRARY_CALLS_RUN_REGION_H_
#define INGOT_BACKENDS_LIBRARY_CALLS_RUN_REGION_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/gpu/device.h"
#include "backends/library_calls/region.h"
#include "loaders/function_loader.h"
#include "runtime/device.h"

namespace ingot::library_calls {

// A device that a library works on.
struct CudaDevice {
  OpenDevice on;
  std::shared_ptr<gpu::GpuDevice> gpu;

  // Makes it that of the calling thread. FailedPrecondition for a device that
  // is not CUDA's; `library` is named.
  static absl::StatusOr<CudaDevice> Open(OpenDevice on,
                                         absl::string_view library);
};

// Queues a region's calls on a driver's stream. `values` are the addresses of
// its values by number, then of the workspace, if it has one. May be called
// from several threads at once.
using QueueCalls = std::function<absl::Status(absl::Span<float* const> values,
                                              gpu::Stream stream)>;

// The region's function. Temporaries, and a workspace of so many bytes, are one
// piece of memory for each stream, whose work is done in order.
LoadedFunction RegionFunction(const Region& region, int64_t workspace_bytes,
                              CudaDevice device, QueueCalls queue);

}  // namespace ingot::library_calls

#endif  // INGOT_BACKENDS_LIBRARY_CALLS_RUN_REGION_H_
