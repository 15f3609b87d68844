#include "backends/cublas/loader.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "backends/cublas/library.h"
#include "backends/cublas/matmul.h"
#include "backends/cublas/name.h"
#include "backends/cublas/region.h"
#include "backends/gpu/device.h"
#include "base/status_macros.h"
#include "loaders/function_loader.h"
#include "runtime/device_stream.h"

namespace ingot {
namespace {

using cublas::Region;

// The library on one device. Its handle may be used from several threads.
class Engine {
 public:
  static absl::StatusOr<std::shared_ptr<Engine>> Open(OpenDevice on) {
    auto device = std::dynamic_pointer_cast<gpu::GpuDevice>(on.api);
    if (device == nullptr || device->family() != gpu::kCuda.name) {
      return absl::FailedPreconditionError(absl::StrCat(
          "products by cuBLAS are to run on ", on.device.ToString()));
    }
    INGOT_ASSIGN_OR_RETURN(const cublas::Library* library,
                           cublas::Library::Open());
    INGOT_RETURN_IF_ERROR(device->Use());
    std::shared_ptr<Engine> engine(
        new Engine(*library, std::move(on), std::move(device)));
    INGOT_RETURN_IF_ERROR(
        cublas::ToStatus("starting cuBLAS", library->Create(&engine->handle_)));
    return engine;
  }
  ~Engine() {
    if (handle_ != nullptr && gpu_->Use().ok()) library_.Destroy(handle_);
  }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const cublas::Library& library() const { return library_; }
  cublas::Handle handle() const { return handle_; }
  const OpenDevice& on() const { return on_; }
  gpu::GpuDevice& gpu() const { return *gpu_; }

 private:
  Engine(const cublas::Library& library, OpenDevice on,
         std::shared_ptr<gpu::GpuDevice> gpu)
      : library_(library), on_(std::move(on)), gpu_(std::move(gpu)) {}

  const cublas::Library& library_;
  const OpenDevice on_;
  const std::shared_ptr<gpu::GpuDevice> gpu_;
  cublas::Handle handle_ = nullptr;
};

// Memory of the device for a region's temporaries: one piece for each stream,
// whose work is done in order.
class Temporaries {
 public:
  Temporaries(std::shared_ptr<Engine> engine,
              const std::vector<int64_t>& elements)
      : engine_(std::move(engine)) {
    for (const int64_t count : elements) {
      places_.push_back(total_);
      constexpr int64_t kAligned = 64;
      total_ += (count + kAligned - 1) / kAligned * kAligned;
    }
  }
  ~Temporaries() {
    for (const auto& [stream, memory] : memory_) {
      engine_->on().api->Free(engine_->on().device, memory);
    }
  }

  // Adds the addresses for work of the current stream.
  absl::Status AddTo(std::vector<float*>* values) {
    if (places_.empty()) return absl::OkStatus();
    const absl::MutexLock lock(&mutex_);
    void*& memory = memory_[DeviceStream::Current()];
    if (memory == nullptr) {
      INGOT_ASSIGN_OR_RETURN(
          memory, engine_->on().api->Allocate(
                      engine_->on().device,
                      static_cast<size_t>(total_) * sizeof(float), 256));
    }
    for (const int64_t place : places_) {
      values->push_back(static_cast<float*>(memory) + place);
    }
    return absl::OkStatus();
  }

 private:
  const std::shared_ptr<Engine> engine_;
  std::vector<int64_t> places_;
  int64_t total_ = 0;
  absl::Mutex mutex_;
  std::map<const DeviceStream*, void*> memory_ ABSL_GUARDED_BY(mutex_);
};

// A region that is ready to run.
class PreparedRegion {
 public:
  static absl::StatusOr<std::shared_ptr<PreparedRegion>> Make(
      Region region, std::shared_ptr<Engine> engine) {
    INGOT_RETURN_IF_ERROR(engine->gpu().Use());
    auto prepared =
        std::make_shared<PreparedRegion>(std::move(region), std::move(engine));
    for (const cublas::Product& product : prepared->region_.products) {
      INGOT_ASSIGN_OR_RETURN(
          std::unique_ptr<cublas::Matmul> matmul,
          cublas::Matmul::Make(prepared->engine_->library(),
                               prepared->engine_->handle(), product));
      prepared->matmuls_.push_back(std::move(matmul));
    }
    return prepared;
  }

  PreparedRegion(Region region, std::shared_ptr<Engine> engine)
      : region_(std::move(region)),
        engine_(std::move(engine)),
        temporaries_(engine_, region_.temporaries) {}

  const Region& region() const { return region_; }

  absl::Status Run(absl::Span<void* const> tensors) {
    std::vector<float*> values;
    for (void* tensor : tensors) values.push_back(static_cast<float*>(tensor));
    INGOT_RETURN_IF_ERROR(temporaries_.AddTo(&values));
    return engine_->gpu().Queue(
        absl::StrCat("product ", region_.name),
        [&](gpu::Stream stream) -> absl::Status {
          for (size_t i = 0; i < matmuls_.size(); ++i) {
            const cublas::Product& p = region_.products[i];
            const auto at = [&](int64_t value) {
              return value < 0 ? nullptr : values[value];
            };
            INGOT_RETURN_IF_ERROR(
                matmuls_[i]->Run({at(p.left.value), at(p.right.value),
                                  at(p.bias), at(p.added), at(p.result.value)},
                                 stream));
          }
          return absl::OkStatus();
        });
  }

 private:
  const Region region_;
  const std::shared_ptr<Engine> engine_;
  Temporaries temporaries_;
  std::vector<std::unique_ptr<cublas::Matmul>> matmuls_;
};

absl::StatusOr<LoadedFunction> LoadRegion(
    const Artifact& artifact, const std::shared_ptr<Engine>& engine) {
  INGOT_ASSIGN_OR_RETURN(Region region,
                         cublas::ReadRegion(artifact.content.view()));
  INGOT_ASSIGN_OR_RETURN(const std::shared_ptr<PreparedRegion> prepared,
                         PreparedRegion::Make(std::move(region), engine));
  return CheckedFunction(
      prepared->region().name, prepared->region().spec,
      [prepared](absl::Span<void* const> tensors) {
        return prepared->Run(tensors);
      },
      engine->on().device);
}

absl::StatusOr<std::shared_ptr<Module>> LoadRegions(
    absl::Span<const Artifact> group, LoadContext& context) {
  if (group.empty()) return std::shared_ptr<Module>();
  INGOT_ASSIGN_OR_RETURN(const std::shared_ptr<Engine> engine,
                         Engine::Open(context.DeviceOf(group[0].target_key)));
  return LoadFunctions(cublas::kName, group, context,
                       [&](const Artifact& artifact, LoadContext&) {
                         return LoadRegion(artifact, engine);
                       });
}

}  // namespace

absl::Status RegisterCublasLoader(LoaderRegistry* registry) {
  return registry->Register(cublas::kName, LoadRegions);
}

}  // namespace ingot
