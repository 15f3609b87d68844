#include "backends/opencl/loader.h"

#include <memory>

#include "backends/device/code.h"
#include "backends/opencl/device.h"
#include "backends/opencl/name.h"
#include "backends/opencl/program.h"
#include "base/status_macros.h"

namespace ingot {

absl::Status RegisterOpenclLoader(LoaderRegistry* registry) {
  INGOT_RETURN_IF_ERROR(registry->RegisterDevice(
      opencl::kName, [] { return opencl::ClDevice::Open(); }));
  const auto load = [](absl::Span<const Artifact> group, LoadContext& context) {
    return device::LoadCode(opencl::kName, opencl::kSourceFile,
                            opencl::Program::Open, group, context);
  };
  return registry->Register(opencl::kName, load, LoaderInput::kCode);
}

}  // namespace ingot
