#include "backends/gpu/device.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace ingot::gpu {
namespace {

// Options of loading code, with both drivers' numbers.
constexpr int kErrorLog = 5;
constexpr int kErrorLogBytes = 6;

// CUDA's linker is given text.
constexpr int kPtx = 1;

// The attribute of a kernel that limits what launches give it to share, by
// CUDA's number.
constexpr int kSharedByLaunch = 8;

// Options that make a driver say what is wrong with code. It keeps pointers to
// them as long as it works on the code.
class ErrorLog {
 public:
  ErrorLog() = default;
  ErrorLog(const ErrorLog&) = delete;
  ErrorLog& operator=(const ErrorLog&) = delete;

  unsigned count() const { return 2; }
  int* options() { return options_; }
  void** values() { return values_; }

  // OK, that memory ran out, or that the code is wrong, with the driver's
  // words.
  absl::Status Explain(const absl::Status& status) const {
    if (status.ok() || absl::IsResourceExhausted(status)) return status;
    return absl::InvalidArgumentError(
        absl::StrCat(status.message(), text_[0] == '\0' ? "" : ": ", text_));
  }

 private:
  char text_[2048] = {};
  int options_[2] = {kErrorLog, kErrorLogBytes};
  void* values_[2] = {text_, reinterpret_cast<void*>(sizeof(text_) - 1)};
};

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
  INGOT_ASSIGN_OR_RETURN(own_, GpuStream::Open(*this));
  return absl::OkStatus();
}

GpuDevice::~GpuDevice() {
  if (context_ == nullptr) return;
  own_ = nullptr;
  driver_.ReleaseContext(device_);
}

absl::StatusOr<InUse> GpuDevice::Use() const {
  const std::string what = absl::StrCat("using ", name_);
  Context before = nullptr;
  INGOT_RETURN_IF_ERROR(driver_.ToStatus(what, driver_.GetContext(&before)));
  if (before == context_) return InUse();
  INGOT_RETURN_IF_ERROR(driver_.ToStatus(what, driver_.SetContext(context_)));
  return InUse(driver_, before);
}

absl::StatusOr<void*> GpuDevice::Allocate(Device, size_t bytes,
                                          size_t alignment) {
  INGOT_ASSIGN_OR_RETURN(const InUse in_use, Use());
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
  // Work that uses it may still be waiting.
  own_->Synchronize().IgnoreError();
  if (const auto in_use = Use(); in_use.ok()) driver_.Free(memory);
}

absl::Status GpuDevice::CopyFromCpu(Device, void* to, const void* from,
                                    size_t bytes) {
  INGOT_RETURN_IF_ERROR(own_->CopyFromCpu(to, from, bytes));
  return own_->Synchronize();
}

absl::Status GpuDevice::CopyToCpu(Device, void* to, const void* from,
                                  size_t bytes) {
  INGOT_RETURN_IF_ERROR(own_->CopyToCpu(to, from, bytes));
  return own_->Synchronize();
}

absl::StatusOr<std::unique_ptr<DeviceStream>> GpuDevice::OpenStream(Device) {
  return GpuStream::Open(*this);
}

std::string GpuDevice::BuiltFor() const {
  int version = 0;
  if (driver_.GetVersion == nullptr || driver_.GetVersion(&version) != 0) {
    return "";
  }
  return absl::StrCat("device ", name_, "\ndriver ", version, "\n");
}

absl::StatusOr<std::string> GpuDevice::Compile(const std::string& ptx) {
  const std::string doing =
      absl::StrCat(name_, "'s driver does not compile it");
  ErrorLog log;
  LinkHandle link = nullptr;
  INGOT_RETURN_IF_ERROR(driver_.ToStatus(
      doing,
      driver_.BeginLink(log.count(), log.options(), log.values(), &link)));
  int code = driver_.AddToLink(link, kPtx, const_cast<char*>(ptx.c_str()),
                               ptx.size() + 1, nullptr, 0, nullptr, nullptr);
  void* binary = nullptr;
  size_t bytes = 0;
  if (code == 0) code = driver_.FinishLink(link, &binary, &bytes);
  // The binary is the linker's.
  std::string built;
  if (code == 0) built.assign(static_cast<const char*>(binary), bytes);
  driver_.EndLink(link);
  INGOT_RETURN_IF_ERROR(log.Explain(driver_.ToStatus(doing, code)));
  return built;
}

