#include "backends/example_npu/device.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/example_npu/execute.h"
#include "backends/example_npu/queue.h"
#include "base/annotate.h"
#include "base/status_macros.h"

namespace ingot::example_npu {

// An executor's queue, and the memory that command streams have in it for what
// lies between commands: only one runs at a time.
class NpuStream final : public DeviceStream {
 public:
  explicit NpuStream(NpuDevice* device) : device_(*device) {}
  ~NpuStream() override {
    queue_.Synchronize().IgnoreError();
    device_.memory_.Free(temporary_);
  }

  const NpuDevice* device() const { return &device_; }

  absl::Status CopyFromCpu(void* to, const void* from, size_t bytes) override {
    queue_.Add([=] { return device_.Write(to, from, bytes); });
    return absl::OkStatus();
  }
  absl::Status CopyToCpu(void* to, const void* from, size_t bytes) override {
    queue_.Add([=] { return device_.Read(to, from, bytes); });
    return absl::OkStatus();
  }
  absl::StatusOr<std::shared_ptr<DeviceEvent>> Record() override {
    return queue_.Last();
  }
  absl::Status WaitFor(std::shared_ptr<DeviceEvent> event) override {
    queue_.Add([event = std::move(event)] { return event->Wait(); });
    return absl::OkStatus();
  }
  absl::Status Synchronize() override { return queue_.Synchronize(); }

  void Launch(std::shared_ptr<const LoadedStream> loaded,
              std::vector<Buffer> arguments) {
    queue_.Add([this, loaded = std::move(loaded),
                arguments = std::move(arguments)]() -> absl::Status {
      absl::Status room = Reserve(loaded->stream.temporary_bytes);
      if (!room.ok()) return Annotate(room, loaded->name);
      return device_.Run(*loaded, arguments, temporary_);
    });
  }

 private:
  absl::Status Reserve(uint64_t bytes) {
    if (bytes <= temporary_bytes_) return absl::OkStatus();
    device_.memory_.Free(std::exchange(temporary_, nullptr));
    temporary_bytes_ = 0;
    INGOT_ASSIGN_OR_RETURN(temporary_,
                           device_.memory_.Allocate(bytes, kTensorAlignment));
    temporary_bytes_ = bytes;
    return absl::OkStatus();
  }

  NpuDevice& device_;
  void* temporary_ = nullptr;  // the queue's thread alone uses both
  uint64_t temporary_bytes_ = 0;
  Queue queue_;
};

NpuDevice::NpuDevice(size_t memory_bytes)
    : memory_(kName, memory_bytes), own_(std::make_unique<NpuStream>(this)) {}

NpuDevice::~NpuDevice() = default;

OpenDevice NpuDevice::Open(size_t memory_bytes) {
  return {Device{kDLExtDev, 0},
          std::shared_ptr<NpuDevice>(new NpuDevice(memory_bytes))};
}

absl::StatusOr<void*> NpuDevice::Allocate(Device, size_t bytes,
                                          size_t alignment) {
  return memory_.Allocate(bytes, alignment);
}

void NpuDevice::Free(Device, void* memory) { memory_.Free(memory); }

absl::Status NpuDevice::CopyFromCpu(Device, void* to, const void* from,
                                    size_t bytes) {
  INGOT_RETURN_IF_ERROR(own_->CopyFromCpu(to, from, bytes));
  return own_->Synchronize();
}

absl::Status NpuDevice::CopyToCpu(Device, void* to, const void* from,
                                  size_t bytes) {
  INGOT_RETURN_IF_ERROR(own_->CopyToCpu(to, from, bytes));
  return own_->Synchronize();
}

absl::StatusOr<std::unique_ptr<DeviceStream>> NpuDevice::OpenStream(Device) {
  return std::make_unique<NpuStream>(this);
}

void NpuDevice::InjectFault(Fault fault) {
  const std::lock_guard<std::mutex> lock(mutex_);
  fault_ = std::move(fault);
}

absl::Status NpuDevice::Fail(absl::string_view work) const {
  Fault fault;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    fault = fault_;
  }
  return fault == nullptr ? absl::OkStatus() : fault(work);
}

absl::StatusOr<char*> NpuDevice::At(const void* address, size_t bytes) const {
  if (reinterpret_cast<uintptr_t>(address) % kTensorAlignment != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the address ", reinterpret_cast<uintptr_t>(address), " of ",
        memory_.name(), " is no multiple of ", kTensorAlignment));
  }
  return memory_.Translate(address, bytes);
}

absl::Status NpuDevice::Write(void* to, const void* from, size_t bytes) {
  INGOT_RETURN_IF_ERROR(Fail("copy to the device"));
  INGOT_ASSIGN_OR_RETURN(char* const here, At(to, bytes));
  if (bytes > 0) std::memcpy(here, from, bytes);  // takes no null
  ++from_cpu_;
  return absl::OkStatus();
}

absl::Status NpuDevice::Read(void* to, const void* from, size_t bytes) {
  INGOT_RETURN_IF_ERROR(Fail("copy to the CPU"));
  INGOT_ASSIGN_OR_RETURN(const char* const here, At(from, bytes));
  if (bytes > 0) std::memcpy(to, here, bytes);
  ++to_cpu_;
  return absl::OkStatus();
}

absl::Status NpuDevice::Launch(std::shared_ptr<const LoadedStream> loaded,
                               absl::Span<const Buffer> arguments) {
  const std::vector<uint64_t>& sizes = loaded->stream.arguments;
  bool fits = sizes.size() == arguments.size();
  for (size_t i = 0; fits && i < sizes.size(); ++i) {
    fits = sizes[i] == arguments[i].bytes;
  }
  if (!fits) {
    return absl::InvalidArgumentError(absl::StrCat(
        loaded->name, ": it is for other arguments than its launcher's"));
  }
  auto* stream = dynamic_cast<NpuStream*>(DeviceStream::Current());
  if (stream == nullptr || stream->device() != this) stream = own_.get();
  stream->Launch(std::move(loaded), {arguments.begin(), arguments.end()});
  return absl::OkStatus();
}

absl::Status NpuDevice::Run(const LoadedStream& loaded,
                            const std::vector<Buffer>& arguments,
                            void* temporary) const {
  const Stream& stream = loaded.stream;
  const auto find = [&](const Operand& o) -> absl::StatusOr<Elements> {
    if (o.bytes == 0) return Elements();
    if (o.place == Place::kConstant) {
      // The simulator reads streams where they were loaded.
      return Elements{const_cast<char*>(stream.constants.data()) + o.offset,
                      o.bytes};
    }
    void* const base = o.place == Place::kTemporary
                           ? temporary
                           : arguments[o.argument].address;
    INGOT_ASSIGN_OR_RETURN(char* const here,
                           At(static_cast<char*>(base) + o.offset, o.bytes));
    return Elements{here, o.bytes};
  };
  for (size_t i = 0; i < stream.commands.size(); ++i) {
    const std::string work = absl::StrCat(loaded.name, ": command ", i);
    absl::Status status = Fail(work);
    std::array<Elements, kNumOperands> operands;
    for (int k = 0; status.ok() && k < kNumOperands; ++k) {
      absl::StatusOr<Elements> found = find(stream.commands[i].operands[k]);
      if (found.ok()) operands[k] = *found;
      status = found.status();
    }
    if (!status.ok()) return Annotate(status, work);
    Execute(stream.commands[i], operands);
  }
  return absl::OkStatus();
}

}  // namespace ingot::example_npu
