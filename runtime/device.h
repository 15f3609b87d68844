#ifndef INGOT_RUNTIME_DEVICE_H_
#define INGOT_RUNTIME_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/c_abi.h"

namespace ingot {

// A device holds memory: DLPack's device type and a number among devices of the
// type.
struct Device {
  DLDeviceType type = kDLCPU;
  int32_t id = 0;

  static constexpr Device Cpu() { return Device(); }
  bool is_cpu() const { return type == kDLCPU; }
  DLDevice dl() const { return DLDevice{type, id}; }

  // "cpu", "cuda:1", "device12:0".
  std::string ToString() const;

  friend bool operator==(Device a, Device b) {
    return a.type == b.type && a.id == b.id;
  }
  friend bool operator!=(Device a, Device b) { return !(a == b); }
};

// Memory of one type of device. Addresses are the device's: only its api and
// the functions that run on it may use them, but sums of an address and a
// number within the allocated bytes are addresses, too. Implementations may be
// called from any thread.
class DeviceApi {
 public:
  virtual ~DeviceApi() = default;

  // Returns `bytes` bytes (0 is allowed and gives a valid pointer) aligned to
  // `alignment`, a power of two; contents are undefined. ResourceExhausted when
  // there is not as much. The caller frees it with Free of the same object.
  virtual absl::StatusOr<void*> Allocate(Device device, size_t bytes,
                                         size_t alignment) = 0;
  virtual void Free(Device device, void* memory) = 0;

  // Copies `bytes` bytes from the CPU's memory to the device's, or back. Work
  // on the device that was begun before comes first, and the bytes are there on
  // return. Errors are the device's, such as of work that failed meanwhile.
  virtual absl::Status CopyFromCpu(Device device, void* to, const void* from,
                                   size_t bytes) = 0;
  virtual absl::Status CopyToCpu(Device device, void* to, const void* from,
                                 size_t bytes) = 0;
};

// The CPU's. One shared object.
std::shared_ptr<DeviceApi> CpuDeviceApi();

// A device that is ready for work. A value; copies share the api.
struct OpenDevice {
  Device device;
  std::shared_ptr<DeviceApi> api;

  static OpenDevice Cpu() { return {Device::Cpu(), CpuDeviceApi()}; }
};

}  // namespace ingot

#endif  // INGOT_RUNTIME_DEVICE_H_
