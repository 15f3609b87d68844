// The device, simulated: memory of its own, and queues that work by themselves.
#ifndef INGOT_BACKENDS_EXAMPLE_NPU_DEVICE_H_
#define INGOT_BACKENDS_EXAMPLE_NPU_DEVICE_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/example_npu/stream.h"
#include "runtime/address_space.h"
#include "runtime/device.h"
#include "runtime/device_stream.h"

namespace ingot::example_npu {

// A command stream that was loaded. `name` is its artifact's, for errors.
struct LoadedStream {
  std::string name;
  Stream stream;
};

class NpuStream;

// Each object is a device. Thread-safe.
class NpuDevice final : public StreamingDeviceApi {
 public:
  static constexpr size_t kMemoryBytes = size_t{256} << 20;

  // A device that nothing else uses, with memory for so many bytes.
  static OpenDevice Open(size_t memory_bytes = kMemoryBytes);
  ~NpuDevice() override;

  absl::StatusOr<void*> Allocate(Device device, size_t bytes,
                                 size_t alignment) override;
  void Free(Device device, void* memory) override;
  absl::Status CopyFromCpu(Device device, void* to, const void* from,
                           size_t bytes) override;
  absl::Status CopyToCpu(Device device, void* to, const void* from,
                         size_t bytes) override;
  absl::StatusOr<std::unique_ptr<DeviceStream>> OpenStream(
      Device device) override;

  // Queues the commands of a stream, on the executor's queue or else on the
  // device's own. InvalidArgument unless the arguments are as large as the
  // stream says; other errors are the queue's.
  absl::Status Launch(std::shared_ptr<const LoadedStream> loaded,
                      absl::Span<const Buffer> arguments);

  // For tests of what happens when the hardware fails: called by queues before
  // each copy ("copy to the device", "copy to the CPU") and command
  // ("<artifact>: command 0"), which fail as it says. Null: nothing fails.
  using Fault = std::function<absl::Status(absl::string_view work)>;
  void InjectFault(Fault fault);

  const AddressSpace& memory() const { return memory_; }
  int copies_from_cpu() const { return from_cpu_; }
  int copies_to_cpu() const { return to_cpu_; }

 private:
  explicit NpuDevice(size_t memory_bytes);

  // The simulator's memory for `bytes` bytes at an address.
  absl::StatusOr<char*> At(const void* address, size_t bytes) const;
  absl::Status Fail(absl::string_view work) const;

  // The work of queues.
  absl::Status Write(void* to, const void* from, size_t bytes);
  absl::Status Read(void* to, const void* from, size_t bytes);
  absl::Status Run(const LoadedStream& loaded,
                   const std::vector<Buffer>& arguments, void* temporary) const;

  friend class NpuStream;

  AddressSpace memory_;
  mutable std::mutex mutex_;  // of the fault
  Fault fault_;
  std::atomic<int> from_cpu_{0}, to_cpu_{0};
  std::unique_ptr<NpuStream> own_;  // of those who are no executor
};

}  // namespace ingot::example_npu

#endif  // INGOT_BACKENDS_EXAMPLE_NPU_DEVICE_H_
