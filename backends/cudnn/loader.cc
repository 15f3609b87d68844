#include "backends/cudnn/loader.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "backends/cudnn/convolve.h"
#include "backends/cudnn/library.h"
#include "backends/cudnn/name.h"
#include "backends/cudnn/region.h"
#include "backends/library_calls/run_region.h"
#include "base/status_macros.h"
#include "loaders/function_loader.h"

namespace ingot {
namespace {

// The library on one device.
class Engine {
 public:
  static absl::StatusOr<std::shared_ptr<Engine>> Open(OpenDevice on) {
    INGOT_ASSIGN_OR_RETURN(
        library_calls::CudaDevice device,
        library_calls::CudaDevice::Open(std::move(on), "cuDNN"));
    INGOT_ASSIGN_OR_RETURN(const cudnn::Library* library,
                           cudnn::Library::Open());
    INGOT_ASSIGN_OR_RETURN(const gpu::InUse in_use, device.gpu->Use());
    std::shared_ptr<Engine> engine(new Engine(*library, std::move(device)));
    INGOT_RETURN_IF_ERROR(
        library->ToStatus("starting cuDNN", library->Create(&engine->handle_)));
    return engine;
  }
  ~Engine() {
    if (handle_ == nullptr) return;
    const auto in_use = device_.gpu->Use();
    if (in_use.ok()) library_.Destroy(handle_);
  }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const library_calls::CudaDevice& device() const { return device_; }

  absl::StatusOr<std::unique_ptr<cudnn::Convolve>> Prepare(
      const cudnn::Convolution& convolution) const {
    INGOT_ASSIGN_OR_RETURN(const gpu::InUse in_use, device_.gpu->Use());
    return cudnn::Convolve::Make(library_, handle_, convolution);
  }

  // Calls `queue` while the handle queues on this stream: it has one at a time.
  template <typename Queue>
  absl::Status OnStream(gpu::Stream stream, const Queue& queue) {
    const absl::MutexLock lock(&mutex_);
    INGOT_RETURN_IF_ERROR(library_.ToStatus(
        "choosing a stream", library_.SetStream(handle_, stream)));
    return queue();
  }

 private:
  Engine(const cudnn::Library& library, library_calls::CudaDevice device)
      : library_(library), device_(std::move(device)) {}

  const cudnn::Library& library_;
  const library_calls::CudaDevice device_;
  cudnn::Handle handle_ = nullptr;
  absl::Mutex mutex_;
};

// A region's convolutions, which need the engine.
struct PreparedRegion {
  std::shared_ptr<Engine> engine;
  std::vector<cudnn::Convolution> convolutions;
  std::vector<std::unique_ptr<cudnn::Convolve>> prepared;
  bool has_workspace = false;

  absl::Status Queue(absl::Span<float* const> values, gpu::Stream stream) {
    const auto at = [&](int64_t value) {
      return value < 0 ? nullptr : values[value];
    };
    void* const workspace = has_workspace ? values.back() : nullptr;
    return engine->OnStream(stream, [&]() -> absl::Status {
      for (size_t i = 0; i < prepared.size(); ++i) {
        const cudnn::Convolution& c = convolutions[i];
        INGOT_RETURN_IF_ERROR(
            prepared[i]->Run({at(c.data.value), at(c.kernel.value), at(c.bias),
                              at(c.added), at(c.result.value)},
                             workspace));
      }
      return absl::OkStatus();
    });
  }
};

absl::StatusOr<LoadedFunction> LoadRegion(
    const Artifact& artifact, const std::shared_ptr<Engine>& engine) {
  INGOT_ASSIGN_OR_RETURN(const cudnn::Region region,
                         cudnn::ReadRegion(artifact.content.view()));
  auto prepared = std::make_shared<PreparedRegion>();
  prepared->engine = engine;
  prepared->convolutions = region.convolutions;
  size_t workspace_bytes = 0;
  for (const cudnn::Convolution& convolution : region.convolutions) {
    INGOT_ASSIGN_OR_RETURN(prepared->prepared.emplace_back(),
                           engine->Prepare(convolution));
    workspace_bytes =
        std::max(workspace_bytes, prepared->prepared.back()->workspace_bytes());
  }
  prepared->has_workspace = workspace_bytes > 0;
  return library_calls::RegionFunction(
      region, static_cast<int64_t>(workspace_bytes), engine->device(),
      [prepared](absl::Span<float* const> values, gpu::Stream stream) {
        return prepared->Queue(values, stream);
      });
}

absl::StatusOr<std::shared_ptr<Module>> LoadRegions(
    absl::Span<const Artifact> group, LoadContext& context) {
  if (group.empty()) return std::shared_ptr<Module>();
  INGOT_ASSIGN_OR_RETURN(const std::shared_ptr<Engine> engine,
                         Engine::Open(context.DeviceOf(group[0].target_key)));
  return LoadFunctions(cudnn::kName, group, context,
                       [&](const Artifact& artifact, LoadContext&) {
                         return LoadRegion(artifact, engine);
                       });
}

}  // namespace

absl::Status RegisterCudnnLoader(LoaderRegistry* registry) {
  return registry->Register(cudnn::kName, LoadRegions);
}

}  // namespace ingot
