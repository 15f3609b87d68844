#include "backends/example_npu/loader.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/strip.h"
#include "backends/example_npu/device.h"
#include "backends/example_npu/read_stream.h"
#include "backends/example_npu/stream.h"
#include "base/status_macros.h"
#include "loaders/function_loader.h"
#include "runtime/error.h"

namespace ingot {
namespace example_npu {
namespace {

// What a launcher gets as `self`; being C, it knows of the first member alone.
struct Connection {
  int (*launch)(const void* self, const Buffer* arguments, int count);
  std::shared_ptr<NpuDevice> device;
  std::shared_ptr<const LoadedStream> loaded;
  Function launcher;
};

int Launch(const void* self, const Buffer* arguments, int count) {
  const auto* connection = static_cast<const Connection*>(self);
  const absl::Status queued = connection->device->Launch(
      connection->loaded, {arguments, static_cast<size_t>(count)});
  if (queued.ok()) return 0;
  SetLastError(queued);
  return -1;
}

absl::StatusOr<LoadedFunction> Load(const Artifact& artifact,
                                    LoadContext& context) {
  LoadedStream loaded{ArtifactPath(artifact), {}};
  INGOT_ASSIGN_OR_RETURN(loaded.stream, ReadStream(artifact.content.view()));
  const OpenDevice on = context.DeviceOf(artifact.target_key);
  auto device = std::dynamic_pointer_cast<NpuDevice>(on.api);
  if (device == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("it is to run on ", on.device.ToString()));
  }
  const std::string name(absl::StripSuffix(artifact.file_name, ".npu"));
  std::optional<Function> launcher;
  if (context.library != nullptr) {
    launcher = context.library->GetFunction(name + "_launch");
  }
  if (!launcher) return Malformed("the set's library has no launcher for it");
  auto connection = std::make_shared<Connection>(Connection{
      Launch, std::move(device),
      std::make_shared<const LoadedStream>(std::move(loaded)), *launcher});
  return LoadedFunction{
      name, Function(launcher->call(), connection.get(), connection)};
}

}  // namespace
}  // namespace example_npu

absl::Status RegisterExampleNpuLoader(LoaderRegistry* registry) {
  INGOT_RETURN_IF_ERROR(registry->RegisterDevice(
      example_npu::kName, []() -> absl::StatusOr<OpenDevice> {
        return example_npu::NpuDevice::Open();
      }));
  return RegisterFunctionLoader(example_npu::kName, example_npu::Load,
                                registry);
}

}  // namespace ingot
