#include "backends/cublas/loader.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/cublas/library.h"
#include "backends/cublas/matmul.h"
#include "backends/cublas/name.h"
#include "backends/cublas/region.h"
#include "backends/library_calls/run_region.h"
#include "base/status_macros.h"
#include "loaders/function_loader.h"

namespace ingot {
namespace {

using cublas::Region;

// The library on one device. Its handle may be used from several threads.
class Engine {
 public:
  static absl::StatusOr<std::shared_ptr<Engine>> Open(OpenDevice on) {
    INGOT_ASSIGN_OR_RETURN(
        library_calls::CudaDevice device,
        library_calls::CudaDevice::Open(std::move(on), "cuBLAS"));
    INGOT_ASSIGN_OR_RETURN(const cublas::Library* library,
                           cublas::Library::Open());
    INGOT_ASSIGN_OR_RETURN(const gpu::InUse in_use, device.gpu->Use());
    std::shared_ptr<Engine> engine(new Engine(*library, std::move(device)));
    INGOT_RETURN_IF_ERROR(
        cublas::ToStatus("starting cuBLAS", library->Create(&engine->handle_)));
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

  absl::StatusOr<std::unique_ptr<cublas::Matmul>> Prepare(
      const cublas::Product& product) const {
    INGOT_ASSIGN_OR_RETURN(const gpu::InUse in_use, device_.gpu->Use());
    return cublas::Matmul::Make(library_, handle_, product);
  }

 private:
  Engine(const cublas::Library& library, library_calls::CudaDevice device)
      : library_(library), device_(std::move(device)) {}

  const cublas::Library& library_;
  const library_calls::CudaDevice device_;
  cublas::Handle handle_ = nullptr;
};

// A region's products, which need the engine.
struct PreparedRegion {
  std::shared_ptr<Engine> engine;
  std::vector<cublas::Product> products;
  std::vector<std::unique_ptr<cublas::Matmul>> matmuls;

  absl::Status Queue(absl::Span<float* const> values,
                     gpu::Stream stream) const {
    const auto at = [&](int64_t value) {
      return value < 0 ? nullptr : values[value];
    };
    for (size_t i = 0; i < matmuls.size(); ++i) {
      const cublas::Product& p = products[i];
      INGOT_RETURN_IF_ERROR(
          matmuls[i]->Run({at(p.left.value), at(p.right.value), at(p.bias),
                           at(p.added), at(p.result.value)},
                          stream));
    }
    return absl::OkStatus();
  }
};

absl::StatusOr<LoadedFunction> LoadRegion(
    const Artifact& artifact, const std::shared_ptr<Engine>& engine) {
  INGOT_ASSIGN_OR_RETURN(const Region region,
                         cublas::ReadRegion(artifact.content.view()));
  auto prepared = std::make_shared<PreparedRegion>();
  prepared->engine = engine;
  prepared->products = region.products;
  for (const cublas::Product& product : region.products) {
    INGOT_ASSIGN_OR_RETURN(prepared->matmuls.emplace_back(),
                           engine->Prepare(product));
  }
  return library_calls::RegionFunction(
      region, /*workspace_bytes=*/0, engine->device(),
      [prepared](absl::Span<float* const> values, gpu::Stream stream) {
        return prepared->Queue(values, stream);
      });
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
