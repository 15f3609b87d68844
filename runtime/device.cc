#include "runtime/device.h"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace ingot {
namespace {

std::string TypeName(DLDeviceType type) {
  switch (static_cast<int>(type)) {
    case kDLCPU:
      return "cpu";
    case kDLCUDA:
      return "cuda";
    case kDLCUDAHost:
      return "cuda_host";
    case kDLOpenCL:
      return "opencl";
    case kDLVulkan:
      return "vulkan";
    case kDLMetal:
      return "metal";
    case kDLROCM:
      return "rocm";
    case kDLWebGPU:
      return "webgpu";
    case kDLHexagon:
      return "hexagon";
    default:
      return absl::StrCat("device", static_cast<int>(type));
  }
}

class CpuApi : public DeviceApi {
 public:
  absl::StatusOr<void*> Allocate(Device device, size_t bytes,
                                 size_t alignment) override {
    if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("alignment ", alignment, " is not a power of two"));
    }
    // More than any address space holds; some allocators abort instead of
    // failing.
    constexpr size_t kMost = size_t{1} << (sizeof(size_t) * 8 - 17);
    void* memory = nullptr;
    if (alignment < sizeof(void*)) alignment = sizeof(void*);
    if (bytes > kMost ||
        posix_memalign(&memory, alignment, bytes == 0 ? 1 : bytes) != 0) {
      return absl::ResourceExhaustedError(
          absl::StrCat("no memory for ", bytes, " bytes"));
    }
    return memory;
  }

  void Free(Device device, void* memory) override { std::free(memory); }

  absl::Status CopyFromCpu(Device device, void* to, const void* from,
                           size_t bytes) override {
    if (bytes > 0) std::memmove(to, from, bytes);
    return absl::OkStatus();
  }
  absl::Status CopyToCpu(Device device, void* to, const void* from,
                         size_t bytes) override {
    return CopyFromCpu(device, to, from, bytes);
  }
};

}  // namespace

std::string Device::ToString() const {
  if (type == kDLCPU && id == 0) return "cpu";
  return absl::StrCat(TypeName(type), ":", id);
}

std::shared_ptr<DeviceApi> CpuDeviceApi() {
  // Never destroyed: tensors may be freed while the program ends.
  static const auto* api =
      new std::shared_ptr<DeviceApi>(std::make_shared<CpuApi>());
  return *api;
}

}  // namespace ingot
