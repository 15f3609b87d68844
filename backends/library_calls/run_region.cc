#include "backends/library_calls/run_region.h"

#include <forward_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/status_macros.h"

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
    for (const OfStream& one : memory_) {
      device_.on.api->Free(device_.on.device, one.memory);
    }
  }
  Temporaries(const Temporaries&) = delete;
  Temporaries& operator=(const Temporaries&) = delete;

  // Adds the addresses for work of a stream.
  absl::Status AddTo(const gpu::GpuStream& stream,
                     std::vector<float*>* values) {
    if (places_.empty()) return absl::OkStatus();
    INGOT_ASSIGN_OR_RETURN(void* const memory, MemoryOf(stream));
    for (const int64_t place : places_) {
      values->push_back(static_cast<float*>(memory) + place);
    }
    return absl::OkStatus();
  }

 private:
  struct OfStream {
    std::weak_ptr<const absl::Mutex> stream;  // as its turn
    void* memory;
  };

  // A new stream gets the memory of one that is gone, which has waited for its
  // work.
  absl::StatusOr<void*> MemoryOf(const gpu::GpuStream& stream) {
    const absl::MutexLock lock(&mutex_);
    OfStream* free = nullptr;
    for (OfStream& one : memory_) {
      const std::shared_ptr<const absl::Mutex> owner = one.stream.lock();
      if (owner == stream.turn()) return one.memory;
      if (owner == nullptr) free = &one;
    }
    if (free == nullptr) {
      INGOT_ASSIGN_OR_RETURN(
          void* const memory,
          device_.on.api->Allocate(device_.on.device,
                                   static_cast<size_t>(total_) * sizeof(float),
                                   256));
      memory_.push_front({{}, memory});
      free = &memory_.front();
    }
    free->stream = stream.turn();
    return free->memory;
  }

  const CudaDevice device_;
  std::vector<int64_t> places_;
  int64_t total_ = 0;
  absl::Mutex mutex_;
  std::forward_list<OfStream> memory_ ABSL_GUARDED_BY(mutex_);
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
    gpu::GpuStream& on = gpu->CurrentStream();
    const absl::MutexLock lock(on.turn().get());
    INGOT_RETURN_IF_ERROR(temporaries->AddTo(on, &values));
    return on.Queue(work,
                    [&](gpu::Stream stream) { return queue(values, stream); });
  };
  return CheckedFunction(region.name, region.spec, run, device.on.device);
}

}  // namespace ingot::library_calls
