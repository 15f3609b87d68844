#include "backends/library_calls/run_region.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/status_macros.h"
#include "runtime/device_stream.h"

namespace ingot::library_calls {
namespace {

// Device memory for some pieces of so many elements.
class Temporaries {
 public:
  Temporaries(CudaDevice device, const std::vector<int64_t>& elements)
      : device_(std::move(device)) {
    for (const int64_t count : elements) {
      places_.push_back(total_);
      constexpr int64_t kAligned = 64;
      total_ += (count + kAligned - 1) / kAligned * kAligned;
    }
  }
  ~Temporaries() {
    for (const auto& [stream, memory] : memory_) {
      device_.on.api->Free(device_.on.device, memory);
    }
  }
  Temporaries(const Temporaries&) = delete;
  Temporaries& operator=(const Temporaries&) = delete;

  // Adds the addresses for work of the current stream.
  absl::Status AddTo(std::vector<float*>* values) {
    if (places_.empty()) return absl::OkStatus();
    const absl::MutexLock lock(&mutex_);
    void*& memory = memory_[DeviceStream::Current()];
    if (memory == nullptr) {
      INGOT_ASSIGN_OR_RETURN(
          memory, device_.on.api->Allocate(
                      device_.on.device,
                      static_cast<size_t>(total_) * sizeof(float), 256));
    }
    for (const int64_t place : places_) {
      values->push_back(static_cast<float*>(memory) + place);
    }
    return absl::OkStatus();
  }

 private:
  const CudaDevice device_;
  std::vector<int64_t> places_;
  int64_t total_ = 0;
  absl::Mutex mutex_;
  std::map<const DeviceStream*, void*> memory_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

absl::StatusOr<CudaDevice> CudaDevice::Open(OpenDevice on,
                                            absl::string_view library) {
  CudaDevice device{std::move(on), nullptr};
  device.gpu = std::dynamic_pointer_cast<gpu::GpuDevice>(device.on.api);
  if (device.gpu == nullptr || device.gpu->family() != gpu::kCuda.name) {
    return absl::FailedPreconditionError(
        absl::StrCat(library, " is to run on ", device.on.device.ToString()));
  }
  INGOT_RETURN_IF_ERROR(device.gpu->Use());
  return device;
}

LoadedFunction RegionFunction(const Region& region, int64_t workspace_bytes,
                              CudaDevice device, QueueCalls queue) {
  std::vector<int64_t> elements = region.temporaries;
  if (workspace_bytes > 0) {
    constexpr int64_t kBytes = sizeof(float);
    elements.push_back((workspace_bytes + kBytes - 1) / kBytes);
  }
  auto temporaries = std::make_shared<Temporaries>(device, elements);
  const auto run = [gpu = device.gpu, temporaries, queue = std::move(queue),
                    work = absl::StrCat("function ", region.name)](
                       absl::Span<void* const> tensors) -> absl::Status {
    std::vector<float*> values;
    for (void* tensor : tensors) values.push_back(static_cast<float*>(tensor));
    INGOT_RETURN_IF_ERROR(temporaries->AddTo(&values));
    return gpu->Queue(
        work, [&](gpu::Stream stream) { return queue(values, stream); });
  };
  return CheckedFunction(region.name, region.spec, run, device.on.device);
}

}  // namespace ingot::library_calls
