#include "backends/gpu/program.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace ingot::gpu {

absl::StatusOr<std::shared_ptr<device::Code>> Program::Open(
    const Family& family, const OpenDevice& on, absl::string_view image) {
  auto device = std::dynamic_pointer_cast<GpuDevice>(on.api);
  if (device == nullptr || &device->family() != &family) {
    return absl::FailedPreconditionError(absl::StrCat(
        "kernels of ", family.name, " are to run on ", on.device.ToString()));
  }
  INGOT_ASSIGN_OR_RETURN(CodeHandle code, device->LoadCode(image));
  return std::shared_ptr<device::Code>(new Program(std::move(device), code));
}

Program::~Program() { device_->UnloadCode(code_); }

absl::StatusOr<void*> Program::FindKernel(const std::string& name) {
  return device_->FindKernel(code_, name);
}

absl::Status Program::Run(void* kernel, const device::Launch& launch,
                          absl::Span<void* const> arguments) {
  if (launch.group == 0) {
    return absl::InvalidArgumentError("its table says no size of groups");
  }
  const int64_t groups = launch.work_items / launch.group;
  if (groups > std::numeric_limits<int32_t>::max()) {
    return absl::InvalidArgumentError(
        absl::StrCat(groups, " groups are more than a GPU takes"));
  }
  return device_->Launch(kernel, launch.kernel, arguments,
                         static_cast<unsigned>(groups),
                         static_cast<unsigned>(launch.group));
}

absl::Status RegisterGpuLoader(absl::string_view kind, const Family& family,
                               absl::string_view code_file,
                               LoaderRegistry* registry) {
  INGOT_RETURN_IF_ERROR(registry->RegisterDevice(
      kind, [&family] { return GpuDevice::Open(family); }));
  const auto open = [&family](const OpenDevice& on, absl::string_view image) {
    return Program::Open(family, on, image);
  };
  const auto load = [name = std::string(kind), file = std::string(code_file),
                     open](absl::Span<const Artifact> group,
                           LoadContext& context) {
    return device::LoadCode(name, file, open, group, context);
  };
  return registry->Register(kind, load, LoaderInput::kCode);
}

}  // namespace ingot::gpu
