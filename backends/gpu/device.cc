#include "backends/gpu/device.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace ingot::gpu {
namespace {

// A stream that does not wait for the one that other code of the process uses
// by default; both drivers give the flag this number.
constexpr unsigned kNonBlocking = 1;

// Options of loading code, with both drivers' numbers.
constexpr int kErrorLog = 5;
constexpr int kErrorLogBytes = 6;

// An address for no bytes still is one.
size_t AtLeastOne(size_t bytes) { return std::max<size_t>(bytes, 1); }

}  // namespace

absl::StatusOr<OpenDevice> GpuDevice::Open(const Family& family, int number) {
  INGOT_ASSIGN_OR_RETURN(const Driver* driver, Driver::Open(family));
  int count = 0, handle = 0;
  INGOT_RETURN_IF_ERROR(
      driver->ToStatus("counting devices", driver->CountDevices(&count)));
  if (number < 0 || number >= count) {
    return absl::NotFoundError(absl::StrCat("there is no device ", number,
                                            " of ", family.name,
                                            ": its driver knows ", count));
  }
  INGOT_RETURN_IF_ERROR(
      driver->ToStatus("finding a device", driver->GetDevice(&handle, number)));
  std::shared_ptr<GpuDevice> device(new GpuDevice(*driver, handle));
  INGOT_RETURN_IF_ERROR(device->Init());
  return OpenDevice{Device{family.device_type, number}, std::move(device)};
}

absl::Status GpuDevice::Init() {
  char name[256] = {};
  INGOT_RETURN_IF_ERROR(driver_.ToStatus(
      "naming a device", driver_.GetName(name, sizeof(name) - 1, device_)));
  name_ = name;
  INGOT_RETURN_IF_ERROR(
      driver_.ToStatus(absl::StrCat("opening ", name_),
                       driver_.RetainContext(&context_, device_)));
  INGOT_RETURN_IF_ERROR(Use());
  return driver_.ToStatus("making a stream",
                          driver_.CreateStream(&stream_, kNonBlocking));
}

GpuDevice::~GpuDevice() {
  if (context_ == nullptr) return;
  if (stream_ != nullptr && Use().ok()) driver_.DestroyStream(stream_);
  driver_.ReleaseContext(device_);
}

absl::Status GpuDevice::Use() const {
  return driver_.ToStatus(absl::StrCat("using ", name_),
                          driver_.SetContext(context_));
}

absl::Status GpuDevice::Wait() {
  const int code = driver_.Wait(stream_);
  if (code == 0) return absl::OkStatus();
  const absl::MutexLock lock(&mutex_);
  return driver_.ToStatus(
      last_kernel_.empty()
          ? absl::StrCat("work on ", name_)
          : absl::StrCat("work on ", name_, " up to kernel ", last_kernel_),
      code);
}

absl::StatusOr<void*> GpuDevice::Allocate(Device, size_t bytes,
                                          size_t alignment) {
  INGOT_RETURN_IF_ERROR(Use());
  void* memory = nullptr;
  INGOT_RETURN_IF_ERROR(driver_.ToStatus(
      absl::StrCat(name_, " has no memory for ", bytes, " bytes"),
      driver_.Allocate(&memory, AtLeastOne(bytes))));
  if (reinterpret_cast<uintptr_t>(memory) % alignment == 0) return memory;
  driver_.Free(memory);
  return absl::InvalidArgumentError(absl::StrCat(
      name_, " gives no memory at multiples of ", alignment, " bytes"));
}

void GpuDevice::Free(Device, void* memory) {
  if (!Use().ok()) return;
  // Work that uses it may still be waiting.
  driver_.Wait(stream_);
  driver_.Free(memory);
}

absl::Status GpuDevice::CopyFromCpu(Device, void* to, const void* from,
                                    size_t bytes) {
  INGOT_RETURN_IF_ERROR(Use());
  if (bytes > 0) {
    INGOT_RETURN_IF_ERROR(
        driver_.ToStatus("copying to the device",
                         driver_.CopyToDevice(to, from, bytes, stream_)));
  }
  return Wait();
}

absl::Status GpuDevice::CopyToCpu(Device, void* to, const void* from,
                                  size_t bytes) {
  INGOT_RETURN_IF_ERROR(Use());
  if (bytes > 0) {
    INGOT_RETURN_IF_ERROR(
        driver_.ToStatus("copying from the device",
                         driver_.CopyToHost(to, from, bytes, stream_)));
  }
  return Wait();
}

absl::StatusOr<CodeHandle> GpuDevice::LoadCode(absl::string_view image) {
  INGOT_RETURN_IF_ERROR(Use());
  // Text must end in a zero.
  const std::string bytes(image);
  char log[2048] = {};
  int options[] = {kErrorLog, kErrorLogBytes};
  void* values[] = {log, reinterpret_cast<void*>(sizeof(log) - 1)};
  CodeHandle code = nullptr;
  const absl::Status loaded = driver_.ToStatus(
      absl::StrCat(name_, " does not load it"),
      driver_.LoadCode(&code, bytes.c_str(), 2, options, values));
  if (loaded.ok()) return code;
  if (absl::IsResourceExhausted(loaded)) return loaded;
  return absl::InvalidArgumentError(absl::StrCat(
      loaded.message(), log[0] == '\0' ? "" : ": ", std::string(log)));
}

void GpuDevice::UnloadCode(CodeHandle code) {
  if (!Use().ok()) return;
  driver_.Wait(stream_);
  driver_.UnloadCode(code);
}

absl::StatusOr<Kernel> GpuDevice::FindKernel(CodeHandle code,
                                             const std::string& name) {
  INGOT_RETURN_IF_ERROR(Use());
  Kernel kernel = nullptr;
  const absl::Status found =
      driver_.ToStatus(absl::StrCat("there is no kernel '", name, "'"),
                       driver_.FindKernel(&kernel, code, name.c_str()));
  if (found.ok()) return kernel;
  return absl::InvalidArgumentError(found.message());
}

absl::Status GpuDevice::Launch(Kernel kernel, absl::string_view name,
                               absl::Span<void* const> arguments,
                               unsigned groups, unsigned group) {
  INGOT_RETURN_IF_ERROR(Use());
  // The driver reads each argument where its parameter points.
  std::vector<void*> addresses(arguments.begin(), arguments.end());
  std::vector<void*> parameters;
  for (void*& address : addresses) parameters.push_back(&address);
  {
    const absl::MutexLock lock(&mutex_);
    last_kernel_ = std::string(name);
  }
  return driver_.ToStatus("launching",
                          driver_.Launch(kernel, groups, 1, 1, group, 1, 1,
                                         /*shared_bytes=*/0, stream_,
                                         parameters.data(), /*extra=*/nullptr));
}

}  // namespace ingot::gpu