absl::StatusOr<void*> GpuDevice::LoadCode(absl::string_view image,
                                          std::string* built) {
  INGOT_ASSIGN_OR_RETURN(const InUse in_use, Use());
  // Text must end in a zero.
  std::string bytes(image);
  if (built != nullptr && driver_.BeginLink != nullptr) {
    INGOT_ASSIGN_OR_RETURN(bytes, Compile(bytes));
    *built = bytes;
  }
  ErrorLog log;
  CodeHandle code = nullptr;
  INGOT_RETURN_IF_ERROR(log.Explain(
      driver_.ToStatus(absl::StrCat(name_, " does not load it"),
                       driver_.LoadCode(&code, bytes.c_str(), log.count(),
                                        log.options(), log.values()))));
  return code;
}

void GpuDevice::UnloadCode(void* code) {
  own_->Synchronize().IgnoreError();
  if (const auto in_use = Use(); in_use.ok()) driver_.UnloadCode(code);
}

bool GpuDevice::HasParameters(Kernel kernel, size_t count) const {
  if (driver_.GetParameter == nullptr) return true;
  const auto has = [&](size_t number) {
    size_t offset, bytes;
    return driver_.GetParameter(kernel, number, &offset, &bytes) == 0;
  };
  return (count == 0 || has(count - 1)) && !has(count);
}

absl::StatusOr<void*> GpuDevice::FindKernel(void* code,
                                            const device::Launch& launch,
                                            size_t arguments) {
  INGOT_ASSIGN_OR_RETURN(const InUse in_use, Use());
  Kernel kernel = nullptr;
  absl::Status status = driver_.ToStatus(
      absl::StrCat("there is no kernel '", launch.kernel, "'"),
      driver_.FindKernel(&kernel, code, launch.kernel.c_str()));
  const size_t parameters = arguments + launch.maps.size();
  if (status.ok() && !HasParameters(kernel, parameters)) {
    status = absl::InvalidArgumentError(absl::StrCat("kernel '", launch.kernel,
                                                     "' does not take ",
                                                     parameters, " arguments"));
  }
  if (status.ok() && launch.shared_bytes > 0) {
    const std::string doing = absl::StrCat(
        "groups of ", launch.kernel, " share ", launch.shared_bytes, " bytes");
    status = driver_.SetKernel == nullptr
                 ? absl::UnimplementedError(
                       absl::StrCat(doing, ", which is for CUDA's devices"))
                 : driver_.ToStatus(doing,
                                    driver_.SetKernel(
                                        kernel, kSharedByLaunch,
                                        static_cast<int>(launch.shared_bytes)));
  }
  if (status.ok() && !launch.maps.empty() &&
      driver_.DescribeTensor == nullptr) {
    status = absl::UnimplementedError(
        absl::StrCat(launch.kernel,
                     " copies boxes of tensors, which is for "
                     "CUDA's drivers from version 12 on"));
  }
  if (status.ok()) return kernel;
  return absl::InvalidArgumentError(status.message());
}

absl::Status GpuDevice::Run(void* kernel, const device::Launch& launch,
                            absl::Span<void* const> arguments) {
  if (launch.group == 0) {
    return absl::InvalidArgumentError("its table says no size of groups");
  }
  const int64_t groups = launch.work_items / launch.group;
  if (groups > std::numeric_limits<int32_t>::max()) {
    return absl::InvalidArgumentError(
        absl::StrCat(groups, " groups are more than a GPU takes"));
  }
  return CurrentStream().Run(kernel, launch, arguments);
}

GpuStream& GpuDevice::CurrentStream() const {
  auto* stream = dynamic_cast<GpuStream*>(DeviceStream::Current());
  return stream == nullptr || &stream->device() != this ? *own_ : *stream;
}

}  // namespace ingot::gpu
